import { type Server, Socket } from 'node:net'
import type { Clock } from '../base/clock.ts'
import { activeHandles, owesNoAnswer, serverOf } from '../base/node-internals.ts'
import type { OlderConnections } from './transport.ts'

/**
 * How often it is looked at them: node tells only when the last one is over, and idle ones would
 * stay for their keep-alive timeout.
 */
const LOOK_MS = 100

/** What a server can do with connections of HTTP/1.1; one that speaks only HTTP/2 has neither. */
type Countable = Server & { closeIdleConnections?(): void; closeAllConnections?(): void }

/**
 * The sockets that a server has accepted. They are in no public list; where node has this one no
 * more, none is found.
 */
function socketsOf(server: Server): Socket[] {
  return activeHandles().filter((handle): handle is Socket => handle instanceof Socket && serverOf(handle) === server)
}

/**
 * The sockets of a listening server that owe no answer: without a request under way, whether they
 * had one before, or before their handshake where there is TLS.
 */
export function idleSocketsOf(server: Server, hasTls: boolean): Socket[] {
  if (!server.listening) return []
  return socketsOf(server).filter((socket) => !socket.destroyed && (hasTls ? socket.bytesRead === 0 : owesNoAnswer(socket)))
}

/**
 * The connections that a server had when it was attached, as far as no request has made them known
 * since, nor {@link idleSocketsOf}. Node keeps no public list of them: they can be counted, and
 * those of HTTP/1.1 closed; none can be named or told. To be used when those that are known have
 * closed.
 */
export class Older implements OlderConnections {
  readonly #server: Countable
  readonly #clock: Clock
  #isOurs = true

  constructor(server: Server, clock: Clock) {
    this.#server = server
    this.#clock = clock
  }

  async gone(signal: AbortSignal, found: (count: number) => void): Promise<void> {
    let isSaid = false
    while (this.#isOurs && !signal.aborted) {
      this.#server.closeIdleConnections?.()
      const count = await this.#count()
      if (count === 0) return
      if (!isSaid) found(count)
      isSaid = true
      await this.#pause(signal)
    }
  }

  /**
   * Destroys them. A connection that never had a request may be counted, because to node it is not
   * idle either [Node 20 to 24].
   */
  destroy(): Promise<number> {
    if (!this.#isOurs) return Promise.resolve(0)
    this.#server.closeIdleConnections?.()
    const count = this.#count()
    this.#server.closeAllConnections?.()
    // Upgraded ones, and those of HTTP/2, which node does not close.
    for (const socket of socketsOf(this.#server)) socket.destroy()
    return count
  }

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

/** What several servers may have, as if it were one's; undefined of none. */
export function olderOf(all: readonly OlderConnections[]): OlderConnections | undefined {
  const [first] = all
  if (all.length <= 1) return first
  return {
    // What is found is said once for each server that has some.
    gone: async (signal, found) => void (await Promise.all(all.map((one) => one.gone(signal, found)))),
    destroy: async () => (await Promise.all(all.map((one) => one.destroy()))).reduce((sum, lost) => sum + lost, 0),
    release: () => {
      for (const one of all) one.release()
    },
  }
}
