import { SCALES, type Scale, type Span, spanOf, zoomed } from '../../core/axis.ts'
import { type Row, type RowItem, rowItemsOf, rowOf } from '../../core/rows.ts'
import { originOf, type View } from '../../core/view.ts'
import { element, Font, make, setStyle } from '../../dom.ts'
import type { Frame, Panel } from '../../frame.ts'
import { VirtualList } from '../../virtual-list.ts'
import { AxisMarks } from './axis-marks.ts'
import { Brush } from './brush.ts'
import { type RowDrawing, rowPart } from './gantt-row.ts'
import { LoadRows } from './load-rows.ts'

const SCALE_WORDS: Readonly<Record<Scale, string>> = { auto: 'Fit', deadline: 'To the deadline', life: 'Whole life' }
const ROW_REM = 1.45
const ROW_OF_TWO_REM = 2.35
const GROUP_REM = 1.9
/** The icon before a name, and the room around both. */
const BESIDE_NAME_REM = 3
const NAME_PART_MAX = 0.45
/** The mark before the name of a signal, and the room around both. */
const BESIDE_SIGNAL_PX = 16
/** Longer names than this stand before their bars, or in the tooltip. */
const ROOM_MAX = 0.4

/** What is drawn now. */
interface Drawing {
  readonly view: View
  readonly now: number
  readonly span: Span
}

