import type { Server } from 'node:http'
import type { Clock } from '../../base/clock.ts'
import type { OlderConnections as Older } from '../wire.ts'

/**
 * How often it is looked at them: node tells only when the last one is over, and idle ones would
 * stay for their keep-alive timeout.
 */
const LOOK_MS = 100

/**
 * The connections that a server had when it was attached, as far as no request has made them known
 * since. Node keeps no public list of them: they can be counted and closed, neither named nor told.
 * To be used when those that are known have closed.
 */
export class OlderConnections implements Older {
  readonly #server: Server
  readonly #clock: Clock
  #isOurs = true

  constructor(server: Server, clock: Clock) {
    this.#server = server
    this.#clock = clock
  }

  /**
   * Closes those that are idle, waits for those that are not, and resolves when none is left or
   * `signal` is aborted.
   * @param found called with their number when there is something to wait for
   */
  async gone(signal: AbortSignal, found: (count: number) => void): Promise<void> {
    let isSaid = false
    while (this.#isOurs && !signal.aborted) {
      this.#server.closeIdleConnections()
      const count = await this.#count()
      if (count === 0) return
      if (!isSaid) found(count)
      isSaid = true
      await this.#pause(signal)
    }
  }

  /**
   * Closes those that are left, except for upgraded ones, of which node knows nothing, and says how
   * many there were that were not idle: what was asked on them may have had no answer. One that
   * never had a request may be among them, because to node it is not idle either [Node 20 to 24].
   */
  destroy(): Promise<number> {
    if (!this.#isOurs) return Promise.resolve(0)
    this.#server.closeIdleConnections()
    const count = this.#count()
    this.#server.closeAllConnections()
    return count
  }

  /** The server is its owner's again, and so are they. */
  release(): void {
    this.#isOurs = false
  }

  #count(): Promise<number> {
    return new Promise((resolve) => this.#server.getConnections((_error, count) => resolve(count ?? 0)))
  }

  #pause(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        signal.removeEventListener('abort', end)
        this.#clock.clearTimeout(timer)
        resolve()
      }
      const timer = this.#clock.setTimeout(end, LOOK_MS)
      signal.addEventListener('abort', end, { once: true })
    })
  }
}
