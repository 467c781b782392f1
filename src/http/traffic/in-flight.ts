import type { Clock } from '../../base/clock.ts'
import type { RefusalKind } from '../../base/wording.ts'
import type { Mode } from '../../machines/wiring.ts'
import type { ExchangeView } from '../chain.ts'
import type { Declared, Exchange } from './exchange.ts'
import { isExempt } from './exempt.ts'
import { stopAfter, WATCH_NOTIFY_SHARE } from './rate-limiter.ts'
import { type DrainResult, type Member, RateLimitedWaitGroup, WaitGroup, watchDrainPace } from './wait-group.ts'

const SHUTTING_DOWN = 'the server is shutting down'

/**
 * What becomes of a new request: let in; let in and told to leave, because it comes in the last
 * call; refused.
 */
type Admission = 'open' | 'last-call' | 'closed'

/** Whether a request lasts, or undefined for what is decided by its handler and its answer. */
export type LongRunning = (request: ExchangeView['request']) => boolean | undefined

/**
 * What has been let in and is not over, in the two groups that are drained apart: requests and
 * watches. {@link admit} is one synchronous step from the question to the count, so that nothing
 * slips in behind a drain that begins.
 *
 * @see kubernetes/apiserver pkg/server/filters with_retry_after.go, waitgroup.go,
 * watch_termination.go
 */
export class InFlight {
  /** Shared with whatever else joins the request drain. */
  readonly requests = new WaitGroup()
  readonly #watches = new RateLimitedWaitGroup()
  /** Last requests, when the drain of requests is over: that of watches waits for them as well. */
  readonly #lateRequests = new WaitGroup()
  readonly #placeOfRequest: Member = { done: () => this.#lateRequests.done() }
  readonly #clock: Clock
  readonly #mode: Mode
  readonly #exempt: readonly string[]
  readonly #isLongRunning: LongRunning
  /**
   * `clock.now()` until which a request may still turn into a watch: from then on it would have
   * less time than all others had.
   */
  #joinUntil = Number.POSITIVE_INFINITY
  /** `clock.now()` at which the request drain is cut. */
  #answersUntil = Number.POSITIVE_INFINITY
  /** `clock.now()` at which both drains are. */
  #cutAt = Number.POSITIVE_INFINITY
  /** How long a connection is held for its last request. */
  #lastCallMs = 0
  /** `clock.now()` at which the grace of the watches is over; 0 before its begin. */
  #watchesEndBy = 0
  #admission: Admission = 'open'
  /**
   * A connection that was never told has its last call also after that of all the others: one
   * request, while others are waited for.
   */
  #hasLateCalls = false
  #admittedLast = 0
  /** Requests and holds that were under way at {@link stopAccepting}. */
  #underWay = 0
  /** Connections whose requests are still to be let in and are waited for, in each group. */
  readonly #arriving = new Map<WaitGroup, number>()

  constructor(clock: Clock, mode: Mode, isLongRunning: LongRunning, exempt: readonly string[] = []) {
    this.#exempt = exempt
    this.#clock = clock
    this.#mode = mode
    this.#isLongRunning = isLongRunning
  }

  get watchCount(): number {
    return this.#watches.count
  }

  /** Requests that the drain waits for, and holds; not those that are still to be let in. */
  get requestCount(): number {
    return this.#withoutArriving(this.requests) + this.#withoutArriving(this.#lateRequests)
  }

  /** Whether the drain of requests is over. */
  get areRequestsDrained(): boolean {
    return this.requests.waiting && this.requests.count === 0
  }

  /** Requests that were let in since {@link stopAccepting}. */
  get admittedLast(): number {
    return this.#admittedLast
  }

  /** Requests and holds that were under way then, and what was let in since. */
  get toDrain(): number {
    return this.#underWay + this.#admittedLast
  }

