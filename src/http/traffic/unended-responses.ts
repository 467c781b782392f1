import type { Clock } from '../../base/clock.ts'
import type { LifecycleFact, Straggler } from '../../base/events.ts'
import { type ConnectionProtocol, nameWithProtocol } from '../../base/protocol.ts'
import type { Exchange } from './exchange.ts'

/**
 * The time after its client has left from which a handler that has not ended its response is taken
 * for one that never will. Most that are still at work are done by then; some end nothing, because
 * they have heard that their client is gone.
 */
export const NEVER_ENDS_AFTER_MS = 10_000

/** The number of handlers that outlive their responses above which they are only counted. */
export const NAMED_MAX = 1000
/** A warning names so many. */
const WARNED_OF_MAX = 10

/** An unended response without the response itself, so that it can be collected. */
interface Unended {
  readonly name: string
  readonly arrivedAt: number
  readonly connectionProtocol: ConnectionProtocol
  readonly leftAt: number
}

/**
 * Handlers that returned no promise, as those of Express and Fastify, whose clients left before
 * they had ended the response: they may be at work, and are over when they end it. One that hears
 * of its client's departure and stops without ending anything looks the same, hence {@link
 * NEVER_ENDS_AFTER_MS}; what is known to end nothing then is not taken up at all.
 */
export class UnendedResponses {
  readonly #clock: Clock
  readonly #record: (fact: LifecycleFact) => void
  /** The handlers in the order in which their clients left. */
  readonly #all = new Set<Unended>()
  readonly #whenNone = new Set<() => void>()
  readonly #givenUp: Unended[] = []
  #isWaitedFor = false
  #timer: unknown

  constructor(clock: Clock, record: (fact: LifecycleFact) => void) {
    this.#clock = clock
    this.#record = record
  }

  get count(): number {
    return this.#all.size
  }

  [Symbol.iterator](): IterableIterator<Unended> {
    return this.#all.values()
  }

  /**
   * The response of an exchange, which was not handled by a promise, has been sent or has lost its
   * client.
   */
  responseGone(exchange: Exchange): void {
    const { wire } = exchange.connection
    // A watch ends with its client, and so does an event stream of which nothing else was said.
    if (exchange.countedAs !== 'request' || !wire.mayStillEnd(exchange)) return
    if (exchange.declaredAs !== 'request' && wire.streamsEvents(exchange)) return
    this.#dropOverdue()
    const unended = {
      name: exchange.copyName(),
      arrivedAt: exchange.arrivedAt,
      connectionProtocol: exchange.connectionProtocol,
      leftAt: this.#clock.now(),
    }
    this.#all.add(unended)
    wire.onLateEnd(exchange, () => this.#ended(unended))
    this.#awaitFirst()
  }

  /**
   * Resolves when there is none, at once if so; each is waited for until {@link
   * NEVER_ENDS_AFTER_MS}.
   */
  none(): Promise<void> {
    this.#dropOverdue()
    if (this.#all.size === 0) return Promise.resolve()
    this.#isWaitedFor = true
    this.#awaitFirst()
    return new Promise((resolve) => this.#whenNone.add(resolve))
  }

  /** Names those that are left. They are no longer waited for. */
  cut(): Straggler[] {
    this.#isWaitedFor = false
    this.#clearTimer()
    const now = this.#clock.now()
    const left = [...this.#all]
    this.#givenUp.push(...left)
    this.#warn()
    return left
      .slice(0, NAMED_MAX)
      .map(({ name, arrivedAt, connectionProtocol }) => ({ name, ageMs: now - arrivedAt, ...connectionProtocol }))
  }

  #ended(unended: Unended): void {
    if (this.#all.delete(unended)) this.#notifyIfNone()
  }

  #awaitFirst(): void {
    const [first] = this.#all
    if (!this.#isWaitedFor || this.#timer !== undefined || !first) return
    const untilOverdue = (): void => {
      this.#timer = undefined
      this.#dropOverdue()
      this.#awaitFirst()
    }
    this.#timer = this.#clock.setTimeout(untilOverdue, first.leftAt + NEVER_ENDS_AFTER_MS - this.#clock.now())
  }

  #dropOverdue(): void {
    const overdue = this.#clock.now() - NEVER_ENDS_AFTER_MS
    for (const unended of this.#all) {
      if (unended.leftAt > overdue) break
      this.#all.delete(unended)
      if (this.#isWaitedFor) this.#givenUp.push(unended)
    }
    this.#notifyIfNone()
  }

  #notifyIfNone(): void {
    if (this.#all.size > 0 || !this.#isWaitedFor) return
    this.#isWaitedFor = false
    this.#clearTimer()
    this.#warn()
    for (const resolve of this.#whenNone) resolve()
    this.#whenNone.clear()
  }

  #clearTimer(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** A warning and no failure: it is not known whether anything was still to be done. */
  #warn(): void {
    const given = this.#givenUp.splice(0)
    if (given.length === 0) return
    const details = {
      handlers: given.length,
      oldest: given.slice(0, WARNED_OF_MAX).map(({ name, connectionProtocol }) => nameWithProtocol({ name, ...connectionProtocol })),
    }
    this.#record({ type: 'warning', message: 'handlers did not end their responses in time after their clients had left', details })
  }
}
