import { countBefore } from './core/search.ts'
import { KeyedParts, type Part, setStyle } from './dom.ts'

export interface VirtualListOptions<T> {
  /** What scrolls. */
  readonly scroll: HTMLElement
  /** The list itself, somewhere inside of it. */
  readonly list: HTMLElement
  readonly keyOf: (item: T) => string
  readonly create: (item: T) => Part<T>
  /** The height of a row, in the root's font size. */
  readonly rem: (item: T) => number
  /** A row of the user's font size is not that high: what it says beside its line, in pixels. */
  readonly morePx?: (item: T) => number
  /** Whether all rows are as high as the first. */
  readonly even?: boolean
}

/** Rows beyond what is seen, on each side: what scrolls into view is there already. */
const BEYOND_PX = 200
const AROUND_ROWS = 1.5
/** The distance from the end within which it goes on scrolling. */
const NEAR_END_PX = 24

/**
 * A list of any length of which only those rows are in the document that are seen, and one that has
 * the focus. Nothing is measured while a frame is drawn: the size and the place of what scrolls are
 * kept from when they changed.
 */
export class VirtualList<T> {
  readonly #options: VirtualListOptions<T>
  readonly #parts: KeyedParts<Placed<T>>
  #items: readonly T[] = []
  /** Where each row begins, and where the last one ends; unused when all are as high. */
  #tops: readonly number[] = [0]
  #height = 0
  #row = 0
  #view = { top: 0, height: 0, offset: 0 }
  #rootPx = 16
  /** Stays in the document wherever it is. */
  #pinned: number | undefined
  #following = true

  constructor(options: VirtualListOptions<T>) {
    this.#options = options
    const { scroll, list, keyOf, create } = options
    list.classList.add('virtual')
    this.#parts = new KeyedParts(
      list,
      ({ item }: Placed<T>) => keyOf(item),
      ({ item }) => placedPart(create(item)),
    )
    scroll.addEventListener('scroll', () => this.#movedTo(scroll.scrollTop), { passive: true })
    new ResizeObserver(() => this.#resized()).observe(scroll)
    this.#resized()
  }

  /** Whether its end is seen. */
  get isAtEnd(): boolean {
    return this.#following
  }

  /** @param pinned index of a row that stays in the document */
  show(items: readonly T[], pinned?: number): void {
    this.#pinned = pinned
    if (items !== this.#items) {
      this.#items = items
      this.#place()
    }
    this.#draw()
  }

  /** The same items, some of which have become higher or lower. */
  replace(): void {
    this.#place()
    this.#draw()
  }

  scrollToEnd(): void {
    this.#scrollTo(this.#view.offset + this.#height - this.#view.height)
  }

  /** Scrolls as little as it takes for a row to be seen. */
  reveal(index: number): void {
    const [from, to] = [this.#topOf(index), this.#topOf(index + 1)]
    const { top, height, offset } = this.#view
    if (from + offset < top) this.#scrollTo(from + offset)
    else if (to + offset > top + height) this.#scrollTo(to + offset - height)
  }

  /**
   * Scrolls so that some of what is before and after the row is seen; where both are seen already,
   * nothing moves.
   */
  center(index: number): void {
    const [from, to] = [this.#topOf(index), this.#topOf(index + 1)]
    const { top, height, offset } = this.#view
    const around = Math.min(AROUND_ROWS * (to - from), Math.max(0, (height - (to - from)) / 2))
    const isSeen = from + offset - around >= top && to + offset + around <= top + height
    if (!isSeen) this.#scrollTo((from + to) / 2 + offset - height / 2)
  }

  /**
   * Scrolls without asking where it is then, and once all of the frame is drawn: scrolling takes a
   * layout.
   */
  #scrollTo(wanted: number): void {
    const { height, offset } = this.#view
    const top = Math.max(0, Math.min(wanted, offset + this.#height - height))
    if (top === this.#view.top) return
    this.#movedTo(top)
    queueMicrotask(() => {
      this.#options.scroll.scrollTop = this.#view.top
    })
  }

  #movedTo(top: number): void {
    this.#view = { ...this.#view, top }
    this.#following = this.#endIsSeen()
    this.#draw()
  }

  #endIsSeen(): boolean {
    const { top, height, offset } = this.#view
    return top + height >= offset + this.#height - NEAR_END_PX
  }

  #resized(): void {
    const { scroll, list } = this.#options
    const wasAtEnd = this.#following
    this.#rootPx = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
    const offset = list.getBoundingClientRect().top - scroll.getBoundingClientRect().top + scroll.scrollTop
    this.#view = { top: scroll.scrollTop, height: scroll.clientHeight, offset }
    this.#place()
    this.#draw()
    if (wasAtEnd) this.#following = true
  }

  #place(): void {
    const { rem, morePx = () => 0, even = false, list } = this.#options
    const [first] = this.#items
    const heightOf = (item: T): number => Math.round(rem(item) * this.#rootPx) + morePx(item)
    if (even) {
      this.#row = first === undefined ? 0 : heightOf(first)
      this.#height = this.#row * this.#items.length
    } else {
      const tops = [0]
      for (const item of this.#items) tops.push((tops.at(-1) as number) + heightOf(item))
      this.#tops = tops
      this.#height = tops.at(-1) as number
    }
    setStyle(list, 'height', `${this.#height}px`)
  }

  #topOf(index: number): number {
    return this.#options.even ? this.#row * index : (this.#tops[index] ?? this.#height)
  }

  /** The row at a place. */
  #indexAt(px: number): number {
    if (this.#options.even) return this.#row === 0 ? 0 : Math.floor(px / this.#row)
    return Math.max(0, countBefore(this.#tops, (top) => top <= px) - 1)
  }

  #draw(): void {
    const { top, height, offset } = this.#view
    const last = this.#items.length - 1
    const from = Math.max(0, this.#indexAt(top - offset - BEYOND_PX))
    const to = Math.min(last, this.#indexAt(top - offset + height + BEYOND_PX))
    const shown: Placed<T>[] = []
    for (let i = from; i <= to; i++) shown.push({ item: this.#items[i] as T, top: this.#topOf(i), index: i })
    const pinned = this.#pinned
    if (pinned !== undefined && pinned >= 0 && pinned <= last && (pinned < from || pinned > to)) {
      const placed = { item: this.#items[pinned] as T, top: this.#topOf(pinned), index: pinned }
      if (pinned < from) shown.unshift(placed)
      else shown.push(placed)
    }
    this.#parts.show(shown)
  }
}

interface Placed<T> {
  readonly item: T
  readonly top: number
  readonly index: number
}

function placedPart<T>({ node, show }: Part<T>): Part<Placed<T>> {
  return {
    node,
    show: ({ item, top }) => {
      setStyle(node as HTMLElement, '--top', `${top}px`)
      show(item)
    },
  }
}
