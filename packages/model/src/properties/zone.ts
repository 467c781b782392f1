/**
 * A zone: all points in time at which something may stand, as upper bounds of differences of
 * instants (a difference bound matrix). Instant 0 is now, 1 is where the clock was started, every
 * further one is when a timer is due. Nothing else is known about durations, so a set of such
 * bounds is exact, not an estimate. Times are in whole nanoseconds: sums of fractions would not be
 * equal twice.
 */
export class Zone {
  readonly size: number
  /**
   * The distances, `size * size` entries, row by row: how much later the row's instant may be than
   * the column's. Always as tight as can be.
   */
  readonly #later: Float64Array

  private constructor(size: number, later: Float64Array) {
    this.size = size
    this.#later = later
  }

  /**
   * The clock starts now; each timer is due at some time up to its delay from now, or exactly then.
   */
  static start(timers: readonly { readonly delay: number; readonly isNew: boolean }[]): Zone {
    const size = timers.length + 2
    const later = new Float64Array(size * size).fill(Number.POSITIVE_INFINITY)
    const bound = (row: number, column: number, by: number): void => {
      later[row * size + column] = by
    }
    for (let i = 0; i < size; i++) bound(i, i, 0)
    bound(NOW, START, 0)
    bound(START, NOW, 0)
    timers.forEach(({ delay, isNew }, i) => {
      bound(i + FIRST_TIMER, NOW, delay)
      bound(NOW, i + FIRST_TIMER, isNew ? -delay : 0)
    })
    return new Zone(size, later).#tightened() as Zone
  }

  /** How much later one instant may be than another, at most. */
  latest(row: number, column: number): number {
    return this.#later[row * this.size + column] as number
  }

  /** Time passes, but no timer is missed. */
  passing(): Zone {
    const later = this.#later.slice()
    for (let column = 1; column < this.size; column++) later[column] = column < FIRST_TIMER ? Number.POSITIVE_INFINITY : 0
    return new Zone(this.size, later).#tightened() as Zone
  }

  /** The zone in which this timer is due; undefined when it cannot be the next. */
  due(timer: number): Zone | undefined {
    const later = this.#later.slice()
    const entry = timer * this.size
    later[entry] = Math.min(later[entry] as number, 0)
    return new Zone(this.size, later).#tightened()
  }

  /** The same with other timers: each is one that was there, or is due after a delay from now. */
  withTimers(timers: readonly (number | { readonly delay: number })[]): Zone {
    const from = [NOW, START, ...timers.map((timer) => (typeof timer === 'number' ? timer : NOW))]
    const shift = [0, 0, ...timers.map((timer) => (typeof timer === 'number' ? 0 : timer.delay))]
    const size = from.length
    const later = new Float64Array(size * size)
    for (let row = 0; row < size; row++)
      for (let column = 0; column < size; column++)
        later[row * size + column] =
          this.latest(from[row] as number, from[column] as number) + (shift[row] as number) - (shift[column] as number)
    return new Zone(size, later)
  }

  isWithin(other: Zone): boolean {
    return this.#later.every((by, i) => by <= (other.#later[i] as number))
  }

  /**
   * Every bound that follows from two others (Floyd and Warshall); undefined when they contradict
   * each other.
   */
  #tightened(): Zone | undefined {
    const { size } = this
    const later = this.#later
    for (let via = 0; via < size; via++)
      for (let row = 0; row < size; row++) {
        const first = later[row * size + via] as number
        for (let column = 0; column < size; column++) {
          const sum = first + (later[via * size + column] as number)
          if (sum < (later[row * size + column] as number)) later[row * size + column] = sum
        }
      }
    for (let i = 0; i < size; i++) if ((later[i * size + i] as number) < 0) return undefined
    return this
  }
}

export const NOW = 0
export const START = 1
export const FIRST_TIMER = 2
