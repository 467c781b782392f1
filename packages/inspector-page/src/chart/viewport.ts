import { setStyle } from '../dom.ts'

const ZOOM = { min: 0.1, max: 4 }
/** The turn of a wheel that is a zoom by e. */
const WHEEL_PX = 300
/** Less than this is a click, and no drag. */
const DRAG_PX = 4
/**
 * The size before the user has chosen one: all of it, as long as that is easily read; else all of
 * its width, as long as that can be read at all.
 */
const LEGIBLE = { easily: 0.9, 'at all': 0.75 }

interface Place {
  readonly clientX: number
  readonly clientY: number
}

/**
 * A window onto a picture that is larger than it: scrolled as anything is, dragged by a mouse, and
 * zoomed at the pointer. What is looked at keeps its place, whatever changes.
 */
export class Viewport {
  readonly body: HTMLElement
  readonly #changed: () => void
  readonly #touches = new Map<number, Place>()
  #picture: SVGSVGElement | undefined
  #size = { width: 1, height: 1 }
  #zoom: number | 'first' | 'fit' = 'first'
  #drag: { readonly at: Place; readonly left: number; readonly top: number; moved: boolean } | undefined

  /** @param changed called when another part of the picture is seen */
  constructor(body: HTMLElement, changed: () => void) {
    this.body = body
    this.#changed = changed
    // As in every map: with Ctrl, which a pinch on a touchpad sends as well, at the pointer.
    body.addEventListener('wheel', (event) => this.#wheel(event), { passive: false })
    body.addEventListener('pointerdown', (event) => this.#press(event))
    body.addEventListener('pointermove', (event) => this.#move(event))
    for (const type of ['pointerup', 'pointercancel', 'lostpointercapture'] as const)
      body.addEventListener(type, (event) => this.#release(event))
    body.addEventListener('click', (event) => this.#click(event), { capture: true })
    body.addEventListener('scroll', changed, { passive: true })
    new ResizeObserver(() => this.#resize()).observe(body)
  }

  /** A picture in place of the one before, in the same size of text. */
  put(picture: SVGSVGElement): void {
    const { width, height } = picture.viewBox.baseVal
    this.#picture = picture
    this.#size = { width: width || 1, height: height || 1 }
    this.#resize()
  }

  get size(): { readonly width: number; readonly height: number } {
    return this.#size
  }

  get scale(): number {
    if (typeof this.#zoom === 'number') return this.#zoom
    // Both are rounded, and may be more than there is.
    const [width, height] = [this.body.clientWidth - 1, this.body.clientHeight - 1]
    const fit = Math.min(1, width / this.#size.width, height / this.#size.height)
    const first = Math.min(LEGIBLE.easily, Math.max(LEGIBLE['at all'], width / this.#size.width))
    return this.#zoom === 'fit' ? fit : Math.max(first, fit)
  }

  /** The part of the picture that is seen, in its own units. */
  get seen(): { readonly x: number; readonly y: number; readonly width: number; readonly height: number } {
    const { left, top } = this.#pictureRect()
    const body = this.body.getBoundingClientRect()
    const { scale } = this
    const [x, y] = [Math.max(0, (body.left - left) / scale), Math.max(0, (body.top - top) / scale)]
    return {
      x,
      y,
      width: Math.min(this.#size.width - x, this.body.clientWidth / scale),
      height: Math.min(this.#size.height - y, this.body.clientHeight / scale),
    }
  }

  fit(): void {
    this.#keeping(() => {
      this.#zoom = 'fit'
    })
  }

  /** @param at what keeps its place; the middle of what is seen without one */
  zoomBy(factor: number, at?: Place): void {
    this.#keeping(() => {
      this.#zoom = Math.min(ZOOM.max, Math.max(ZOOM.min, this.scale * factor))
    }, at)
  }

  /** Brings the middle of what is seen to a place of the picture, in its own units. */
  centre(x: number, y: number): void {
    const { left, top } = this.#pictureRect()
    const body = this.body.getBoundingClientRect()
    this.body.scrollBy({
      left: left + x * this.scale - (body.left + this.body.clientWidth / 2),
      top: top + y * this.scale - (body.top + this.body.clientHeight / 2),
      behavior: 'instant',
    })
  }

  /**
   * Scrolls no further than needed to have all of these in view; as many of the first ones as fit.
   */
  reveal(elements: readonly Element[]): void {
    const body = this.body.getBoundingClientRect()
    const room = { width: this.body.clientWidth - 2 * MARGIN, height: this.body.clientHeight - 2 * MARGIN }
    let box: Edges | undefined
    for (const element of elements) {
      const both = around(element.getBoundingClientRect(), box)
      if (box && (both.right - both.left > room.width || both.bottom - both.top > room.height)) break
      box = both
    }
    if (!box) return
    const left = shift(box.left, box.right, body.left + MARGIN, body.left + MARGIN + room.width)
    const top = shift(box.top, box.bottom, body.top + MARGIN, body.top + MARGIN + room.height)
    if (left === 0 && top === 0) return
    this.body.scrollBy({ left, top, behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'instant' : 'smooth' })
  }

  /** Changes the picture, and leaves an element where it was. */
  holding(before: Element | undefined, change: () => Element | undefined): void {
    const was = before?.getBoundingClientRect()
    const after = change()?.getBoundingClientRect()
    if (was && after) this.body.scrollBy({ left: after.left - was.left, top: after.top - was.top, behavior: 'instant' })
    this.#changed()
  }

  #keeping(change: () => void, at?: Place): void {
    const body = this.body.getBoundingClientRect()
    const { clientX, clientY } = at ?? {
      clientX: body.left + this.body.clientWidth / 2,
      clientY: body.top + this.body.clientHeight / 2,
    }
    const before = this.#pictureRect()
    const [x, y] = [(clientX - before.left) / this.scale, (clientY - before.top) / this.scale]
    change()
    this.#resize()
    const after = this.#pictureRect()
    this.body.scrollBy({ left: after.left + x * this.scale - clientX, top: after.top + y * this.scale - clientY, behavior: 'instant' })
    this.#changed()
  }

  #pictureRect(): DOMRect {
    return (this.#picture ?? this.body).getBoundingClientRect()
  }

  #resize(): void {
    if (!this.#picture) return
    const { scale } = this
    setStyle(this.#picture, 'width', `${Math.floor(this.#size.width * scale)}px`)
    setStyle(this.#picture, 'height', `${Math.floor(this.#size.height * scale)}px`)
    this.#changed()
  }

  #wheel(event: WheelEvent): void {
    if (!event.ctrlKey && !event.metaKey) return
    event.preventDefault()
    this.zoomBy(Math.exp(-event.deltaY / WHEEL_PX), event)
  }

  #press(event: PointerEvent): void {
    if (event.pointerType === 'touch') {
      this.#touches.set(event.pointerId, event)
      return
    }
    if (event.button !== 0) return
    this.#drag = { at: event, left: this.body.scrollLeft, top: this.body.scrollTop, moved: false }
  }

  #move(event: PointerEvent): void {
    if (event.pointerType === 'touch') {
      this.#pinch(event)
      return
    }
    const drag = this.#drag
    if (!drag) return
    const [x, y] = [event.clientX - drag.at.clientX, event.clientY - drag.at.clientY]
    if (!drag.moved && Math.hypot(x, y) < DRAG_PX) return
    if (!drag.moved) this.body.setPointerCapture(event.pointerId)
    drag.moved = true
    this.body.scrollTo({ left: drag.left - x, top: drag.top - y, behavior: 'instant' })
  }

  /** Two fingers zoom about their middle; one scrolls, which the browser does. */
  #pinch(event: PointerEvent): void {
    const before = [...this.#touches.values()]
    if (!this.#touches.has(event.pointerId)) return
    this.#touches.set(event.pointerId, event)
    const after = [...this.#touches.values()]
    if (before.length !== 2) return
    const apart = ([a, b]: readonly Place[]): number => (a && b ? Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY) : 1)
    const [a, b] = after as [Place, Place]
    this.zoomBy(apart(after) / apart(before), { clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2 })
  }

  #release(event: PointerEvent): void {
    this.#touches.delete(event.pointerId)
    // The click that follows a drag is none.
    if (!this.#drag?.moved) this.#drag = undefined
  }

  #click(event: MouseEvent): void {
    if (!this.#drag?.moved) return
    event.stopPropagation()
    this.#drag = undefined
  }
}

type Edges = Pick<DOMRect, 'left' | 'top' | 'right' | 'bottom'>

/** Around what is brought into view. */
const MARGIN = 12

const around = (a: Edges, b: Edges | undefined): Edges =>
  b
    ? {
        left: Math.min(a.left, b.left),
        top: Math.min(a.top, b.top),
        right: Math.max(a.right, b.right),
        bottom: Math.max(a.bottom, b.bottom),
      }
    : a

/** How far to go so that a stretch is inside of a window; its beginning, if it is longer. */
function shift(from: number, to: number, start: number, end: number): number {
  if (from < start || to - from > end - start) return from - start
  return to > end ? to - end : 0
}
