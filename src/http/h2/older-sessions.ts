import type { Http2SecureServer, Http2Server } from 'node:http2'
import type { Clock } from '../../base/clock.ts'
import type { OlderConnections } from '../wire.ts'

/** How often it is looked at them: node tells only when the last one is over. */
const LOOK_MS = 100

/**
 * The connections that a server had when it was attached, as far as no request has made them known
 * since. Node keeps no public list of sessions: they can be counted, and those of HTTP/1.1 closed
 * when they are idle; none of HTTP/2 can be told, or closed.
 */
export class OlderSessions implements OlderConnections {
  readonly #server: Http2Server | Http2SecureServer
  readonly #clock: Clock
  #isOurs = true

  constructor(server: Http2Server | Http2SecureServer, clock: Clock) {
    this.#server = server
    this.#clock = clock
  }

  async gone(signal: AbortSignal, found: (count: number) => void): Promise<void> {
    let isSaid = false
    while (this.#isOurs && !signal.aborted) {
      this.#closeIdle()
      const count = await this.#count()
      if (count === 0) return
      if (!isSaid) found(count)
      isSaid = true
      await this.#pause(signal)
    }
  }

  destroy(): Promise<number> {
    if (!this.#isOurs) return Promise.resolve(0)
    this.#closeIdle()
    return this.#count()
  }

  release(): void {
    this.#isOurs = false
  }

  #closeIdle(): void {
    if ('closeIdleConnections' in this.#server) (this.#server as { closeIdleConnections(): void }).closeIdleConnections()
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
