import { type Caption, KEYS, sheetOf, signalKeys } from './drawing/legend.ts'
import { FONT_SIZE, GROUP_SIZE, painted, svgDocument } from './drawing/paint.ts'
import { isUpstream } from './drawing/scene.ts'
import { dotSvg, rectSvg, textSvg } from './drawing/shapes.ts'
import { textWidth } from './drawing/text-width.ts'
import type { Moment } from './sequence.ts'

/**
 * A sequence as an SVG. Time runs down, the lifecycle's line is on the left, and a phase gets a
 * line only while it runs: a column is used again when its phase has ended, so that the picture is
 * as wide as what happens at the same time.
 */
const HEAD = 34
const ROW = 20
const HEADER = 17
const TIME_WIDTH = 58
const COLUMN_GAP = 14
const BAR = 8

export function sequenceSvg(moments: readonly Moment[], { title, notes }: Caption): string {
  const signals = moments.flatMap((moment) => ('signal' in moment && moment.signal !== undefined ? [moment.signal] : []))
  const keys = [
    ...signalKeys(signals, KEYS.upstreamDot, KEYS.ownDot),
    { sample: 'ok', words: 'how the phase has ended' },
    { sample: '+1s', words: 'since the start, and since SIGTERM' },
  ]
  const { size, body, above, below } = sheetOf({ title, notes: [...notes, countsOf(moments, signals)] }, keys, sizeOf(moments))
  const sheet = new SequenceSheet(moments, body.y)
  const { lifeline } = sheet
  return svgDocument(size, title, [
    ...above,
    `<path${painted('lifeline')} d="M${lifeline} ${body.y + 22}V${body.y + sheet.height}"/>`,
    words('group', 8, body.y + 10, 'time'),
    words('group', lifeline - groupWidth('signals') - 10, body.y + 10, 'signals'),
    words('group', lifeline + 34, body.y + 10, 'phases'),
    ...sheet.ticks(),
    ...sheet.bars(),
    ...moments.flatMap((moment, row) => sheet.moment(moment, row)),
    ...below,
  ])
}

/** What the picture consists of, and how long the end took. */
function countsOf(moments: readonly Moment[], signals: readonly string[]): string {
  const phases = new Set(moments.flatMap((moment) => (moment.type === 'begun' ? [moment.phase] : [])))
  const upstream = signals.filter(isUpstream).length
  const last = moments.findLast(({ time }) => time !== '')?.time.replace('+', '') ?? '0s'
  return `${phases.size} phases with work, ${signals.length} signals, ${upstream} of them upstream's; SIGTERM to exit: ${last}`
}

/** When a phase ran, in rows, and in which column. */
interface Bar {
  readonly phase: string
  readonly column: number
  readonly from: number
  readonly to: number
}

const sizeOf = (moments: readonly Moment[]) => {
  const { width, height } = new SequenceSheet(moments, 0)
  return { width, height }
}

class SequenceSheet {
  readonly width: number
  readonly height: number
  /** Where the lifecycle's line stands: names of signals are on its left. */
  readonly lifeline: number
  readonly #moments: readonly Moment[]
  readonly #bars: readonly Bar[]
  readonly #columns: readonly number[]
  readonly #top: number

