import type { Clock } from '../../base/clock.ts'
import { QuiesceError, toError } from '../../base/errors.ts'
import { type Limiter, RateLimiter, type Stop, stopAfter, watchDrainRate } from './rate-limiter.ts'

const REFUSED = 'add with positive delta after Wait is forbidden'

/**
 * Counts what is under way, and waits for its end. From the call of `wait()` on, no new member is
 * let in; JavaScript runs the check and the count as one step, so every `add` is either counted and
 * waited for, or refused. There is no third outcome. `wait()` itself has no bound: its caller has
 * one.
 *
 * @see kubernetes/apimachinery pkg/util/waitgroup/waitgroup.go SafeWaitGroup
 */
export class WaitGroup {
  #count = 0
  #empty: Promise<void> | undefined
  #resolveEmpty: (() => void) | undefined

  get count(): number {
    return this.#count
  }

  /** True from the first call of `wait()` on, for ever. */
  get waiting(): boolean {
    return this.#empty !== undefined
  }

  /**
   * The form for the request path: counts one and says true, or says false once `wait()` was
   * called. Never throws.
   */
  tryAdd(): boolean {
    if (this.#empty !== undefined) return false
    this.#count++
    return true
  }

  /**
   * Counts one although `wait()` was called, and says true, as long as others are still waited for:
   * the wait is not over then.
   */
  tryAddLate(): boolean {
    if (this.#count === 0) return false
    this.#count++
    return true
  }

  /**
   * Counts `delta`, which may be zero or negative at any time.
   * @throws QuiesceError ERR_WAIT_GROUP when `delta` is positive after `wait()` was called, or
   * would take the count below zero; the count is untouched then.
   */
  add(delta = 1): void {
    if (delta > 0 && this.waiting) throw new QuiesceError('ERR_WAIT_GROUP', REFUSED)
    const count = this.#count + delta
    if (!(count >= 0)) throw new QuiesceError('ERR_WAIT_GROUP', 'negative wait group counter', { count: this.#count, delta })
    this.#count = count
    if (count === 0) this.#resolveEmpty?.()
  }

  /**
   * @throws QuiesceError ERR_WAIT_GROUP when no member is counted: a `done` too many hides another
   * request.
   */
  done(): void {
    this.add(-1)
  }

  /**
   * Refuses all new members, and resolves when the count is zero. A second call gets the same
   * promise.
   */
  wait(): Promise<void> {
    this.#empty ??= new Promise((resolve) => {
      this.#resolveEmpty = resolve
      if (this.#count === 0) resolve()
    })
    return this.#empty
  }
}

/** A place in a {@link RateLimitedWaitGroup}. */
export interface Member {
  /** Leaves the group. A second call does nothing. */
  done(): void
}

/**
 * What a drain is paced and bounded by, decided when it begins and the number of members is known.
 */
export interface Pace {
  readonly limiter: Limiter
  readonly stop: Stop
  /** Observes the end of the wait, exactly once. */
  readonly cancel: () => void
}

export interface DrainResult {
  /** Members when the drain began. */
  readonly before: number
  /**
   * Members that had not left when it ended; 0 also when some who left still queue for their token.
   */
  readonly after: number
  /** Why it ended with members left: the stop's reason. */
  readonly error?: Error
}

/**
 * How many members that are to be told may queue at a time: so many, or a tenth of all if that is
 * more. To ask for a turn takes a microsecond or two; if ten thousand asked in one step, the turns
 * that are due meanwhile would go together when it is over (fifty of them, measured). A tenth is
 * what a process that was stopped for a while makes up for, afterwards.
 */
const QUEUED_MIN = 1000
const QUEUED_SHARE = 0.1

/** `in`: has not asked for its token. `queued`: has asked. `passed`: has had its answer. */
type Token = 'in' | 'queued' | 'passed'

class Seat implements Member {
  token: Token = 'in'
  left = false
  readonly goodbye: (() => void) | undefined
  readonly #leave: (seat: Seat) => void

  constructor(goodbye: (() => void) | undefined, leave: (seat: Seat) => void) {
    this.goodbye = goodbye
    this.#leave = leave
  }

  done(): void {
    if (this.left) return
    this.left = true
    this.#leave(this)
  }
}

/**
 * A wait group whose members leave at a limited rate once it is waited for, so that a server's
 * watches do not all reconnect to its peers in the same instant. While waiting, every member passes
 * the limiter exactly once:
 *
 * - a member with a *goodbye* queues for its token when the drain begins, in the order of joining;
 *   of many, the next one when one has passed ({@link QUEUED_MIN}). With the token its goodbye is
 *   called, and its own `done()` costs nothing more;
 * - a member without one queues when it leaves, and so holds the counter (not the visible count)
 *   until its token is there. So does a member that leaves before its goodbye, with the place in
 *   the queue that it already has, if it has one.
 *
 * A token that cannot come before the stop is refused, which ends the queueing like a grant: a wait
 * past the deadline is refused at once, and its member notified. Upstream knows only the second
 * kind: there a watch handler ends by itself on the shutdown signal and holds its response until
 * the token is granted. A node handler cannot be held back like that, so the token comes first.
 *
 * Joining and leaving are O(1); the group owns no timer.
 *
 * @see kubernetes/apimachinery pkg/util/waitgroup/ratelimited_waitgroup.go RateLimitedSafeWaitGroup
 */
export class RateLimitedWaitGroup {
  /** Members that have not left. */
  #visible = 0
  /** Members that have not left, or left and still queue for their token. */
  #held = 0
  #pace: Pace | undefined
  /**
   * The members that have not queued, in the order of joining. Only members that want to be told:
   * the others need no list.
   */
  readonly #toNotify = new Set<Seat>()
  /**
   * The next one of them, while waiting. One for all, because to begin anew is to pass over what
   * was deleted; not before, because it keeps every table that the set has ever had.
   */
  #nextToNotify: Iterator<Seat, undefined> | undefined
  readonly #whenEmpty = new Set<() => void>()
  readonly #leave = (seat: Seat): void => {
    this.#visible--
    this.#toNotify.delete(seat)
    if (!this.#pace) this.#release()
    else if (seat.token === 'passed') this.#release()
    else if (seat.token === 'in') this.#queue(seat, this.#pace)
  }

  /** The visible count: members that have not called `done()`. */
  get count(): number {
    return this.#visible
  }

  /**
   * The form for the request path: a place, or undefined once `wait()` was called. Never throws.
   */
  tryAdd(goodbye?: () => void): Member | undefined {
    return this.#pace ? undefined : this.#join(goodbye)
  }

  /**
   * The form for a member that joins after `wait()` was called, which goes on as long as others are
   * waited for: a place whose goodbye queues for its token like those of the others; undefined when
   * the wait is over.
   */
  tryAddLate(goodbye: () => void): Member | undefined {
    if (!this.#pace || this.#held === 0) return undefined
    const seat = this.#join(goodbye)
    this.#toNotify.delete(seat)
    this.#queue(seat, this.#pace)
    return seat
  }

  /**
   * Refuses new members, tells the members to leave at the pace that `factory` gives for their
   * number, and resolves when all have left with their token, or when the pace's stop is over. When
   * both are true at once, the first counts.
   *
   * A second call replaces pace and stop for those who have not queued yet. A factory that throws
   * rejects the promise and leaves the group as it was; none at all is answered as upstream does,
   * by a result with an error.
   */
  async wait(factory?: (visibleCount: number) => Pace): Promise<DrainResult> {
    if (!factory) return { before: 0, after: 0, error: new QuiesceError('ERR_WAIT_GROUP', 'rate limiter factory must be specified') }
    const before = this.#visible
    const pace = factory(before)
    this.#pace = pace
    this.#nextToNotify ??= this.#toNotify.values()
    const queued = Math.max(QUEUED_MIN, before * QUEUED_SHARE)
    for (let count = 0; count < queued; count++) this.#queueNext()
    try {
      if (this.#held > 0 && !pace.stop.signal.aborted) await this.#emptyOr(pace.stop.signal)
      const after = this.#visible
      return this.#held === 0 ? { before, after } : { before, after, error: toError(pace.stop.signal.reason) }
    } finally {
      pace.cancel()
    }
  }

  #join(goodbye: (() => void) | undefined): Seat {
    const seat = new Seat(goodbye, this.#leave)
    this.#visible++
    this.#held++
    if (goodbye) this.#toNotify.add(seat)
    return seat
  }

  #queueNext(): void {
    const seat = this.#nextToNotify?.next().value
    if (!seat || !this.#pace) return
    this.#toNotify.delete(seat)
    this.#queue(seat, this.#pace)
  }

  #queue(seat: Seat, { limiter, stop }: Pace): void {
    seat.token = 'queued'
    const pass = (): void => this.#pass(seat)
    // A limiter of the caller's may throw or reject; like a refusal, that ends the queueing and
    // nothing else.
    new Promise((resolve) => resolve(limiter.wait(stop))).then(pass, pass)
  }

  #pass(seat: Seat): void {
    seat.token = 'passed'
    if (seat.left) this.#release()
    else {
      try {
        seat.goodbye?.()
      } catch {
        // Its member counts as told.
      }
    }
    this.#queueNext()
  }

  #release(): void {
    this.#held--
    if (this.#held === 0) for (const wake of this.#whenEmpty) wake()
  }

  #emptyOr(stop: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        this.#whenEmpty.delete(end)
        stop.removeEventListener('abort', end)
        resolve()
      }
      this.#whenEmpty.add(end)
      stop.addEventListener('abort', end)
    })
  }
}

/**
 * The pace of a server's watch drain: {@link watchDrainRate} tokens per second, bounded by the
 * grace.
 *
 * @see kubernetes/apiserver pkg/server/genericapiserver.go RunWithContext
 */
export function watchDrainPace(clock: Clock, graceMs: number): (visibleCount: number) => Pace {
  return (visibleCount) => ({ limiter: new RateLimiter(clock, watchDrainRate(visibleCount, graceMs)), ...stopAfter(clock, graceMs) })
}