  /**
   * Lets in only what is exempt from now on, and in the mode `refuse` with a last call what comes
   * on connections that are there.
   * @param lastCallMs 0: there is no last call
   * @param answersUntil `clock.now()` at which the request drain is cut
   * @param cutAt the same for both drains
   */
  stopAccepting(lastCallMs: number, answersUntil: number, cutAt: number): void {
    this.#underWay = this.requestCount
    this.#lastCallMs = lastCallMs
    this.#answersUntil = answersUntil
    this.#cutAt = cutAt
    const isServing = lastCallMs > 0 && this.#mode === 'refuse'
    this.#admission = isServing ? 'last-call' : 'closed'
    this.#hasLateCalls = isServing
  }

  /** The last call is over. */
  endLastCall(): void {
    this.#admission = 'closed'
  }

  /** A drain is cut: what came now could not be answered. */
  endLateCalls(): void {
    this.#hasLateCalls = false
  }

  /**
   * Has a drain wait for requests that are still to be let in, until the result is called, once.
   * Undefined where they would be refused, or would have less time to be answered than to arrive.
   */
  awaitArrival(leftMs: number): (() => void) | undefined {
    const group = this.#hasLateCalls ? this.#joinDrain(2 * leftMs) : undefined
    if (!group) return undefined
    this.#arrive(group, 1)
    return () => {
      this.#arrive(group, -1)
      group.done()
    }
  }

  /** Whether it is refused in the mode retry-after, whatever it asks for. */
  asksToRetry({ request }: Exchange): boolean {
    return this.#mode === 'retry-after' && this.#admission !== 'open' && !isExempt(request, this.#exempt)
  }

