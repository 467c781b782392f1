import { make, setStyle } from '../../dom.ts'

/** A part of the axis, as it was chosen. */
export interface BrushSelection {
  readonly one: number
  readonly other: number
}

export interface BrushOptions {
  /** Where it is dragged. */
  readonly area: HTMLElement
  /** Where the axis is, across the screen. */
  readonly axis: () => { readonly left: number; readonly width: number }
  readonly choose: (chosen: BrushSelection) => void
  readonly reset: () => void
}

/** Less than this is a click. */
const DRAG_PX = 5
/** The turn of a wheel that is a zoom by e. */
const WHEEL_PX = 300
const KEY_ZOOM = 0.25
const KEY_PAN = 0.15

/**
 * Choosing a part of the axis: by dragging over it, by Ctrl and the wheel, and by keys. A double
 * click or Escape shows all again.
 */
export class Brush {
  readonly node = make('div', 'brush')
  readonly #options: BrushOptions
  #from: number | undefined
  #fromPx = 0

  constructor(options: BrushOptions) {
    this.#options = options
    this.node.hidden = true
    const { area, reset } = options
    area.addEventListener('pointerdown', (event) => this.#begin(event))
    area.addEventListener('pointermove', (event) => this.#drag(event))
    area.addEventListener('pointerup', (event) => this.#end(event))
    area.addEventListener('pointercancel', () => this.#cancel())
    area.addEventListener('dblclick', reset)
    area.addEventListener('keydown', (event) => this.#key(event))
    area.addEventListener('wheel', (event) => this.#wheel(event), { passive: false })
  }

  /** Closer, or further away, about the middle or another place. */
  zoom(by: number, about = 0.5): void {
    const { choose } = this.#options
    choose({ one: about - about * by, other: about + (1 - about) * by })
  }

  #placeOf({ clientX }: MouseEvent): number {
    const { left, width } = this.#options.axis()
    return (clientX - left) / Math.max(1, width)
  }

  #begin(event: PointerEvent): void {
    const place = this.#placeOf(event)
    if (event.button !== 0 || place < 0 || place > 1) return
    this.#from = place
    this.#fromPx = event.clientX
  }

  #drag(event: PointerEvent): void {
    if (this.#from === undefined) return
    if (this.node.hidden && Math.abs(event.clientX - this.#fromPx) < DRAG_PX) return
    if (this.node.hidden) this.#options.area.setPointerCapture(event.pointerId)
    event.preventDefault()
    const to = Math.min(1, Math.max(0, this.#placeOf(event)))
    this.node.hidden = false
    setStyle(this.node, '--from', String(Math.min(this.#from, to)))
    setStyle(this.node, '--to', String(Math.max(this.#from, to)))
  }

  #end(event: PointerEvent): void {
    const from = this.#from
    const wasDragged = !this.node.hidden
    this.#cancel()
    if (from !== undefined && wasDragged) this.#options.choose({ one: from, other: Math.min(1, Math.max(0, this.#placeOf(event))) })
  }

  #cancel(): void {
    this.#from = undefined
    this.node.hidden = true
  }

  #wheel(event: WheelEvent): void {
    if (!event.ctrlKey) return
    event.preventDefault()
    this.zoom(Math.exp(event.deltaY / WHEEL_PX), Math.min(1, Math.max(0, this.#placeOf(event))))
  }

  #key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const { choose, reset } = this.#options
    const keys: Readonly<Record<string, () => void>> = {
      '+': () => this.zoom(1 - KEY_ZOOM),
      '=': () => this.zoom(1 - KEY_ZOOM),
      '-': () => this.zoom(1 / (1 - KEY_ZOOM)),
      ArrowLeft: () => choose({ one: -KEY_PAN, other: 1 - KEY_PAN }),
      ArrowRight: () => choose({ one: KEY_PAN, other: 1 + KEY_PAN }),
      Escape: reset,
      '0': reset,
    }
    const does = keys[event.key]
    if (!does) return
    if (!this.node.hidden) this.#cancel()
    does()
    event.preventDefault()
    event.stopPropagation()
  }
}
