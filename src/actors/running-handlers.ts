import { type ErrorRecord, errorRecord, type LifecycleFact } from '../events.ts'
import type { Clock } from './clock.ts'
import type { Exchange } from './exchange.ts'
import { ExchangeList } from './exchange-list.ts'

/** A handler whose time is over, since when, and whether it has answered in spite of that. */
interface Cut {
  readonly at: number
  hasAnswered: boolean
}

/**
 * Handlers whose promise has not settled. They may outlive their response, when the client left or somebody else answered,
 * and then still use what is about to be destroyed (V8).
 *
 * Their time is over when they are {@link cut}: what they answer after that is reported as late, and changes nothing else.
 */
export class RunningHandlers {
  readonly #clock: Clock
  readonly #record: (fact: LifecycleFact) => void
  #count = 0
  /** Only those whose response is gone: the others are found on their connections. */
  readonly #orphans = new ExchangeList()
  readonly #cut = new Map<Exchange, Cut>()
  readonly #whenNone = new Set<() => void>()

  constructor(clock: Clock, record: (fact: LifecycleFact) => void) {
    this.#clock = clock
    this.#record = record
  }

  track(exchange: Exchange, promise: PromiseLike<unknown>): void {
    this.#count++
    exchange.handlersRunning++
    const settled = (): void => this.#settled(exchange)
    const failed = (thrown: unknown): void => {
      exchange.threw(thrown)
      this.#settled(exchange)
    }
    // A promise of another maker may call back twice, or throw: one of ours never does.
    Promise.resolve(promise).then(settled, failed)
  }

  responseGone(exchange: Exchange): void {
    if (exchange.handlersRunning > 0) this.#orphans.add(exchange)
  }

  /** Nobody waits for the handlers of these any more, and nothing can be answered for them. */
  cut(exchanges: Iterable<Exchange>): void {
    for (const exchange of exchanges) {
      if (exchange.handlersRunning > 0 && !this.#cut.has(exchange)) this.#cut.set(exchange, { at: this.#clock.now(), hasAnswered: false })
    }
  }

  /** Whether a handler that failed was cut before; if so, its failure is reported here. */
  failedLate(exchange: Exchange, thrown: unknown): boolean {
    const cut = this.#cut.get(exchange)
    if (!cut) return false
    this.#late(exchange, cut, 'rejected', exchange.wasAskedToEndWith(thrown) ? undefined : errorRecord(thrown))
    return true
  }

  /** Resolves when none is running, at once if so. */
  none(): Promise<void> {
    if (this.#count === 0) return Promise.resolve()
    return new Promise((resolve) => this.#whenNone.add(resolve))
  }

  /** The exchanges whose response is gone. */
  orphans(): Exchange[] {
    return [...this.#orphans]
  }

  /** The exchanges with a handler that runs, of these that are not over and of those that are. */
  running(outstanding: Iterable<Exchange>): Exchange[] {
    const running = [...this.#orphans]
    for (const exchange of outstanding) if (exchange.handlersRunning > 0) running.push(exchange)
    return running
  }

  #settled(exchange: Exchange): void {
    this.#count--
    exchange.handlersRunning--
    if (exchange.isOver && exchange.handlersRunning === 0) this.#orphans.remove(exchange)
    if (this.#cut.size > 0 && exchange.handlersRunning === 0) this.#forget(exchange)
    if (this.#count === 0 && this.#whenNone.size > 0) this.#tellNone()
  }

  #forget(exchange: Exchange): void {
    const cut = this.#cut.get(exchange)
    if (cut && !cut.hasAnswered) this.#late(exchange, cut, 'resolved')
    this.#cut.delete(exchange)
  }

  #late(exchange: Exchange, cut: Cut, answer: 'resolved' | 'rejected', error?: ErrorRecord): void {
    cut.hasAnswered = true
    const lateMs = this.#clock.now() - cut.at
    this.#record({ type: 'late', what: `handler ${exchange.name}`, answer, lateMs, ...(error && { error }) })
  }

  #tellNone(): void {
    for (const resolve of this.#whenNone) resolve()
    this.#whenNone.clear()
  }
}
