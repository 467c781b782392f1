import { spentOf, withRoom } from '../core/timeline.ts'
import { verdictOf } from '../core/verdict.ts'
import { unitsOf, type View } from '../core/view.ts'
import { duration, running, STEPS } from '../core/words.ts'
import { element, Icon, make, Parts, setAttribute, setStyle, setText } from '../dom.ts'
import type { Frame, Panel } from '../frame.ts'

interface Cut {
  readonly signal: string
  readonly part: number
  readonly past: boolean
  /** Whether there is room for its name. */
  readonly named: boolean
}

/** The head of the page: how it stands in one line, and how much of the budget is left. */
export class VerdictPanel implements Panel {
  readonly #verdict = element('verdict')
  readonly #icon = new Icon('connecting')
  readonly #spent = make('div', 'spent')
  readonly #cuts: Parts<Cut>
  #announced = ''

  constructor() {
    element('verdict-icon').append(this.#icon.node)
    const cuts = make('div', 'cuts')
    element('budget-bar').append(this.#spent, cuts)
    this.#cuts = new Parts(
      cuts,
      ({ signal }) => signal,
      ({ signal }) => {
        const node = make('span', 'cut', make('span', '', signal.replace('Cut.', '')))
        return {
          node,
          show: ({ part, past, named }) => {
            setStyle(node, '--at', part.toFixed(4))
            node.classList.toggle('past', past)
            node.classList.toggle('nameless', !named)
          },
        }
      },
    )
  }

  draw({ view, now, link, lookingBack }: Frame): void {
    const { shape, headline, detail, trouble } = verdictOf(view, link, now, lookingBack)
    setAttribute(this.#verdict, 'data-shape', shape)
    this.#icon.show(shape)
    setText(element('verdict-headline'), headline)
    setText(element('verdict-detail'), detail)
    setText(element('verdict-trouble'), trouble)
    // Said once per change of kind: a headline with seconds in it would be read out for ever.
    if (!lookingBack && shape !== this.#announced) {
      this.#announced = shape
      setText(element('announcer'), [headline, trouble, detail].filter((part) => part !== '').join('. '))
    }
    const { opening } = view
    setText(element('life-title'), opening?.title ?? '')
    setText(element('life-mode'), opening?.mode ? `mode ${opening.mode}` : '')
    document.title = opening ? `${headline} · ${opening.title}` : 'quiesce inspector'
    document.body.toggleAttribute('data-ended', view.exitCode !== undefined)
    this.#drawBudget(view, now)
  }

  #drawBudget(view: View, now: number): void {
    const spent = spentOf(view, now)
    element('budget-bar').classList.toggle('idle', !spent)
    setText(element('budget-text'), budgetWords(view, now))
    setStyle(this.#spent, '--part', (spent?.part ?? 0).toFixed(4))
    const cuts = spent?.cuts ?? []
    const named = withRoom(
      cuts.map(({ part }) => part),
      NAME_PART,
    )
    this.#cuts.show(cuts.map((cut, i) => ({ ...cut, named: named[i] === true })))
  }
}

/** A name takes about this part of the bar. */
const NAME_PART = 0.08

function budgetWords(view: View, now: number): string {
  const spent = spentOf(view, now)
  if (!spent) {
    if (!view.opening) return 'No stop has been requested.'
    if (unitsOf(view) === STEPS) return 'No time passes in a counter-example: it counts its steps.'
    if (!view.budget) return 'Without a deadline: a shutdown takes as long as it takes.'
    return `A stop will have ${duration(view.budget.deadlineMs)}.`
  }
  const { elapsedMs, deadlineMs, leftMs, nextCut } = spent
  if (view.exitCode !== undefined) return `Used ${duration(elapsedMs)} of ${duration(deadlineMs)}; ${duration(leftMs)} was left.`
  const next = nextCut
    ? `next is ${nextCut.signal} in ${running(nextCut.inMs)}`
    : leftMs > 0
      ? `the deadline is in ${running(leftMs)}`
      : 'the deadline is reached'
  return `${running(elapsedMs)} of ${duration(deadlineMs)} used; ${next}.`
}
