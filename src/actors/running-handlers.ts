import type { Straggler } from '../events.ts'
import type { Exchange } from './exchange.ts'
import { ExchangeList } from './exchange-list.ts'

/**
 * Handlers whose promise has not settled. They may outlive their response, when the client left or somebody else answered,
 * and then still use what is about to be destroyed (V8).
 */
export class RunningHandlers {
  #count = 0
  /** Only those whose response is gone: the others are found on their connections. */
  readonly #orphans = new ExchangeList()
  readonly #whenNone = new Set<() => void>()

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

  /** Resolves when none is running, at once if so. */
  none(): Promise<void> {
    if (this.#count === 0) return Promise.resolve()
    return new Promise((resolve) => this.#whenNone.add(resolve))
  }

  /** The exchanges whose response is gone. */
  orphans(): Exchange[] {
    return [...this.#orphans]
  }

  #settled(exchange: Exchange): void {
    this.#count--
    exchange.handlersRunning--
    if (exchange.isOver && exchange.handlersRunning === 0) this.#orphans.remove(exchange)
    if (this.#count === 0 && this.#whenNone.size > 0) this.#tellNone()
  }

  #tellNone(): void {
    for (const resolve of this.#whenNone) resolve()
    this.#whenNone.clear()
  }

  /** @param outstanding the exchanges that are not over */
  stragglers(outstanding: Iterable<Exchange>, now: number): Straggler[] {
    const running = [...this.#orphans]
    for (const exchange of outstanding) if (exchange.handlersRunning > 0) running.push(exchange)
    return running.map((exchange) => exchange.straggler(now))
  }
}
