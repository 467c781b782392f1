import { LOG_FILTER, LOG_KINDS, type LogFilter, type LogKind, type LogLine, lineOf, matches } from '../core/log-lines.ts'
import { originOf, unitsOf } from '../core/view.ts'
import { TIME } from '../core/words.ts'
import { element, make, type Part, Parts, setAttribute, setText } from '../dom.ts'
import type { Frame, Panel } from '../frame.ts'

/** Lines in the document at once. A long life has more entries than a browser likes elements. */
const LINES_SHOWN = 300
/** Of them, those that came after what is looked at. */
const LINES_LATER = 100
/** As near as this to the end, and the log goes on scrolling. */
const NEAR_END_PX = 24

/**
 * The event log: who said what to whom, newest last, with a filter. Choosing a line goes to its
 * time.
 */
export class LogPanel implements Panel {
  readonly #body = element('log-body')
  readonly #list = make('ol', 'lines')
  readonly #parts = new Parts(
    this.#list,
    ({ position }: LogLine) => String(position),
    (line) => this.#part(line),
  )
  #filter: LogFilter = LOG_FILTER
  #lines: LogLine[] = []
  /** Those that match the filter. */
  #matching: LogLine[] = []
  #opening: unknown
  /** The one line that Tab reaches: arrows go on from there. */
  #stop: HTMLElement | undefined
  /** Times are relative to the stop request, once there was one. */
  #origin = 0
  #units = TIME

  constructor(redraw: () => void, goTo: (position: number) => void) {
    this.#body.append(this.#list)
    this.#list.addEventListener('click', ({ target }) => {
      const position = target instanceof Element ? target.closest('[data-position]')?.getAttribute('data-position') : undefined
      if (position) goTo(Number(position))
    })
    this.#list.addEventListener('keydown', (event) => this.#key(event))
    this.#list.addEventListener('focusin', ({ target }) => {
      if (target instanceof HTMLElement) this.#stop = target
      this.#keepOneTabStop()
    })
    const change = (filter: Partial<LogFilter>): void => {
      this.#filter = { ...this.#filter, ...filter }
      this.#matching = this.#lines.filter((line) => matches(line, this.#filter))
      redraw()
    }
    const text = element<HTMLInputElement>('log-text')
    text.addEventListener('input', () => change({ text: text.value }))
    element('log-kinds').append(...(Object.keys(LOG_KINDS) as LogKind[]).map((kind) => this.#kindChoice(kind, change)))
  }

  draw({ journal, position, lookingBack }: Frame): void {
    this.#read(journal.entries, journal.last.actors)
    this.#origin = originOf(journal.last)
    this.#units = unitsOf(journal.last)
    const { scrollHeight, scrollTop, clientHeight } = this.#body
    const wasAtEnd = scrollHeight - scrollTop - clientHeight < NEAR_END_PX
    const until = countUntil(this.#matching, position)
    // What came later stays there, to be compared with.
    const from = Math.max(0, Math.min(until + LINES_LATER, this.#matching.length) - LINES_SHOWN)
    const shown = this.#matching.slice(from, from + LINES_SHOWN)
    this.#parts.show(shown)
    const all = this.#matching.length
    setText(element('log-count'), all > shown.length ? `${from + 1} to ${from + shown.length} of ${all}` : `${all} of ${journal.length}`)
    const current = lookingBack ? shown.findLast((line) => line.position <= position) : undefined
    for (const [index, node] of [...this.#list.children].entries()) {
      const line = shown[index]
      setAttribute(node, 'aria-current', line !== undefined && line === current ? 'true' : undefined)
      node.classList.toggle('later', line !== undefined && line.position > position)
    }
    this.#keepOneTabStop()
    if (lookingBack) this.#list.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', behavior: 'instant' })
    else if (wasAtEnd) this.#body.scrollTop = this.#body.scrollHeight
  }

  /** Three hundred stops would be between this panel and the next. */
  #keepOneTabStop(): void {
    const buttons = [...this.#list.querySelectorAll('button')]
    const current = this.#list.querySelector<HTMLElement>('[aria-current] button')
    const stop = this.#stop && this.#list.contains(this.#stop) ? this.#stop : (current ?? buttons.at(-1))
    for (const button of buttons) setAttribute(button, 'tabindex', button === stop ? '0' : '-1')
  }

  #key(event: KeyboardEvent): void {
    const item = event.target instanceof Element ? event.target.closest('li') : null
    const next = {
      ArrowUp: item?.previousElementSibling,
      ArrowDown: item?.nextElementSibling,
      Home: this.#list.firstElementChild,
      End: this.#list.lastElementChild,
    }[event.key]
    if (next === undefined) return
    event.preventDefault()
    event.stopPropagation()
    next?.querySelector('button')?.focus()
  }

  /** Every entry becomes a line once; a journal that begins anew is read anew. */
  #read(entries: Frame['journal']['entries'], actors: Frame['view']['actors']): void {
    if (entries[0] !== this.#opening) {
      this.#opening = entries[0]
      this.#lines = []
      this.#matching = []
      this.#parts.show([])
    }
    for (const entry of entries.slice(this.#lines.length)) {
      const line = lineOf(entry, this.#lines.length, actors)
      this.#lines.push(line)
      if (matches(line, this.#filter)) this.#matching.push(line)
    }
  }

  #part({ position, kind, tone, who, to, text }: LogLine): Part<LogLine> {
    const time = make('span', 'time')
    const names = make('span', 'names', who, ...(to === '' ? [] : [make('span', 'arrow', ' → '), to]))
    const button = make('button', '', time, names, make('span', 'text', text))
    button.type = 'button'
    button.title = `${who}${to === '' ? '' : ` → ${to}`}: ${text}`
    const node = make('li', `${kind} ${tone}`, button)
    node.dataset['position'] = String(position)
    return { node, show: (line) => setText(time, this.#units.offset(line.at - this.#origin)) }
  }

  #kindChoice(kind: LogKind, change: (filter: Partial<LogFilter>) => void): HTMLElement {
    const input = make('input')
    Object.assign(input, { type: 'checkbox', value: kind, checked: this.#filter.kinds.has(kind) })
    input.addEventListener('change', () => {
      const kinds = new Set(this.#filter.kinds)
      if (input.checked) kinds.add(kind)
      else kinds.delete(kind)
      change({ kinds })
    })
    return make('label', 'choice', input, make('span', '', LOG_KINDS[kind]))
  }
}

/** How many of the lines, which are in order, are not after an entry. */
function countUntil(lines: readonly LogLine[], position: number): number {
  const after = lines.findLastIndex((line) => line.position <= position)
  return after + 1
}