  constructor(moments: readonly Moment[], top: number) {
    this.#moments = moments
    this.#top = top + HEAD
    this.#bars = barsOf(moments)
    const names = moments.flatMap(
      (moment) => (moment.type === 'notified' ? moment.text : 'signal' in moment ? moment.signal : undefined) ?? [],
    )
    this.lifeline = TIME_WIDTH + Math.max(0, ...names.map((name) => widthOf(name, true))) + 26
    let x = this.lifeline + 34
    this.#columns = Array.from({ length: Math.max(0, ...this.#bars.map(({ column }) => column + 1)) }, (_, column) => {
      const own = x
      x += Math.max(...this.#bars.filter((bar) => bar.column === column).map(({ phase }) => headerWidth(phase))) + COLUMN_GAP
      return own
    })
    this.width = x
    this.height = HEAD + moments.length * ROW
  }

  /** A faint rule where time has gone on: the axis. */
  ticks(): string[] {
    return this.#moments.flatMap((moment, row) =>
      this.#isNewTime(moment, row) ? [`<path${painted('tick')} d="M8 ${this.#y(row) - ROW / 2}H${this.width - 8}"/>`] : [],
    )
  }

  bars(): string[] {
    return this.#bars.map((bar) => {
      const top = this.#y(bar.from) + HEADER / 2
      return rectSvg('box', { x: this.#barX(bar), y: top, width: BAR, height: this.#y(bar.to) + 3 - top }, 0)
    })
  }

  moment(moment: Moment, row: number): string[] {
    const y = this.#y(row)
    return [...(this.#isNewTime(moment, row) ? [words('plain', 8, y, moment.time)] : []), ...this.#drawn(moment, row, y)]
  }

  #isNewTime(moment: Moment, row: number): boolean {
    return moment.time !== '' && moment.time !== this.#moments[row - 1]?.time
  }

  #drawn(moment: Moment, row: number, y: number): string[] {
    const { lifeline } = this
    switch (moment.type) {
      case 'notified':
        return [words('name', TIME_WIDTH, y, moment.text), arrow(TIME_WIDTH + widthOf(moment.text, true) + 6, lifeline - 1, y)]
      case 'signal':
        return signalSvg(moment.signal, lifeline, y)
      case 'begun': {
        const x = this.#columns[this.#barOf(moment.phase, row).column] as number
        const header = rectSvg('box', { x, y: y - HEADER / 2, width: headerWidth(moment.phase), height: HEADER }, 4)
        return [arrow(lifeline, x, y), header, words('name', x + 8, y, moment.phase)]
      }
      case 'ended': {
        const x = this.#barX(this.#barOf(moment.phase, row))
        const said = words('plain', x + BAR + 5, y, moment.outcome)
        if (moment.signal === undefined) return [arrow(x, lifeline + 1, y), said]
        return [arrow(x, lifeline + 5, y), said, ...signalSvg(moment.signal, lifeline, y)]
      }
      case 'pause': {
        const dotted = (from: number, to: number) => `<path${painted('pause')} d="M${from} ${y}H${to}"/>`
        const end = TIME_WIDTH + widthOf(moment.text, false) + 6
        return [dotted(8, TIME_WIDTH - 6), words('plain', TIME_WIDTH, y, moment.text), dotted(end, this.width - 8)]
      }
    }
  }

  #y(row: number): number {
    return this.#top + row * ROW + ROW / 2
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

const widthOf = (text: string, bold: boolean): number => textWidth(text, FONT_SIZE, bold)

const groupWidth = (text: string): number => textWidth(text, GROUP_SIZE, true)

const headerWidth = (phase: string): number => widthOf(phase, true) + 16

type WordsLook = 'name' | 'plain' | 'group' | 'raised-upstream' | 'heard-own'

const words = (look: WordsLook, x: number, y: number, text: string): string =>
  textSvg(look, { x, y: y + 4 }, look === 'group' ? groupWidth(text) : widthOf(text, look === 'name' || look === 'raised-upstream'), text)

function signalSvg(name: string, x: number, y: number): string[] {
  const look = isUpstream(name) ? 'upstream' : 'own'
  const at = x - 10 - widthOf(name, look === 'upstream')
  return [dotSvg(name, { x, y }), words(look === 'upstream' ? 'raised-upstream' : 'heard-own', at, y, name)]
}

const arrow = (from: number, to: number, y: number): string =>
  `<path${painted('line')} d="M${from} ${y}H${to}"/><path${painted('head')} d="M${to} ${y}l${to > from ? -6 : 6} -3v6z"/>`
