import { lanesOf } from '../core/lanes.ts'
import { lifeStatusOf } from '../core/life-status.ts'
import { cutBy, endWords } from '../core/setup.ts'
import { type Cut, plannedCuts, spentOf } from '../core/spent.ts'
import { unitsOf, type View } from '../core/view.ts'
import { durationText, running, STEPS } from '../core/words.ts'
import { element, Font, Icon, KeyedParts, make, setAttribute, setStyle, setText } from '../dom.ts'
import type { Frame, Panel } from '../frame.ts'

interface NamedCut extends Cut {
  /** The phases that it ends. */
  readonly ends: string
  readonly lane: number
  readonly side: 'after' | 'before'
}

/** Names stand in so many rows below the bar. */
const LANES = 3
const GAP_PX = 10

/** The head of the page: how it stands in one line, and how much of the budget is left. */
export class LifeStatusPanel implements Panel {
  readonly #status = element('life-status')
  readonly #bar = element('budget-bar')
  readonly #icon = new Icon('connecting')
  readonly #spent = make('div', 'spent')
  readonly #cuts: KeyedParts<NamedCut>
  readonly #probe = make('span', 'cut-name')
  readonly #font = new Font(this.#probe)
  #barPx = 1
  #announced = ''

  constructor() {
    element('life-status-icon').append(this.#icon.node)
    const cuts = make('div', 'cuts', this.#probe)
    this.#bar.append(make('div', 'track-of-bar', this.#spent), cuts)
    this.#cuts = new KeyedParts(cuts, ({ signal }) => signal, cutPart)
    new ResizeObserver(() => {
      this.#font.refresh()
      this.#barPx = Math.max(1, this.#bar.clientWidth)
    }).observe(this.#bar)
  }

  draw({ view, now, link, lookingBack }: Frame): void {
    const { shape, headline, detail, trouble } = lifeStatusOf(view, link, now, lookingBack)
    setAttribute(this.#status, 'data-shape', shape)
    this.#icon.show(shape)
    setText(element('life-status-headline'), headline)
    setText(element('life-status-detail'), detail)
    setText(element('life-status-trouble'), trouble)
    // Said once per change of kind: a headline with seconds in it would be read out for ever.
    if (!lookingBack && shape !== this.#announced) {
      this.#announced = shape
      setText(element('announcer'), [headline, trouble, detail].filter((part) => part !== '').join('. '))
    }
    const { opening } = view
    setText(element('life-title'), opening?.title ?? '')
    setText(element('life-mode'), opening?.mode ? `mode ${opening.mode}` : '')
    document.title = opening ? `${headline} · ${opening.title}` : 'quiesce inspector'
    document.body.toggleAttribute('data-ended', view.life.exitCode !== undefined)
    this.#drawBudget(view, now)
  }

  #drawBudget(view: View, now: number): void {
    const spent = spentOf(view, now)
    this.#bar.classList.toggle('idle', !spent)
    setText(element('budget-text'), budgetWords(view, now))
    setStyle(this.#spent, '--part', (spent?.part ?? 0).toFixed(4))
    const cuts = spent?.cuts ?? (view.life.stop ? [] : plannedCuts(view))
    const lanes = lanesOf(
      cuts.map(({ part, signal }) => ({ place: part, width: (this.#font.width(nameOf(signal)) + GAP_PX) / this.#barPx })),
      LANES,
    )
    // Where there is no room for all, they are a list below it.
    this.#bar.classList.toggle('listed', lanes.includes(undefined))
    setStyle(this.#bar, '--lanes', String(Math.max(1, ...lanes.map((lane) => (lane ? lane.lane + 1 : 1)))))
    this.#cuts.show(
      cuts.map((cut, i) => ({ ...cut, ends: cutBy(view, cut.signal), lane: lanes[i]?.lane ?? 0, side: lanes[i]?.side ?? 'after' })),
    )
  }
}

const nameOf = (signal: string): string => signal.replace('Cut.', '')

function cutPart({ signal }: NamedCut) {
  const at = make('span', 'cut-at')
  const name = make('span', 'cut-name', nameOf(signal), at)
  const node = make('div', 'cut', name)
  return {
    node,
    show: ({ part, past, lane, side, atMs, ends }: NamedCut) => {
      setAttribute(node, 'title', `${signal}: what is left of ${ends || 'its phases'} ${durationText(atMs)} after the stop request is cut`)
      setStyle(node, '--at', part.toFixed(4))
      setStyle(node, '--lane', String(lane))
      setAttribute(name, 'data-side', side)
      setText(at, ` ${durationText(atMs)}`)
      node.classList.toggle('past', past)
    },
  }
}

function budgetWords(view: View, now: number): string {
  const spent = spentOf(view, now)
  if (!spent) {
    if (!view.opening) return 'No stop has been requested.'
    if (unitsOf(view) === STEPS) return 'No time passes in a counter-example: it counts its steps.'
    return view.life.stop ? 'There is no deadline: the end comes when the work is done.' : `${endWords(view)}.`
  }
  const { elapsedMs, deadlineMs, leftMs, nextCut } = spent
  if (view.life.exitCode !== undefined)
    return `Used ${durationText(elapsedMs)} of ${durationText(deadlineMs)}; ${durationText(leftMs)} was left.`
  const next = nextCut
    ? `next is ${nextCut.signal} in ${running(nextCut.inMs)}, the end of ${cutBy(view, nextCut.signal) || 'what is left'}`
    : leftMs > 0
      ? `the deadline is in ${running(leftMs)}`
      : 'the deadline is reached'
  return `${running(elapsedMs)} of ${durationText(deadlineMs)} used; ${next}.`
}
