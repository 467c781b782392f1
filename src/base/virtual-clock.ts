import { checkArguments } from './arguments.ts'
import { A_COUNT, A_FUNCTION, A_NUMBER, checkOptions, type RulesOf } from './checked-options.ts'
import { type Clock, systemClock } from './clock.ts'
import { DURATION_MS_MAX, type Duration, parseDuration } from './duration.ts'
import { QuiesceError } from './errors.ts'
import { ProcessExit } from './thrown-exit.ts'

export interface VirtualClockOptions {
  /** What `now()` says at first, in milliseconds. Default 0. */
  readonly now?: number
  /** What `wall()` says at first, in milliseconds since the epoch. Default 2026-01-01T00:00:00Z. */
  readonly wall?: number
  /**
   * How many timers one `advance`, `runToNext` or `runToEnd` may run before it gives up. Default
   * 200 000.
   */
  readonly timersMax?: number
  /** How long `waitForTimers` waits, in real milliseconds, before it gives up. Default 5 000. */
  readonly waitMsMax?: number
  /**
   * False while something goes on that takes turns of the event loop but no time, such as bytes on
   * their way. Default: never.
   */
  readonly isQuiet?: () => boolean
}

const OPTION_RULES: RulesOf<VirtualClockOptions> = {
  now: A_NUMBER,
  wall: A_NUMBER,
  timersMax: A_COUNT,
  waitMsMax: A_COUNT,
  isQuiet: A_FUNCTION,
}

class Timer {
  readonly due: number
  /** Timers with the same due time run in the order in which they were set. */
  readonly order: number
  readonly fn: () => void
  keepsAlive = true

  constructor(due: number, order: number, fn: () => void) {
    this.due = due
    this.order = order
    this.fn = fn
  }

  /** Does nothing more than node's: a process does not stay alive for this timer. */
  unref(): this {
    this.keepsAlive = false
    return this
  }
}

/**
 * The real one, taken at import, so that a test runner's fake timers, installed later, cannot stop
 * the clock itself.
 */
export const realSetImmediate = setImmediate

/**
 * Turns of the event loop given to the code between two timers. One turn empties the microtask
 * queue and runs what `setImmediate` holds; the others are for code that chains such steps (a
 * stream needs two, the close of the listeners and the end of the last call two each, an xstate
 * actor none). What takes an unknown number of them says so by `isQuiet`. Sockets and files have no
 * such number: wait for their effect instead.
 */
const SETTLE_TURNS = 6
/** Turns after which something that is never quiet has to be a loop. */
const SETTLE_TURNS_MAX = 100_000

const WALL_AT_START = Date.UTC(2026, 0, 1)

/**
 * A clock that moves only by hand. Each timer runs at its own time, in order of due time and then
 * of setting, and the code under test is given its turn (promises, microtasks, `setImmediate`)
 * before and after each one, so that a timer set by a continuation of an earlier timer runs at its
 * own time too.
 *
 * Moves are queued: a second `advance` begins where the first one ended. A timer that throws
 * rejects the move that ran it and leaves the rest scheduled; one that ends the process ({@link
 * ProcessExit}) ends the move and {@link stop stops} the clock.
 */
export class VirtualClock implements Clock {
  #now: number
  readonly #wallOffset: number
  readonly #timersMax: number
  readonly #waitMsMax: number
  readonly #isQuiet: () => boolean
  /** Sorted by due time, then order. */
  readonly #timers: Timer[] = []
  #ordered = 0
  #isStopped = false
  #moves: Promise<unknown> = Promise.resolve()
  readonly #waiters = new Set<{ readonly count: number; readonly wake: () => void }>()

  constructor(options: VirtualClockOptions = {}) {
    checkArguments('new VirtualClock(options?)', [options, 'an object of options'])
    checkOptions('VirtualClock', options, OPTION_RULES)
    const { now = 0, wall = WALL_AT_START, timersMax = 200_000, waitMsMax = 5_000, isQuiet = () => true } = options
    this.#now = now
    this.#wallOffset = wall - now
    this.#timersMax = timersMax
    this.#waitMsMax = waitMsMax
    this.#isQuiet = isQuiet
  }

  now(): number {
    return this.#now
  }

  wall(): number {
    return this.#wallOffset + this.#now
  }

