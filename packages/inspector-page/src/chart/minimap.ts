import { setAttribute, svg } from '../dom.ts'
import type { Viewport } from './viewport.ts'

/** A region of the picture, small. */
export interface MapRegion {
  readonly id: string
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/**
 * The whole picture in a corner, with the part that is seen: a click or a drag goes there. It is
 * there only while there is more than can be seen, and for pointers: keys have the regions
 * themselves.
 */
export class Minimap {
  readonly node = svg('svg', { class: 'minimap', 'aria-hidden': 'true' })
  readonly #regions = svg('g')
  readonly #window = svg('rect', { class: 'window' })
  readonly #viewport: () => Viewport
  #rects = new Map<string, SVGRectElement>()

  constructor(viewport: () => Viewport) {
    this.#viewport = viewport
    this.node.append(this.#regions, this.#window)
    const go = (event: PointerEvent): void => {
      if (event.buttons !== 1) return
      const { left, top, width, height } = this.node.getBoundingClientRect()
      const { size } = this.#viewport()
      this.#viewport().centre(((event.clientX - left) / width) * size.width, ((event.clientY - top) / height) * size.height)
    }
    this.node.addEventListener('pointerdown', (event) => {
      this.node.setPointerCapture(event.pointerId)
      go(event)
    })
    this.node.addEventListener('pointermove', go)
  }

  put(regions: readonly MapRegion[]): void {
    this.#rects = new Map(
      regions.map(({ id, x, y, width, height }) => [
        id,
        svg('rect', { x: String(x), y: String(y), width: String(width), height: String(height), rx: '8' }),
      ]),
    )
    this.#regions.replaceChildren(...this.#rects.values())
    this.look()
  }

  light(statuses: ReadonlyMap<string, string | undefined>): void {
    for (const [id, rect] of this.#rects) setAttribute(rect, 'class', statuses.get(id))
  }

  /** Another part is seen. */
  look(): void {
    const { size, seen } = this.#viewport()
    const isAll = seen.width >= size.width - 1 && seen.height >= size.height - 1
    this.node.toggleAttribute('hidden', isAll)
    if (isAll) return
    setAttribute(this.node, 'viewBox', `0 0 ${size.width} ${size.height}`)
    for (const name of ['x', 'y', 'width', 'height'] as const) setAttribute(this.#window, name, String(Math.round(seen[name])))
  }
}
