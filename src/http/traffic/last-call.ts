import { setImmediate } from 'node:timers'
import type { Clock } from '../../base/clock.ts'
import { emptyAcceptQueue, type QueueSeal } from './accept-queue.ts'
import type { Connections } from './connections.ts'
import type { InFlight } from './in-flight.ts'

/**
 * The last call, from NotAcceptingNewRequest until idle connections are closed: what had been
 * accepted by the kernel is let in, and each connection that was never notified is held for a last
 * request.
 */
export class LastCall {
  readonly #clock: Clock
  readonly #connections: Connections
  readonly #inFlight: InFlight
  #ms = 0
  /** `clock.now()` at which everything that is in flight is cut. */
  #cutAt = Number.POSITIVE_INFINITY
  #acceptedBefore = 0
  /** Requests whose handlers wait until the accept queue is empty; undefined when none has to. */
  #waiting: (() => void)[] | undefined

  constructor(clock: Clock, connections: Connections, inFlight: InFlight) {
    this.#clock = clock
    this.#connections = connections
    this.#inFlight = inFlight
  }

  /** @param ms 0: there is none */
  begin(ms: number, cutAt: number): void {
    this.#ms = ms
    this.#cutAt = cutAt
    this.#acceptedBefore = this.#connections.accepted
  }

  /** {@link TrafficPort.letGoOn} */
  letGoOn(pass: () => void): void {
    if (this.#waiting) this.#waiting.push(pass)
    else setImmediate(pass)
  }

  /**
   * Calls `close` in the step in which the kernel has no connection left that it has accepted and
   * node has not.
   */
  async acceptQueued(close: () => void, signal: AbortSignal, seal?: QueueSeal): Promise<void> {
    const waiting: (() => void)[] = []
    this.#waiting = waiting
    // In the order in which they came; what comes from now on goes on by itself, behind them.
    const goOn = (): void => {
      if (this.#waiting !== waiting) return
      this.#waiting = undefined
      for (const pass of waiting) setImmediate(pass)
    }
    try {
      await emptyAcceptQueue({
        clock: this.#clock,
        accepted: () => this.#connections.accepted,
        close,
        seal,
        // What is let in then has its last call, and as long again to be answered.
        closesBy: this.#cutAt - 2 * this.#ms,
        signal,
        goOn,
      })
    } finally {
      goOn()
    }
  }

  /** Resolves when no connection is left on which a request may be on its way. */
  heeded(): Promise<void> {
    return this.#connections.noneIdle()
  }

  /**
   * Ends it, and with it idle connections, after a look at what they have sent already; from now on
   * every one that becomes idle. To be called when the listeners have closed.
   */
  closeIdleConnections(): Promise<void> {
    return this.#connections.closeIdle({
      lateCallMs: this.#ms,
      closing: () => this.#inFlight.endLastCall(),
      awaitArrival: (leftMs) => this.#inFlight.awaitArrival(leftMs),
    })
  }

  /**
   * What came since {@link begin}: connections, and requests that were let in. Undefined where
   * there is none.
   */
  get came(): { readonly accepted: number; readonly answered: number } | undefined {
    if (this.#ms === 0) return undefined
    return { accepted: this.#connections.accepted - this.#acceptedBefore, answered: this.#inFlight.admittedLast }
  }
}