  /**
   * Sets a timer as {@link systemClock} does: a delay below zero is zero, one above 24.8 days is
   * 24.8 days.
   */
  setTimeout(fn: () => void, ms: number): unknown {
    checkArguments('setTimeout(fn, ms)', [fn, 'a function'], [ms, 'a number'])
    const delay = Math.min(Math.max(Number.isNaN(ms) ? 0 : ms, 0), DURATION_MS_MAX)
    const timer = new Timer(this.#now + delay, this.#ordered++, fn)
    if (this.#isStopped) return timer
    this.#timers.splice(this.#indexOf(timer), 0, timer)
    for (const waiter of this.#waiters) if (this.pending >= waiter.count) waiter.wake()
    return timer
  }

  /**
   * Resolves when so much time has passed: for handlers and hooks of a test.
   * @throws QuiesceError ERR_OPTION_INVALID for what is no duration from 0 to 24.8 days
   */
  sleep(duration: Duration): Promise<void> {
    const ms = parseDuration('VirtualClock.sleep', duration)
    return new Promise((resolve) => void this.setTimeout(resolve, ms))
  }

  /**
   * Drops every timer, and takes no new one: such is the end of a process. Time still moves. A
   * second call does nothing.
   */
  stop(): void {
    this.#isStopped = true
    this.#timers.length = 0
  }

  /**
   * A handle that has run, was cleared or is not ours is ignored, as node's `clearTimeout` does.
   */
  clearTimeout(handle: unknown): void {
    if (typeof handle !== 'object' || handle === null) return
    const index = this.#indexOf(handle as Timer)
    if (this.#timers[index] === handle) this.#timers.splice(index, 1)
  }

  /** How many timers are set. */
  get pending(): number {
    return this.#timers.length
  }

  /**
   * Moves time on by a duration (`2_000`, `'2s'`) and runs every timer that becomes due, those set
   * on the way included. With 0, time stands still and the code gets its turn.
   * @throws QuiesceError ERR_OPTION_INVALID for what is no duration from 0 to 24.8 days,
   * ERR_TIMEOUT after `timersMax` timers
   */
  advance(duration: Duration): Promise<void> {
    return this.#move(async () => {
      const end = this.#now + parseDuration('VirtualClock.advance', duration)
      if (await this.#run('advance', (next) => next.due <= end)) this.#now = end
    })
  }

  /**
   * Moves time to the next timer and runs it, together with all that are due at the same instant.
   * False when none was set.
   */
  runToNext(): Promise<boolean> {
    return this.#move(async () => {
      await this.#settle()
      const first = this.#timers[0]
      if (!first) return false
      await this.#run('runToNext', (next) => next.due <= first.due)
      return true
    })
  }

  /**
   * Moves time on from timer to timer until none is left that keeps a process alive; those that
   * were `unref()`ed stay unless they are due before.
   * @throws QuiesceError ERR_TIMEOUT after `timersMax` timers
   */
  runToEnd(): Promise<void> {
    return this.#move(async () => void (await this.#run('runToEnd', () => this.#timers.some(({ keepsAlive }) => keepsAlive))))
  }

  /**
   * Moves time on from timer to timer until `isOver` says so, asked after each one. False when no
   * timer was left before it did.
   * @throws QuiesceError ERR_TIMEOUT after `timersMax` timers
   */
  runUntil(isOver: () => boolean): Promise<boolean> {
    checkArguments('runUntil(isOver)', [isOver, 'a function'])
    return this.#move(async () => {
      await this.#run('runUntil', () => !isOver())
      return isOver()
    })
  }

  /**
   * Waits, without moving time, until at least `count` timers are set: until the code under test is
   * itself waiting.
   * @throws QuiesceError ERR_TIMEOUT when that has not happened within `waitMsMax` real
   * milliseconds.
   */
  async waitForTimers(count = 1): Promise<void> {
    checkArguments('waitForTimers(count?)', [count, 'a number'])
    await this.#settle()
    if (this.pending < count) await this.#untilPending(count)
    await this.#settle()
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

  /**
   * One move after another: two at once would run timers at each other's time. A failed move does
   * not fail the next.
   */
  #move<T>(move: () => Promise<T>): Promise<T> {
    const moved = this.#moves.then(move)
    this.#moves = moved.catch(() => undefined)
    return moved
  }

  /** False when a timer has ended the process. */
  async #run(move: string, isDue: (timer: Timer) => boolean): Promise<boolean> {
    for (let ran = 0; ; ran++) {
      await this.#settle()
      const next = this.#timers[0]
      if (!next || !isDue(next)) return true
      if (ran >= this.#timersMax) throw this.#endless(move)
      this.#timers.shift()
      this.#now = Math.max(this.#now, next.due)
      try {
        next.fn()
      } catch (thrown) {
        if (!(thrown instanceof ProcessExit)) throw thrown
        this.stop()
        return false
      }
    }
  }

  /** Gives the code its turn until nothing is under way any more. */
  async #settle(): Promise<void> {
    let quietTurns = 0
    for (let turn = 0; quietTurns < SETTLE_TURNS; turn++) {
      if (turn >= SETTLE_TURNS_MAX) {
        throw new QuiesceError(
          'ERR_TIMEOUT',
          `VirtualClock: never quiet in ${turn} turns of the event loop; something goes on for ever without time passing`,
          { turn, now: this.#now },
        )
      }
      await new Promise<void>((resolve) => realSetImmediate(resolve))
      quietTurns = this.#isQuiet() ? quietTurns + 1 : 0
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
