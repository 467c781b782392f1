import {
  type Line,
  linesOf,
  type Row,
  type RowGroup,
  rowsOf,
  SCALES,
  type Scale,
  type Series,
  type Span,
  seriesOf,
  spanOf,
  type Tick,
  ticksOf,
  withRoom,
} from '../core/timeline.ts'
import { type EntryOf, refusals } from '../core/view.ts'
import { STANDING_WORDS } from '../core/words.ts'
import { element, Icon, make, type Part, Parts, setAttribute, setStyle, setText, svg } from '../dom.ts'
import type { Frame, Panel } from '../frame.ts'

type Gauges = EntryOf<'gauges'>

const SCALE_WORDS: Readonly<Record<Scale, string>> = { auto: 'Fit', deadline: 'To the deadline', life: 'Whole life' }
const TICK_EVERY_PX = 110
/** What the name of a line takes, in pixels of the whole panel. */
const LINE_NAME_PX = 130

interface Named {
  /** Whether there is room for its name. */
  readonly named: boolean
}

interface Load {
  readonly name: string
  readonly read: (gauges: Gauges) => number
}

const LOADS: readonly Load[] = [
  { name: 'requests', read: ({ requests }) => requests },
  { name: 'watches', read: ({ watches }) => watches },
  { name: 'refused', read: refusals },
  { name: 'sockets active', read: ({ connections }) => connections.active },
  { name: 'sockets idle', read: ({ connections }) => connections.idle },
  { name: 'sockets told', read: ({ connections }) => connections.told },
]

/** The Gantt: load over time, then a row per phase and hook, all on one axis. */
export class TimelinePanel implements Panel {
  readonly #body = element('timeline-body')
  readonly #now = make('div', 'now-line')
  readonly #ticks: Parts<Tick>
  readonly #lines: Parts<Line & Named>
  readonly #loads: Parts<LoadRow>
  readonly #groups: Parts<RowGroup>
  #scale: Scale = 'auto'

