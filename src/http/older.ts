import { type Server, Socket } from 'node:net'
import type { Clock } from '../base/clock.ts'
import type { OlderConnections } from './transport.ts'

/**
 * How often it is looked at them: node tells only when the last one is over, and idle ones would
 * stay for their keep-alive timeout.
 */
const LOOK_MS = 100

/** What a server can do with connections of HTTP/1.1; one that speaks only HTTP/2 has neither. */
type Countable = Server & { closeIdleConnections?(): void; closeAllConnections?(): void }

/** What node's sockets have that its documentation does not [Node 20 to 26]. */
interface Accepted extends Socket {
  readonly server?: unknown
  /** Of a connection that speaks HTTP/1.1, until it is upgraded. */
  readonly parser?: Parser | null
  /** The response that it is about to send. */
  readonly _httpMessage?: unknown
}

/** Has its request as long as that is not received whole, answered or not. */
interface Parser {
  readonly incoming?: unknown
}

/**
 * The sockets that a server has accepted. They are in no public list; where node has this one no
 * more, none is found.
 */
function socketsOf(server: Server): Accepted[] {
  const { _getActiveHandles: handles } = process as { readonly _getActiveHandles?: () => readonly unknown[] }
  const all = handles?.call(process) ?? []
  return all.filter((handle): handle is Accepted => handle instanceof Socket && (handle as Accepted).server === server)
}

/**
 * Those of a listening server that owe no answer: without a request under way, whether they
 * had one before, or before their handshake where there is TLS.
 */
export function idleSocketsOf(server: Server, hasTls: boolean): Socket[] {
  if (!server.listening) return []
  return socketsOf(server).filter(({ destroyed, bytesRead, parser, _httpMessage: response }) => {
    if (destroyed) return false
    return hasTls ? bytesRead === 0 : parser?.incoming === null && !response
  })
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
   * One that never had a request may be counted, because to node it is not idle either [Node 20 to
   * 24].
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
