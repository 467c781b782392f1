import { type EventLogLine, LOG_FILTER, LOG_KINDS, type LogFilter, type LogKind, lineOf, matches } from '../core/log-lines.ts'
import { countBefore } from '../core/search.ts'
import { originOf, unitsOf } from '../core/view.ts'
import { TIME } from '../core/words.ts'
import { element, make, type Part, setAttribute, setText } from '../dom.ts'
import type { Frame, Panel } from '../frame.ts'
import { VirtualList } from '../virtual-list.ts'

const ROW_REM = 1.85
/** The height of a row on a narrow screen, where the text stands below the name. */
const ROW_OF_TWO_REM = 3.1
const PAGE_ROWS = 10

/**
 * The event log: who said what to whom, newest last, with a filter. Choosing a line goes to its
 * time, and leaves what came later where it is.
 */
export class LogPanel implements Panel {
  readonly #body = element('log-body')
  readonly #list = make('ol', 'lines')
  readonly #rows: VirtualList<EventLogLine>
  readonly #narrow = matchMedia('(max-width: 640px)')
  #filter: LogFilter = LOG_FILTER
  #lines: EventLogLine[] = []
  /** The lines that match the filter. */
  #matching: EventLogLine[] = []
  #opening: unknown
  /** The last entry that is shown, and the line that is chosen, when one is. */
  #shown: { readonly position: number; readonly lookingBack: boolean; readonly current: EventLogLine | undefined } = {
    position: 0,
    lookingBack: false,
    current: undefined,
  }
  /** The one line that Tab reaches; arrows go on from there. */
  #stop: EventLogLine | undefined
  /** Where it stands among those that match. */
  #tabStop = -1
  /** Times are relative to the stop request, once there was one. */
  #origin = 0
  #units = TIME

  constructor(redraw: () => void, goTo: (position: number) => void) {
    this.#body.append(this.#list)
    this.#rows = new VirtualList({
      scroll: this.#body,
      list: this.#list,
      keyOf: ({ position }: EventLogLine) => String(position),
      create: (line) => this.#part(line),
      rem: () => (this.#narrow.matches ? ROW_OF_TWO_REM : ROW_REM),
      even: true,
    })
    this.#list.addEventListener('click', ({ target }) => {
      const line = this.#lineOf(target)
      if (line) goTo(line.position)
    })
    this.#list.addEventListener('keydown', (event) => this.#key(event))
    this.#list.addEventListener('focusin', ({ target }) => this.#stopAt(this.#lineOf(target)))
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
    const before = this.#shown
    this.#read(journal.entries, journal.last.actors)
    this.#origin = originOf(journal.last)
    this.#units = unitsOf(journal.last)
    const matching = this.#matching
    const index = lookingBack ? countUntil(matching, position) - 1 : -1
    const current = matching[index]
    this.#shown = { position, lookingBack, current }
    // Those who come back from looking back come to the end.
    const isAtEnd = this.#rows.isAtEnd || before.lookingBack
    this.#show()
    setText(element('log-count'), `${matching.length} of ${journal.length}`)
    if (current && current !== before.current) this.#rows.center(index)
    else if (!lookingBack && isAtEnd) this.#rows.scrollToEnd()
  }

  #stopIndex(): number {
    const { current } = this.#shown
    const found = this.#stop ? this.#indexOf(this.#stop) : -1
    if (found >= 0) return found
    return current ? this.#indexOf(current) : this.#matching.length - 1
  }

  #indexOf({ position }: EventLogLine): number {
    const index = countUntil(this.#matching, position) - 1
    return this.#matching[index]?.position === position ? index : -1
  }

  #lineOf(target: EventTarget | null): EventLogLine | undefined {
    const position = target instanceof Element ? target.closest('[data-position]')?.getAttribute('data-position') : undefined
    return position ? this.#lines[Number(position)] : undefined
  }

  #stopAt(line: EventLogLine | undefined): void {
    this.#stop = line
    this.#show()
  }

  #show(): void {
    this.#tabStop = this.#stopIndex()
    this.#rows.show(this.#matching, this.#tabStop)
  }

  #key(event: KeyboardEvent): void {
    const line = this.#lineOf(event.target)
    if (!line || event.ctrlKey || event.metaKey || event.altKey) return
    const here = this.#indexOf(line)
    const last = this.#matching.length - 1
    const next = {
      ArrowUp: here - 1,
      ArrowDown: here + 1,
      PageUp: here - PAGE_ROWS,
      PageDown: here + PAGE_ROWS,
      Home: 0,
      End: last,
    }[event.key]
    if (next === undefined) return
    event.preventDefault()
    event.stopPropagation()
    const index = Math.min(last, Math.max(0, next))
    const chosen = this.#matching[index]
    if (!chosen) return
    this.#stopAt(chosen)
    this.#rows.reveal(index)
    this.#list.querySelector<HTMLElement>(`[data-position="${chosen.position}"] button`)?.focus({ preventScroll: true })
  }

  /** Every entry becomes a line once; a journal that begins anew is read anew. */
  #read(entries: Frame['journal']['entries'], actors: Frame['view']['actors']): void {
    if (entries[0] !== this.#opening) {
      this.#opening = entries[0]
      this.#lines = []
      this.#matching = []
      this.#stop = undefined
    }
    if (entries.length === this.#lines.length) return
    const more: EventLogLine[] = []
    for (const entry of entries.slice(this.#lines.length)) {
      const line = lineOf(entry, this.#lines.length, actors)
      this.#lines.push(line)
      if (matches(line, this.#filter)) more.push(line)
    }
    if (more.length > 0) this.#matching = [...this.#matching, ...more]
  }

  #part({ position, kind, tone, who, to, text }: EventLogLine): Part<EventLogLine> {
    const time = make('span', 'time')
    const names = make('span', 'names', who, ...(to === '' ? [] : [make('span', 'arrow', ' → '), to]))
    const button = make('button', '', time, names, make('span', 'text', text))
    button.type = 'button'
    button.title = `${who}${to === '' ? '' : ` → ${to}`}: ${text}`
    const node = make('li', `${kind} ${tone}`, button)
    node.dataset['position'] = String(position)
    return {
      node,
      show: (line) => {
        const { position: last, current } = this.#shown
        const index = this.#indexOf(line)
        setText(time, this.#units.offset(line.at - this.#origin))
        setAttribute(node, 'aria-current', line === current ? 'true' : undefined)
        setAttribute(node, 'aria-setsize', String(this.#matching.length))
        setAttribute(node, 'aria-posinset', String(index + 1))
        setAttribute(button, 'tabindex', index === this.#tabStop ? '0' : '-1')
        node.classList.toggle('later', line.position > last)
      },
    }
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

/** How many of the lines are not after an entry. */
const countUntil = (lines: readonly EventLogLine[], until: number): number => countBefore(lines, ({ position }) => position <= until)
