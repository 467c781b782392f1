import type { ApiExchange } from '../api-exchange.ts'
import { type Clock, ExchangeList } from '../engine.ts'

/**
 * The deadlines of the requests under way. Nearly all have the same time, so that they pass in the
 * order of arrival: one timer, for the oldest, serves these all, and a request costs a place in a
 * list. One that asks for another time has a timer of its own.
 */
export class Deadlines {
  readonly #clock: Clock
  readonly #passed: (exchange: ApiExchange) => number | undefined
  /** The exchanges in the order in which their deadlines pass. */
  readonly #alike = new ExchangeList<ApiExchange>()
  readonly #others = new Map<ApiExchange, unknown>()
  #timer: unknown

  /**
   * @param passed called for each whose deadline has passed while it was here; returns the
   * milliseconds after which it is called again, undefined for never
   */
  constructor(clock: Clock, passed: (exchange: ApiExchange) => number | undefined) {
    this.#clock = clock
    this.#passed = passed
  }

  /** Adds one that has the same time as all the others that are added here. */
  add(exchange: ApiExchange, deadlineAt: number): void {
    this.#alike.add(exchange)
    this.#timer ??= this.#arm(deadlineAt)
  }

  /** Adds one that has less, or whose time is over and that is looked at once more. */
  addOther(exchange: ApiExchange, deadlineAt: number): void {
    const pass = (): void => {
      this.#others.delete(exchange)
      this.#pass(exchange)
    }
    this.#others.set(exchange, this.#clock.setTimeout(pass, Math.max(0, deadlineAt - this.#clock.now())))
  }

  /** Whether its deadline has passed by now; then its timer has nothing more to do. */
  passNow(exchange: ApiExchange): boolean {
    const { deadlineAt } = exchange
    if (deadlineAt === undefined || deadlineAt > this.#clock.now()) return false
    this.remove(exchange)
    this.#pass(exchange)
    return true
  }

  /** Removes one that is over. */
  remove(exchange: ApiExchange): void {
    if (this.#alike.has(exchange)) {
      this.#alike.remove(exchange)
      return
    }
    const timer = this.#others.get(exchange)
    if (timer === undefined) return
    this.#others.delete(exchange)
    this.#clock.clearTimeout(timer)
  }

  /** The life is over: nothing of it may keep the process. */
  close(): void {
    for (const exchange of [...this.#others.keys()]) this.remove(exchange)
    for (const exchange of [...this.#alike]) this.#alike.remove(exchange)
    this.#clock.clearTimeout(this.#timer)
  }

  #pass(exchange: ApiExchange): void {
    const again = this.#passed(exchange)
    if (again !== undefined) this.addOther(exchange, this.#clock.now() + again)
  }

  #arm(deadlineAt: number): unknown {
    return this.#clock.setTimeout(this.#look, Math.max(0, deadlineAt - this.#clock.now()))
  }

  /** The timer may have been set for one that is over by now: it is left, and looks again. */
  readonly #look = (): void => {
    this.#timer = undefined
    const now = this.#clock.now()
    for (let exchange = this.#alike.oldest; exchange; exchange = this.#alike.oldest) {
      const { deadlineAt = now } = exchange
      if (deadlineAt > now) {
        this.#timer ??= this.#arm(deadlineAt)
        return
      }
      this.#alike.remove(exchange)
      this.#pass(exchange)
    }
  }
}
