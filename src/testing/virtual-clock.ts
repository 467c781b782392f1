import { type Clock, systemClock } from '../actors/clock.ts'
import { QuiesceError } from '../errors.ts'
import { DURATION_MS_MAX } from '../options/duration.ts'

export interface VirtualClockOptions {
  /** What `now()` says at first, in milliseconds. Default 0. */
  readonly now?: number
  /** What `wall()` says at first, in milliseconds since the epoch. Default 2026-01-01T00:00:00Z. */
  readonly wall?: number
  /** How many timers one `advance`, `runToNext` or `runToEnd` may run before it gives up. Default 200 000. */
  readonly timersMax?: number
  /** How long `waitForTimers` waits, in real milliseconds, before it gives up. Default 5 000. */
  readonly waitMsMax?: number
}

interface Timer {
  readonly due: number
  /** Timers with the same due time run in the order in which they were set. */
  readonly order: number
  readonly fn: () => void
}

/** Taken at import, so that a test runner's fake timers, installed later, cannot stop the clock itself. */
const realSetImmediate = setImmediate

/**
 * Turns of the event loop given to the code between two timers. One turn empties the microtask queue and runs what
 * `setImmediate` holds; the others are for code that chains such steps (a stream needs two, an xstate actor none).
 * Sockets and files have no such number: wait for their effect instead.
 */
const SETTLE_TURNS = 4

const WALL_AT_START = Date.UTC(2026, 0, 1)

/**
 * A clock that moves only by hand. Each timer runs at its own time, in order of due time and then of setting, and the code
 * under test is given its turn (promises, microtasks, `setImmediate`) before and after each one, so that a timer set by a
 * continuation of an earlier timer runs at its own time too.
 *
 * Moves are queued: a second `advance` begins where the first one ended. A timer that throws rejects the move that ran it
 * and leaves the rest scheduled.
 */
export class VirtualClock implements Clock {
  #now: number
  readonly #wallOffset: number
  readonly #timersMax: number
  readonly #waitMsMax: number
  /** Sorted by due time, then order. */
  readonly #timers: Timer[] = []
  #ordered = 0
  #moves: Promise<unknown> = Promise.resolve()
  readonly #waiters = new Set<{ readonly count: number; readonly wake: () => void }>()

  constructor({ now = 0, wall = WALL_AT_START, timersMax = 200_000, waitMsMax = 5_000 }: VirtualClockOptions = {}) {
    this.#now = now
    this.#wallOffset = wall - now
    this.#timersMax = timersMax
    this.#waitMsMax = waitMsMax
  }

  now(): number {
    return this.#now
  }

  wall(): number {
    return this.#wallOffset + this.#now
  }

  /** As {@link systemClock}: a delay below zero is zero, one above 24.8 days is 24.8 days. */
  setTimeout(fn: () => void, ms: number): unknown {
    const delay = Math.min(Math.max(Number.isNaN(ms) ? 0 : ms, 0), DURATION_MS_MAX)
    const timer: Timer = { due: this.#now + delay, order: this.#ordered++, fn }
    this.#timers.splice(this.#indexOf(timer), 0, timer)
    for (const waiter of this.#waiters) if (this.pending >= waiter.count) waiter.wake()
    return timer
  }

  /** A handle that has run, was cleared or is not ours is ignored, as node's `clearTimeout` does. */
  clearTimeout(handle: unknown): void {
    if (typeof handle !== 'object' || handle === null) return
    const index = this.#indexOf(handle as Timer)
    if (this.#timers[index] === handle) this.#timers.splice(index, 1)
  }

  /** How many timers are set. */
  get pending(): number {
    return this.#timers.length
  }

  /** Moves time on by `ms` milliseconds and runs every timer that becomes due, those set on the way included. */
  advance(ms: number): Promise<void> {
    if (!(ms >= 0) || ms === Number.POSITIVE_INFINITY) {
      return Promise.reject(
        new QuiesceError('ERR_OPTION_INVALID', `VirtualClock.advance: time moves forward, by a finite number; got ${ms}`),
      )
    }
    return this.#move(async () => {
      const end = this.#now + ms
      await this.#run('advance', (next) => next.due <= end)
      this.#now = end
    })
  }

  /** Moves time to the next timer and runs it, together with all that are due at the same instant. False when none was set. */
  runToNext(): Promise<boolean> {
    return this.#move(async () => {
      await settle()
      const first = this.#timers[0]
      if (!first) return false
      await this.#run('runToNext', (next) => next.due <= first.due)
      return true
    })
  }

  /** Moves time on from timer to timer until none is left. */
  runToEnd(): Promise<void> {
    return this.#move(() => this.#run('runToEnd', () => true))
  }

  /**
   * Waits, without moving time, until at least `count` timers are set: until the code under test is itself waiting.
   * @throws QuiesceError ERR_TIMEOUT when that has not happened within `waitMsMax` real milliseconds.
   */
  async waitForTimers(count = 1): Promise<void> {
    await settle()
    if (this.pending < count) await this.#untilPending(count)
    await settle()
  }

  #untilPending(count: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#waiters.delete(waiter)
        systemClock.clearTimeout(bound)
      }
      const waiter = {
        count,
        wake: () => {
          end()
          resolve()
        },
      }
      const bound = systemClock.setTimeout(() => {
        end()
        reject(
          new QuiesceError(
            'ERR_TIMEOUT',
            `VirtualClock.waitForTimers: ${this.pending} of ${count} timers set after ${this.#waitMsMax} real milliseconds (waitMsMax)`,
            { pending: this.pending, count, waitMsMax: this.#waitMsMax },
          ),
        )
      }, this.#waitMsMax)
      this.#waiters.add(waiter)
    })
  }

  /** One move after another: two at once would run timers at each other's time. A failed move does not fail the next. */
  #move<T>(move: () => Promise<T>): Promise<T> {
    const moved = this.#moves.then(move)
    this.#moves = moved.catch(() => undefined)
    return moved
  }

  async #run(move: string, isDue: (timer: Timer) => boolean): Promise<void> {
    for (let ran = 0; ; ran++) {
      await settle()
      const next = this.#timers[0]
      if (!next || !isDue(next)) return
      if (ran >= this.#timersMax) throw this.#endless(move)
      this.#timers.shift()
      this.#now = Math.max(this.#now, next.due)
      next.fn()
    }
  }

  #endless(move: string): QuiesceError {
    return new QuiesceError(
      'ERR_TIMEOUT',
      `VirtualClock.${move}: ${this.#timersMax} timers have run and ${this.pending} are set still; something sets a new one for ever (timersMax)`,
      { timersMax: this.#timersMax, now: this.#now, pending: this.pending },
    )
  }

  /** Where `timer` stands or would stand: binary search over (due, order). */
  #indexOf(timer: Timer): number {
    let low = 0
    let high = this.#timers.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = this.#timers[middle] as Timer
      if (other.due < timer.due || (other.due === timer.due && other.order < timer.order)) low = middle + 1
      else high = middle
    }
    return low
  }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < SETTLE_TURNS; turn++) await new Promise<void>((resolve) => realSetImmediate(resolve))
}
