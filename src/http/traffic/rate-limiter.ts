import type { Clock } from '../../base/clock.ts'
import { QuiesceError } from '../../base/errors.ts'

/** A deadline that is known from the start and can be ended early by hand. */
export interface Stop {
  /**
   * Aborted when it is over; `reason` says why (`ERR_TIMEOUT` at the deadline, `ERR_ABORTED` by
   * hand).
   */
  readonly signal: AbortSignal
  /** `clock.now()` at which it will be over at the latest; `Infinity` when only a hand ends it. */
  readonly deadline: number
}

/**
 * A stop `ms` milliseconds from now; `Infinity` for one without a deadline. Its maker must
 * `cancel()` it when it is no longer needed, because its timer keeps the process alive. A second
 * `cancel()`, or one after the deadline, does nothing.
 */
export function stopAfter(clock: Clock, ms: number): { readonly stop: Stop; readonly cancel: () => void } {
  const ending = new AbortController()
  const expire = (): void => ending.abort(new QuiesceError('ERR_TIMEOUT', 'deadline exceeded', { ms }))
  const bound = ms === Number.POSITIVE_INFINITY ? undefined : clock.setTimeout(expire, ms)
  return {
    stop: { signal: ending.signal, deadline: clock.now() + ms },
    cancel: () => {
      if (bound !== undefined) clock.clearTimeout(bound)
      ending.abort(new QuiesceError('ERR_ABORTED', 'cancelled'))
    },
  }
}

/** Hands out turns. Anything with this method can pace a drain; {@link RateLimiter} is ours. */
export interface Limiter {
  /**
   * True once the caller's turn has come; false as soon as it cannot come before `stop` is over.
   * Never rejects.
   */
  wait(stop: Stop): Promise<boolean>
}

interface Waiter {
  /** `clock.now()` of the turn. */
  readonly at: number
  readonly stop: Stop
  readonly answer: (granted: boolean) => void
}

/**
 * A token bucket that holds one token: the first turn is free, the next ones follow `1 /
 * ratePerSecond` apart, in the order of asking. Turns are given away when they are asked for, so a
 * caller whose turn would come after its deadline learns so at once and does not wait in vain. All
 * waiters share one queue and one timer: there may be 60 000.
 *
 * @see kubernetes/apiserver pkg/server/genericapiserver.go RunWithContext: golang.org/x/time/rate
 * with burst 1
 */
export class RateLimiter implements Limiter {
  readonly #clock: Clock
  readonly #intervalMs: number
  /** `clock.now()` at which the next token is there. */
  #nextAt = Number.NEGATIVE_INFINITY
  /** The waiters in order of `at`. */
  #queue: Waiter[] = []
  /**
   * How many at the queue's front have been answered; shifting them off one by one would be
   * quadratic.
   */
  #answered = 0
  #timer: unknown
  /** Stops with queued waiters; one listener each. */
  readonly #watched = new Set<AbortSignal>()

  /** @param ratePerSecond above zero; `Infinity` grants every turn at once */
  constructor(clock: Clock, ratePerSecond: number) {
    if (!(ratePerSecond > 0)) {
      throw new QuiesceError('ERR_OPTION_INVALID', `RateLimiter: ratePerSecond must be above zero, got ${ratePerSecond}`, { ratePerSecond })
    }
    this.#clock = clock
    this.#intervalMs = 1000 / ratePerSecond
  }

  wait(stop: Stop): Promise<boolean> {
    const now = this.#clock.now()
    const at = Math.max(now, this.#nextAt)
    if (stop.signal.aborted || at > stop.deadline) return Promise.resolve(false)
    this.#nextAt = at + this.#intervalMs
    if (at === now) return Promise.resolve(true)
    return new Promise((answer) => {
      this.#queue.push({ at, stop, answer })
      this.#watch(stop.signal)
      this.#arm()
    })
  }

  #watch(signal: AbortSignal): void {
    if (this.#watched.has(signal)) return
    this.#watched.add(signal)
    signal.addEventListener('abort', () => this.#refuse(signal), { once: true })
  }

  /** One timer, for the head of the queue. */
  #arm(): void {
    const head = this.#queue[this.#answered]
    if (!head || this.#timer !== undefined) return
    this.#timer = this.#clock.setTimeout(() => {
      this.#timer = undefined
      this.#grantDue()
      this.#arm()
    }, head.at - this.#clock.now())
  }

  /**
   * Answers every caller whose turn has come: several when the rate is finer than a timer, or the
   * process was stopped.
   */
  #grantDue(): void {
    const now = this.#clock.now()
    for (let head = this.#queue[this.#answered]; head && head.at <= now; head = this.#queue[this.#answered]) {
      this.#answered++
      head.answer(true)
    }
    if (this.#answered === this.#queue.length) {
      this.#queue = []
      this.#answered = 0
    }
  }

  /**
   * The end of a stop refuses all who wait under it. Others keep the turn they were given; turns
   * after the last are free again.
   */
  #refuse(signal: AbortSignal): void {
    this.#watched.delete(signal)
    const waiting = this.#queue.slice(this.#answered)
    const refused = waiting.filter((waiter) => waiter.stop.signal === signal)
    this.#queue = waiting.filter((waiter) => waiter.stop.signal !== signal)
    this.#answered = 0
    const last = this.#queue.at(-1)
    this.#nextAt = last ? last.at + this.#intervalMs : (refused[0]?.at ?? this.#nextAt)
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#arm()
    for (const waiter of refused) waiter.answer(false)
  }
}

/**
 * The slowest pace of a watch drain: below it, a small server would take its whole grace for a
 * handful of watches.
 */
export const WATCH_DRAIN_RATE_PER_SECOND_MIN = 200

/**
 * The share of the grace in which all watches are told; the rest of it is what the last of them has
 * for its end. Upstream tells all at once and spreads only the ends, over the whole grace: there a
 * handler's response can be held back. Measured: docs/performance.md.
 */
export const WATCH_NOTIFY_SHARE = 0.5

/**
 * How many watches per second are told to leave: all within the first {@link WATCH_NOTIFY_SHARE} of
 * the grace, never slower than {@link WATCH_DRAIN_RATE_PER_SECOND_MIN}. Without a grace there is
 * nothing to spread: `Infinity`.
 *
 * @see kubernetes/apiserver pkg/server/genericapiserver.go RunWithContext, the factory given to
 * WatchRequestWaitGroup.Wait
 */
export function watchDrainRate(count: number, graceMs: number): number {
  if (!(graceMs > 0)) return Number.POSITIVE_INFINITY
  return Math.max(WATCH_DRAIN_RATE_PER_SECOND_MIN, (count * 1000) / (graceMs * WATCH_NOTIFY_SHARE))
}
