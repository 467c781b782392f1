import type { Moment } from './sequence.ts'
import { escaped, STYLE } from './svg.ts'
import { textWidth } from './text-width.ts'

/**
 * A sequence as an SVG. Time runs down, the lifecycle's line is on the left, and a phase gets a
 * line only while it runs: a column is used again when its phase has ended, so that the picture is
 * as wide as what happens at the same time.
 */
const TOP = 34
const ROW = 20
const HEADER = 17
const TIME_WIDTH = 58
const COLUMN_GAP = 14
const BAR = 8
const FONT_SIZE = 11

const OWN_STYLE = `
  .title { font-size: ${FONT_SIZE}px; }
  .lifeline { stroke: var(--line); stroke-width: 1.5; }
  .phase, .bar { fill: var(--box); stroke: var(--border); }
  .dot { fill: var(--signal); }
  .arrow { stroke: var(--line); }
  .arrow-head { fill: var(--line); }
  .pause { stroke: var(--border); stroke-dasharray: 2 5; }
  .ground { fill: var(--ground); }
`

export function sequenceSvg(moments: readonly Moment[], title: string): string {
  const sheet = new Sheet(moments)
  const { width, height, lifeline } = sheet
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">`,
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}${OWN_STYLE}</style>`,
    '<rect width="100%" height="100%" fill="var(--ground)"/>',
    `<path class="lifeline" d="M${lifeline} 26V${height - 8}"/>`,
    textSvg('title', lifeline - widthOf('lifecycle') / 2, 15, 'lifecycle'),
    ...sheet.bars(),
    ...moments.flatMap((moment, row) => sheet.moment(moment, row)),
    '</svg>',
  ].join('\n')}\n`
}

/** When a phase ran, in rows, and in which column. */
interface Bar {
  readonly phase: string
  readonly column: number
  readonly from: number
  readonly to: number
}

class Sheet {
  readonly width: number
  readonly height: number
  /** Where the lifecycle's line stands: names of signals are on its left. */
  readonly lifeline: number
  readonly #moments: readonly Moment[]
  readonly #bars: readonly Bar[]
  readonly #columns: readonly number[]

  constructor(moments: readonly Moment[]) {
    this.#moments = moments
    this.#bars = barsOf(moments)
    const names = moments.flatMap((moment) => (moment.type === 'told' ? moment.text : 'signal' in moment ? moment.signal : undefined) ?? [])
    this.lifeline = TIME_WIDTH + Math.max(0, ...names.map(widthOf)) + 26
    let x = this.lifeline + 34
    this.#columns = Array.from({ length: Math.max(0, ...this.#bars.map(({ column }) => column + 1)) }, (_, column) => {
      const own = x
      x += Math.max(...this.#bars.filter((bar) => bar.column === column).map(({ phase }) => headerWidth(phase))) + COLUMN_GAP
      return own
    })
    this.width = x
    this.height = TOP + moments.length * ROW + 14
  }

  bars(): string[] {
    return this.#bars.map((bar) => {
      const top = rowY(bar.from) + HEADER / 2
      return `<rect class="bar" x="${this.#barX(bar)}" y="${top}" width="${BAR}" height="${rowY(bar.to) + 3 - top}"/>`
    })
  }

  moment(moment: Moment, row: number): string[] {
    const y = rowY(row)
    const isNewTime = moment.time !== '' && moment.time !== this.#moments[row - 1]?.time
    return [...(isNewTime ? [textSvg('plain', 8, y, moment.time)] : []), ...this.#drawn(moment, row, y)]
  }

  #drawn(moment: Moment, row: number, y: number): string[] {
    const { lifeline } = this
    switch (moment.type) {
      case 'told':
        return [textSvg('title', TIME_WIDTH, y, moment.text), arrowSvg(TIME_WIDTH + widthOf(moment.text) + 6, lifeline - 1, y)]
      case 'signal':
        return signalSvg(moment.signal, lifeline, y)
      case 'begun': {
        const x = this.#columns[this.#barOf(moment.phase, row).column] as number
        const header = `<rect class="phase" x="${x}" y="${y - HEADER / 2}" width="${headerWidth(moment.phase)}" height="${HEADER}" rx="4"/>`
        return [arrowSvg(lifeline, x, y), header, textSvg('title', x + 8, y, moment.phase)]
      }
      case 'ended': {
        const x = this.#barX(this.#barOf(moment.phase, row))
        const said = textSvg('plain', x + BAR + 5, y, moment.outcome)
        if (moment.signal === undefined) return [arrowSvg(x, lifeline + 1, y), said]
        return [arrowSvg(x, lifeline + 5, y), said, ...signalSvg(moment.signal, lifeline, y)]
      }
      case 'pause': {
        const ground = `<rect class="ground" x="${TIME_WIDTH - 6}" y="${y - 8}" width="${widthOf(moment.text) + 12}" height="16"/>`
        return [`<path class="pause" d="M8 ${y}H${this.width - 8}"/>`, ground, textSvg('plain', TIME_WIDTH, y, moment.text)]
      }
    }
  }

  #barOf(phase: string, row: number): Bar {
    return this.#bars.find((bar) => bar.phase === phase && bar.from <= row && row <= bar.to) as Bar
  }

  #barX({ column }: Bar): number {
    return (this.#columns[column] as number) + 10
  }
}

/** Each phase in the first column that is free while it runs. */
function barsOf(moments: readonly Moment[]): Bar[] {
  const bars: Bar[] = []
  for (const [from, moment] of moments.entries()) {
    if (moment.type !== 'begun') continue
    const { phase } = moment
    const end = moments.findIndex((other, i) => i > from && other.type === 'ended' && other.phase === phase)
    const taken = new Set(bars.filter((bar) => bar.to >= from).map(({ column }) => column))
    let column = 0
    while (taken.has(column)) column++
    bars.push({ phase, column, from, to: end === -1 ? moments.length - 1 : end })
  }
  return bars
}

const rowY = (row: number): number => TOP + row * ROW + ROW / 2

const widthOf = (text: string): number => textWidth(text, FONT_SIZE, true)

const headerWidth = (phase: string): number => widthOf(phase) + 16

const textSvg = (role: string, x: number, y: number, words: string): string =>
  `<text class="${role}" x="${x}" y="${y + 4}" textLength="${widthOf(words)}" lengthAdjust="spacingAndGlyphs">${escaped(words)}</text>`

const signalSvg = (name: string, x: number, y: number): string[] => [
  `<circle class="dot" cx="${x}" cy="${y}" r="4"/>`,
  textSvg('raised', x - 10 - widthOf(name), y, name),
]

const arrowSvg = (from: number, to: number, y: number): string =>
  `<path class="arrow" d="M${from} ${y}H${to}"/><path class="arrow-head" d="M${to} ${y}l${to > from ? -6 : 6} -3v6z"/>`