  /**
   * Lets an exchange in and counts it, or says how to refuse it. What is exempt is counted while
   * its group is open and passes uncounted afterwards; a watch has no exemption from the watch
   * drain, since that would wait for it. What is let in as a last call tells its client to leave,
   * so that no connection has a second one.
   */
  admit(exchange: Exchange): RefusalKind | undefined {
    const { request } = exchange
    // What a step before this one has said is not asked again.
    exchange.declaredAs ??= declarationOf(this.#isLongRunning(request))
    const isWatch = exchange.isUpgrade || exchange.declaredAs === 'watch'
    if (this.#admission !== 'open' && !isExempt(request, this.#exempt)) {
      if (isWatch ? this.#joinLastWatch(exchange) : this.#joinLast(exchange)) return undefined
      return isWatch ? 'watch' : 'not-accepting'
    }
    if (isWatch) return this.#joinWatches(exchange) ? undefined : 'watch'
    if (this.count(exchange) || isExempt(request, this.#exempt)) return undefined
    return 'not-accepting'
  }

  /**
   * Counts an exchange that needs no admission; false, and uncounted, once the request drain has
   * begun.
   */
  count(exchange: Exchange): boolean {
    if (!this.requests.tryAdd()) return false
    exchange.countedAs = 'request'
    return true
  }

  #joinLast(exchange: Exchange): boolean {
    const hasJoined = this.#admission === 'last-call' ? this.count(exchange) : this.#hasLateCalls && this.#countLate(exchange)
    if (hasJoined) {
      const { connection } = exchange
      // One that can be told at any time is when the listeners have closed, beside what it asks.
      if (!connection.wire.notifiesAnyTime) exchange.mustNotify = true
      else if (this.#admission === 'closed') connection.notifyIn(0)
      this.#admittedLast++
    }
    return hasJoined
  }

  /**
   * Lets a watch in as a last request, and has it told to end in its turn, or at once where the
   * turns are over: its client connects elsewhere then, as those of all others do. One that would
   * have less time than a last call is refused.
   */
  #joinLastWatch(exchange: Exchange): boolean {
    const isInTime = this.#clock.now() + this.#lastCallMs < this.#watchesEndBy
    if (!isInTime || !this.#joinLast(exchange)) return false
    this.moveToWatches(exchange)
    return true
  }

  #countLate(exchange: Exchange): boolean {
    const group = this.#joinDrain(0)
    if (!group) return false
    exchange.countedAs = 'request'
    if (group === this.#lateRequests) exchange.member = this.#placeOfRequest
    return true
  }

  /**
   * Joins the drain of requests, which goes on for `ms` if need be, or, when that is over, the
   * drain of watches: only if at least the time of one last call is left of it.
   */
  #joinDrain(ms: number): WaitGroup | undefined {
    const now = this.#clock.now()
    if (now + ms < this.#answersUntil && join(this.requests)) return this.requests
    const isInTime = now + Math.max(ms, this.#lastCallMs) < Math.min(this.#watchesEndBy, this.#cutAt)
    return isInTime && join(this.#lateRequests) ? this.#lateRequests : undefined
  }

  #arrive(group: WaitGroup, connections: number): void {
    this.#arriving.set(group, (this.#arriving.get(group) ?? 0) + connections)
  }

  #withoutArriving(group: WaitGroup): number {
    return group.count - (this.#arriving.get(group) ?? 0)
  }

  over(exchange: Exchange): void {
    if (exchange.member) exchange.member.done()
    else if (exchange.countedAs === 'request') this.requests.done()
  }

  /** First in, then out: at no instant is it in neither group. */
  moveToWatches(exchange: Exchange): void {
    if (exchange.isOver || exchange.countedAs !== 'request') return
    const { member } = exchange
    const hasJoined = this.#joinWatches(exchange) || this.#joinWatchDrain(exchange)
    if (!hasJoined) notifySoon(exchange, this.#watchesEndBy)
    else if (member) member.done()
    else this.requests.done()
  }

  /**
   * The same in the other direction. One that was told already stays a watch, because that cannot
   * be taken back; and so does one that no drain of requests waits for any more.
   */
  moveToRequests(exchange: Exchange): void {
    if (exchange.isOver || exchange.countedAs !== 'watch' || exchange.isUpgrade || exchange.wasAskedToEnd) return
    const { member } = exchange
    if (!join(this.requests)) return
    exchange.member = undefined
    exchange.countedAs = 'request'
    member?.done()
  }

  /** Resolves when every request is over. */
  drainRequests(): Promise<void> {
    return this.requests.wait()
  }

  /**
   * Tells the watches to end, one after the other in the first part of the grace, so that each has
   * the rest of it, and resolves when all have ended or the grace is over. Without a grace all are
   * told at once and none is waited for.
   */
  async drainWatches(graceMs: number): Promise<DrainResult> {
    const begunAt = this.#clock.now()
    const deadline = begunAt + graceMs
    this.#watchesEndBy = deadline
    this.#joinUntil = begunAt + graceMs * WATCH_NOTIFY_SHARE
    const { before, after, error } = await this.#watches.wait(watchDrainPace(this.#clock, graceMs))
    const { stop, cancel } = stopAfter(this.#clock, Math.max(0, deadline - this.#clock.now()))
    // As long as there are watches, there may be a last request after one.
    if (!error) await Promise.race([this.#lateRequests.wait(), aborted(stop.signal)])
    cancel()
    return { before, after: after + this.#withoutArriving(this.#lateRequests), ...(error && { error }) }
  }

  #joinWatches(exchange: Exchange): boolean {
    return joined(
      exchange,
      this.#watches.tryAdd(() => this.#sayGoodbye(exchange)),
    )
  }

  /**
   * Joins the watch drain while that is under way, and leaves it as much time as every other watch
   * has.
   */
  #joinWatchDrain(exchange: Exchange): boolean {
    if (this.#clock.now() > this.#joinUntil) return false
    return joined(
      exchange,
      this.#watches.tryAddLate(() => this.#sayGoodbye(exchange)),
    )
  }

  #sayGoodbye(exchange: Exchange): void {
    exchange.askToEnd(SHUTTING_DOWN, this.#watchesEndBy)
  }
}

function joined(exchange: Exchange, member: Member | undefined): boolean {
  if (!member) return false
  exchange.member = member
  exchange.countedAs = 'watch'
  return true
}

/**
 * Notifies in a step of its own: a handler that asks for its signal, or has just written its head,
 * listens or goes on first.
 */
const notifySoon = (exchange: Exchange, endBy: number): void => queueMicrotask(() => exchange.askToEnd(SHUTTING_DOWN, endBy))

const declarationOf = (isLongRunning: boolean | undefined): Declared | undefined =>
  isLongRunning === undefined ? undefined : isLongRunning ? 'watch' : 'request'

const join = (group: WaitGroup): boolean => group.tryAdd() || group.tryAddLate()

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