/** The Gantt: load over time, then a row per phase and hook, all on one axis. */
export class TimelinePanel implements Panel {
  readonly #body = element('timeline-body')
  readonly #box = make('div', 'gantt')
  readonly #axis = new AxisMarks()
  readonly #loads = new LoadRows()
  readonly #rows: VirtualList<RowDrawing>
  readonly #redraw: () => void
  readonly #probes = { name: make('span', 'label'), signal: make('span', 'mark-word') }
  readonly #fonts = { name: new Font(this.#probes.name), signal: new Font(this.#probes.signal) }
  /** Whether the screen is narrow, where a name stands above its bar. */
  readonly #narrow = matchMedia('(max-width: 640px)')
  #scale: Scale = 'auto'
  #zoom: Span | undefined
  #items: { readonly of: readonly unknown[]; readonly drawings: readonly RowDrawing[]; readonly signals: readonly string[] } = {
    of: [],
    drawings: [],
    signals: [],
  }
  #drawing: Drawing | undefined
  #trackPx = 1
  /** What is beside the axis on its right, of which its head makes no use. */
  #besidePx = 0

  constructor(redraw: () => void) {
    this.#redraw = redraw
    const rows = make('div', 'rows')
    rows.setAttribute('role', 'rowgroup')
    const brush = new Brush({
      area: this.#body,
      axis: () => this.#axis.overlay.getBoundingClientRect(),
      choose: ({ one, other }) => this.#choose(one, other),
      reset: () => this.#reset(),
    })
    this.#axis.overlay.append(brush.node)
    this.#box.setAttribute('role', 'table')
    this.#box.setAttribute('aria-label', 'Load, phases and hooks over time')
    const probes = make('div', 'probes', this.#probes.name, this.#probes.signal)
    probes.setAttribute('aria-hidden', 'true')
    this.#box.append(this.#axis.head, this.#axis.overlay, headRow(), this.#loads.node, rows)
    this.#body.append(probes, this.#box)
    this.#rows = new VirtualList({
      scroll: this.#body,
      list: rows,
      keyOf: ({ item }: RowDrawing) => item.key,
      create: rowPart,
      rem: ({ item }) => (item.kind === 'group' ? GROUP_REM : this.#narrow.matches ? ROW_OF_TWO_REM : ROW_REM),
    })
    new ResizeObserver(() => this.#measure()).observe(this.#axis.overlay)
    element('scale').append(...SCALES.map((scale) => this.#scaleChoice(scale)))
    element('timeline-closer').addEventListener('click', () => brush.zoom(0.5))
    element('timeline-wider').addEventListener('click', () => brush.zoom(2))
  }

  draw(frame: Frame): void {
    const { view, now } = frame
    // Those of the whole journal: no row comes or goes while one goes through time.
    this.#read(frame.journal.last)
    // It counts from where the log and the slider count, also of a time before that.
    const span = { ...(this.#zoom ?? spanOf(view, now, this.#scale, this.#room())), origin: originOf(frame.journal.last) }
    this.#drawing = { view, now, span }
    this.#axis.draw(view, now, span, this.#trackPx, this.#besidePx)
    this.#loads.draw(frame, span)
    this.#rows.show(this.#items.drawings)
  }

  /** The rows, when others have come. */
  #read(view: View): void {
    const of = [view.opening, view.phases.size, view.life.hooks.size, view.setup?.hooks]
    if (of.every((each, i) => each === this.#items.of[i])) return
    const items = rowItemsOf(view)
    const rows = (item: Exclude<RowItem, { kind: 'group' }>): Row => {
      const { view, now, span } = this.#drawing as Drawing
      return rowOf(item, view, now, span)
    }
    const widthOf = (signal: string): number => this.#widthOf(signal)
    this.#items = {
      of,
      drawings: items.map((item) => ({ item, rowOf: rows, widthOf })),
      signals: [...view.phases.values()].flatMap(({ fires }) => fires),
    }
    this.#measure()
  }

  #widthOf(signal: string): number {
    return (this.#fonts.signal.width(signal) + BESIDE_SIGNAL_PX) / this.#trackPx
  }

  /** The room for the longest name behind a bar that ends now. */
  #room(): number {
    if (this.#narrow.matches) return 0
    return Math.min(ROOM_MAX, Math.max(0, ...this.#items.signals.map((signal) => this.#widthOf(signal))))
  }

  /** Names are not cut, as long as they leave more than half of the width to the axis. */
  #measure(): void {
    this.#axis.measure()
    for (const font of Object.values(this.#fonts)) font.refresh()
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
    const widths = this.#items.drawings.map(({ item }) => (item.kind === 'group' ? 0 : this.#fonts.name.width(item.name)))
    const wanted = Math.max(0, ...widths) + BESIDE_NAME_REM * rem
    const bodyPx = this.#body.clientWidth
    // Without any, the width that most have stays: what is drawn already would move.
    if (widths.length > 0) setStyle(this.#box, '--name', `${Math.ceil(Math.min(wanted, bodyPx * NAME_PART_MAX))}px`)
    this.#besidePx = this.#narrow.matches ? 0 : bodyPx - this.#axis.overlay.offsetLeft - this.#axis.overlay.offsetWidth
    const trackPx = Math.max(1, this.#axis.overlay.clientWidth)
    if (trackPx === this.#trackPx) return
    this.#trackPx = trackPx
    this.#redraw()
  }

  #choose(one: number, other: number): void {
    if (!this.#drawing) return
    this.#zoom = zoomed(this.#drawing.span, one, other, this.#drawing.view)
    this.#redraw()
  }

  #reset(): void {
    this.#zoom = undefined
    this.#redraw()
  }

  #scaleChoice(scale: Scale): HTMLElement {
    const input = make('input')
    Object.assign(input, { type: 'radio', name: 'scale', value: scale, checked: scale === this.#scale })
    // Also of the one that is chosen already: it shows all of it again.
    input.addEventListener('click', () => {
      this.#scale = scale
      this.#reset()
    })
    return make('label', 'choice', input, make('span', '', SCALE_WORDS[scale]))
  }
}

function headRow(): HTMLElement {
  const row = make('div', 'unseen')
  row.setAttribute('role', 'row')
  for (const name of ['Name', 'Over time', 'Took']) {
    const cell = make('div', '', name)
    cell.setAttribute('role', 'columnheader')
    row.append(cell)
  }
  return row
}
