import type { Span } from '../../core/axis.ts'
import { type GlossaryWord, meaningOf } from '../../core/glossary.ts'
import { type Series, seriesOf } from '../../core/series.ts'
import { type EntryOf, refusals } from '../../core/view.ts'
import { KeyedParts, make, type Part, setAttribute, setText, svg } from '../../dom.ts'
import type { Frame } from '../../frame.ts'

/** What is counted, over time: above the phases, on their axis. */

type Gauges = EntryOf<'gauges'>

interface Load {
  readonly name: string
  readonly read: (gauges: Gauges) => number
  readonly word?: GlossaryWord
}

const LOADS: readonly Load[] = [
  { name: 'requests', read: ({ requests }) => requests },
  { name: 'watches', read: ({ watches }) => watches, word: 'watch' },
  { name: 'refused', read: refusals },
  { name: 'sockets active', read: ({ connections }) => connections.active },
  { name: 'sockets idle', read: ({ connections }) => connections.idle },
  { name: 'sockets notified', read: ({ connections }) => connections.notified, word: 'notify' },
]

export class LoadRows {
  readonly node = make('div', 'load')
  readonly #rows: KeyedParts<LoadRow>

  constructor() {
    this.node.setAttribute('role', 'rowgroup')
    this.#rows = new KeyedParts(this.node, ({ name }) => name, loadPart)
  }

  draw({ view: { gauges }, now, journal }: Frame, span: Span): void {
    const measured = gauges ? journal.gaugesBetween(span.from, Math.min(gauges.at, span.to)) : []
    this.#rows.show(
      LOADS.map(({ name, read, word }) => ({ name, word, series: seriesOf(measured, now, span, name, read), known: gauges !== undefined })),
    )
  }
}

interface LoadRow {
  readonly name: string
  readonly word: GlossaryWord | undefined
  readonly series: Series
  /** Whether anything was measured: no connection is not the same as nothing known. */
  readonly known: boolean
}

/**
 * The picture is stretched to the track: its units are parts of the axis across, and per cent
 * upwards.
 */
const ACROSS = 1_000
const UPWARDS = 100

function loadPart({ name: what, word }: LoadRow): Part<LoadRow> {
  const curve = svg('path', { class: 'curve', 'vector-effect': 'non-scaling-stroke' })
  const area = svg('path', { class: 'area' })
  const picture = svg('svg', { class: 'curves', viewBox: `0 0 ${ACROSS} ${UPWARDS}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' })
  picture.append(area, curve)
  const value = make('span', 'value')
  const most = make('span', 'most')
  const unseenText = make('span', 'unseen')
  const name = make('div', 'name', make('span', 'label', what), most)
  const track = make('div', 'track')
  track.append(picture, unseenText)
  const note = make('div', 'note', value)
  const node = make('div', 'row load-row', name, track, note)
  if (word) node.title = meaningOf(word)
  node.setAttribute('role', 'row')
  name.setAttribute('role', 'rowheader')
  for (const cell of [track, note]) cell.setAttribute('role', 'cell')
  return {
    node,
    show: ({ series, known }) => {
      setText(value, known ? String(series.now) : '–')
      setText(most, series.most > series.now ? `most ${series.most}` : '')
      setText(unseenText, known ? `${series.now} ${what} now, at most ${series.most} in this picture` : 'not measured')
      const line = steps(series)
      setAttribute(curve, 'd', line)
      setAttribute(area, 'd', line === '' ? '' : `${line}V${UPWARDS}H${across(series.points[0]?.[0] ?? 0)}z`)
    },
  }
}

const across = (place: number): string => (place * ACROSS).toFixed(1)

function steps({ points, most }: Series): string {
  const up = (value: number): string => (UPWARDS - 3 - (most === 0 ? 0 : (value / most) * (UPWARDS * 0.8))).toFixed(1)
  return points.map(([place, value], i) => (i === 0 ? `M${across(place)} ${up(value)}` : `H${across(place)}V${up(value)}`)).join('')
}