  constructor(redraw: () => void) {
    const ticks = make('div', 'ticks')
    const lines = make('div', 'lines')
    const overlay = make('div', 'overlay', ticks, lines, this.#now)
    overlay.setAttribute('aria-hidden', 'true')
    const load = make('tbody', 'load')
    const table = make('table', 'gantt', make('caption', 'unseen', 'Load, phases and hooks over time'), columns(), headRow(), load)
    this.#body.append(make('div', 'gantt-box', overlay, table))
    this.#ticks = new Parts(ticks, ({ text }) => text, axisPart('tick'))
    this.#lines = new Parts(lines, ({ text }) => text, axisPart('line'))
    this.#loads = new Parts(load, ({ name }) => name, loadPart)
    this.#groups = new Parts(table, ({ name }) => name, groupPart)
    element('scale').append(...SCALES.map((scale) => this.#scaleChoice(scale, redraw)))
  }

  draw({ view, now, journal }: Frame): void {
    const span = spanOf(view, now, this.#scale)
    this.#ticks.show(ticksOf(view, span, Math.max(3, Math.min(10, this.#body.clientWidth / TICK_EVERY_PX))))
    const lines = linesOf(view, now, span)
    const named = withRoom(
      lines.map(({ place }) => place),
      LINE_NAME_PX / this.#body.clientWidth,
    )
    this.#lines.show(lines.map((line, i) => ({ ...line, named: named[i] === true })))
    setStyle(this.#now, '--at', part((now - span.from) / (span.to - span.from)))
    const { gauges } = view
    const measured = gauges ? journal.gaugesBetween(span.from, Math.min(gauges.at, span.to)) : []
    this.#loads.show(LOADS.map((load) => loadRow(load, gauges, measured, now, span)))
    this.#groups.show(rowsOf(view, now, span))
  }

  #scaleChoice(scale: Scale, redraw: () => void): HTMLElement {
    const input = make('input')
    Object.assign(input, { type: 'radio', name: 'scale', value: scale, checked: scale === this.#scale })
    input.addEventListener('change', () => {
      this.#scale = scale
      redraw()
    })
    return make('label', 'choice', input, make('span', '', SCALE_WORDS[scale]))
  }
}

function columns(): HTMLElement {
  return make('colgroup', '', make('col', 'name'), make('col'), make('col', 'note'))
}

function headRow(): HTMLElement {
  const row = make('tr')
  for (const name of ['Name', 'Over time', 'Took']) {
    const cell = make('th', '', name)
    cell.scope = 'col'
    row.append(cell)
  }
  return make('thead', 'unseen', row)
}

/** A place on the axis, as CSS takes it. */
const part = (place: number): string => Math.min(1, Math.max(0, place)).toFixed(4)

interface OnAxis {
  readonly place: number
  readonly text: string
  readonly kind?: string
  readonly past?: boolean
  readonly named?: boolean
}

/** Something at a place of the axis, with a word. */
const axisPart =
  (className: string) =>
  ({ kind = '', text }: OnAxis): Part<OnAxis> => {
    const node = make('div', `${className} ${kind}`.trim(), make('span', '', text))
    return {
      node,
      show: ({ place, past = false, named = true }) => {
        setStyle(node, '--at', part(place))
        node.classList.toggle('past', past)
        node.classList.toggle('nameless', !named)
        node.classList.toggle('flip', place > 0.9)
      },
    }
  }

function groupPart({ name }: RowGroup): Part<RowGroup> {
  const title = make('th', 'group-name', name)
  title.colSpan = 3
  title.scope = 'rowgroup'
  const node = make('tbody', 'group', make('tr', '', title))
  const rows = new Parts(node, ({ key }: Row) => key, rowPart)
  return { node, show: (group) => rows.show(group.rows) }
}

/**
 * Where there is room for the name of a signal: after its mark, before the bar, or else inside of
 * the bar.
 */
function sideOf({ bar, mark }: Row): { readonly side: 'after' | 'before' | 'inside'; readonly at: number } {
  const at = mark?.at ?? 0
  if (at < 0.62) return { side: 'after', at }
  const start = Math.min(bar?.from ?? 1, at)
  return start > 0.38 ? { side: 'before', at: start } : { side: 'inside', at }
}

function rowPart({ kind }: Row): Part<Row> {
  const icon = new Icon('waiting')
  const label = make('span', 'label')
  const name = make('th', 'name', icon.node, label)
  name.scope = 'row'
  const bar = make('div', 'bar')
  const mark = make('div', 'mark')
  const word = make('span', 'mark-word')
  const spoken = make('span', 'unseen')
  const track = make('td', 'track', bar, mark, word, spoken)
  const note = make('td', 'note')
  const node = make('tr', kind, name, track, note)
  return {
    node,
    show: (row) => {
      icon.show(row.standing)
      setText(label, row.name)
      setAttribute(node, 'data-standing', row.standing)
      setAttribute(node, 'title', row.title)
      setText(spoken, row.title)
      setText(note, row.note === '' ? STANDING_WORDS[row.standing] : row.note)
      bar.hidden = row.bar === undefined
      setStyle(bar, '--from', part(row.bar?.from ?? 0))
      setStyle(bar, '--to', part(row.bar?.to ?? 0))
      mark.hidden = word.hidden = row.mark === undefined
      const { side, at } = sideOf(row)
      setText(word, row.mark?.signal ?? '')
      setAttribute(word, 'data-side', side)
      setStyle(mark, '--at', part(row.mark?.at ?? 0))
      setStyle(word, '--at', part(at))
    },
  }
}

interface LoadRow {
  readonly name: string
  readonly series: Series
  /** Whether anything was measured: no connection is not the same as nothing known. */
  readonly known: boolean
}

function loadRow({ name, read }: Load, gauges: Gauges | undefined, measured: readonly Gauges[], now: number, span: Span): LoadRow {
  return { name, series: seriesOf(measured, now, span, name, read), known: gauges !== undefined }
}

/**
 * The picture is stretched to the track: its units are parts of the axis across, and per cent
 * upwards.
 */
const ACROSS = 1_000
const UPWARDS = 100

function loadPart({ name: what }: LoadRow): Part<LoadRow> {
  const curve = svg('path', { class: 'curve', 'vector-effect': 'non-scaling-stroke' })
  const area = svg('path', { class: 'area' })
  const picture = svg('svg', { class: 'curves', viewBox: `0 0 ${ACROSS} ${UPWARDS}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' })
  picture.append(area, curve)
  const value = make('span', 'value')
  const most = make('span', 'most')
  const spoken = make('span', 'unseen')
  const name = make('th', 'name', make('span', 'label', what))
  name.scope = 'row'
  return {
    node: make('tr', 'load-row', name, make('td', 'track', picture, most, spoken), make('td', 'note', value)),
    show: ({ series, known }) => {
      setText(value, known ? String(series.now) : '–')
      setText(most, series.most > series.now ? `most ${series.most}` : '')
      setText(spoken, known ? `${series.now} ${what} now, at most ${series.most} in this picture` : 'not measured')
      const line = steps(series)
      setAttribute(curve, 'd', line)
      setAttribute(area, 'd', line === '' ? '' : `${line}V${UPWARDS}H${across(series.points[0]?.[0] ?? 0)}z`)
    },
  }
}

const across = (place: number): string => (place * ACROSS).toFixed(1)

function steps({ points, most }: Series): string {
  const up = (value: number): string => (UPWARDS - 3 - (most === 0 ? 0 : (value / most) * (UPWARDS * 0.55))).toFixed(1)
  return points.map(([place, value], i) => (i === 0 ? `M${across(place)} ${up(value)}` : `H${across(place)}V${up(value)}`)).join('')
}
