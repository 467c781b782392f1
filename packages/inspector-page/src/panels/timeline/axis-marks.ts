import { type AxisLine, linesOf, type Span, type Tick, ticksOf } from '../../core/axis.ts'
import { lanesOf } from '../../core/lanes.ts'
import type { View } from '../../core/view.ts'
import { Font, KeyedParts, make, type Part, setAttribute, setStyle } from '../../dom.ts'
import { part } from './gantt-row.ts'

const TICK_EVERY_PX = 110
/** Times and names of lines stand in so many rows of the head, times in the first. */
const LANES = 3
const GAP_PX = 8

interface Named extends Tick {
  readonly kind?: AxisLine['kind']
  readonly lane: number
  /** Nowhere, when there is no room. */
  readonly side: 'after' | 'before' | 'none'
}

/** The axis: times and names in a head that stays, lines through all rows below. */
export class AxisMarks {
  readonly head = make('div', 'axis')
  readonly overlay = make('div', 'overlay')
  readonly #now = make('div', 'at now-line')
  readonly #probe = make('span', 'axis-name')
  readonly #font = new Font(this.#probe)
  readonly #times: KeyedParts<Named>
  readonly #ticks: KeyedParts<OnAxis>
  readonly #names: KeyedParts<Named>
  readonly #lines: KeyedParts<OnAxis>
  readonly #headLines: KeyedParts<OnAxis>

  constructor() {
    // Names last: a line ends beside a name, not in it.
    const headLines = make('div', 'layer')
    const times = make('div', 'layer')
    const names = make('div', 'layer', this.#probe)
    this.head.append(make('div', 'axis-track', headLines, times, names))
    for (const hidden of [this.head, this.overlay]) hidden.setAttribute('aria-hidden', 'true')
    const ticks = make('div', 'layer')
    const lines = make('div', 'layer')
    this.overlay.append(ticks, lines, this.#now)
    this.#times = new KeyedParts(times, ({ text }) => text, namePart)
    this.#ticks = new KeyedParts(ticks, ({ text }) => text, linePart('tick'))
    this.#names = new KeyedParts(names, ({ text }) => text, namePart)
    this.#lines = new KeyedParts(lines, ({ text }) => text, linePart('line'))
    this.#headLines = new KeyedParts(headLines, ({ text }) => text, linePart('line'))
  }

  /** Measures the window; to be repeated when its size has changed. */
  measure(): void {
    this.#font.refresh()
  }

  /** @param besidePx behind the axis, where a name may end */
  draw(view: View, now: number, span: Span, trackPx: number, besidePx: number): void {
    const ticks = ticksOf(view, span, Math.max(2, trackPx / TICK_EVERY_PX))
    const lines = linesOf(view, now, span)
    this.#ticks.show(ticks)
    this.#lines.show(lines)
    this.#headLines.show(lines)
    const named = this.#named([...ticks, ...lines], trackPx, besidePx)
    this.#times.show(named.slice(0, ticks.length))
    this.#names.show(named.slice(ticks.length))
    setStyle(this.#now, '--at', part((now - span.from) / (span.to - span.from)))
    this.#now.hidden = now < span.from || now > span.to
  }

  #named(words: readonly (Tick & { readonly kind?: AxisLine['kind'] })[], trackPx: number, besidePx: number): readonly Named[] {
    const lanes = lanesOf(
      words.map(({ place, text }) => ({ place, width: (this.#font.width(text) + GAP_PX) / Math.max(1, trackPx) })),
      LANES,
      1 + besidePx / Math.max(1, trackPx),
    )
    return words.map((word, i) => ({ ...word, lane: lanes[i]?.lane ?? 0, side: lanes[i]?.side ?? 'none' }))
  }
}

interface OnAxis {
  readonly place: number
  readonly text: string
  readonly kind?: string
  readonly past?: boolean
}

const linePart =
  (className: string) =>
  ({ kind = '' }: OnAxis): Part<OnAxis> => {
    const node = make('div', `at ${className} ${kind}`.trim())
    return {
      node,
      show: ({ place, past = false }) => {
        setStyle(node, '--at', part(place))
        node.classList.toggle('past', past)
      },
    }
  }

function namePart({ kind, text }: Named): Part<Named> {
  const word = make('span', 'axis-name', text)
  const node = make('div', `at ${kind ?? 'time'}`, word)
  return {
    node,
    show: ({ place, lane, side }) => {
      setStyle(node, '--at', part(place))
      setStyle(node, '--lane', String(lane))
      setAttribute(word, 'data-side', side)
    },
  }
}
