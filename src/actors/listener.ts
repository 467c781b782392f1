import type { Server as HttpServer } from 'node:http'
import { Server } from 'node:net'
import { setImmediate } from 'node:timers'
import { QuiesceError, toError } from '../base/errors.ts'
import { override } from '../base/override.ts'
import { isBeforeClose } from './before-close.ts'
import { EarlyEvents } from './early-events.ts'
import { type BoundAddress, boundAddress, GIVEN, type ListenerKind, type ListenTarget, listen, listenError } from './listen-target.ts'
import { removeStale, removeStaleInWorker } from './unix-socket.ts'

/** What goes on beside a listener as long as it accepts connections: certificates are watched. */
export interface ListenerCompanion {
  /** Watches the server from its bind on. */
  watch(): void
  /** Ends the watch: the server accepts no more, or was never bound. May be called again. */
  close(): void
}

/**
 * One listening socket of a life: bound once, closed once, watched in between. It stops accepting
 * and nothing else; what becomes of the connections is the traffic's business.
 */
export class Listener {
  readonly server: Server
  readonly kind: ListenerKind
  readonly #target: ListenTarget | undefined
  readonly #companion: ListenerCompanion | undefined
  readonly #closeServer: Server['close']
  #state: 'idle' | 'bound' | 'closed' = 'idle'
  /**
   * The address, asked for before the close: asking takes time in which one more connection may
   * come, to be reset.
   */
  #bound: BoundAddress | undefined
  #unwatch: () => void = () => {}
  #isGivenBack = false
  /** The events from before the life began, of a server that its owner binds. */
  readonly #early: EarlyEvents | undefined

  /**
   * @param target where to bind; undefined adopts a server that its owner binds, or gives sockets
   * to
   */
  constructor(server: Server, target: ListenTarget | undefined, kind: ListenerKind = 'public', companion?: ListenerCompanion) {
    this.server = server
    this.kind = kind
    this.#companion = companion
    this.#target = target
    this.#closeServer = closeOf(server)
    if (!target && !server.listening) this.#early = new EarlyEvents(server)
  }

  /** The error of its owner's last `listen()`, until one succeeds. */
  get failure(): Error | undefined {
    return this.server.listening ? undefined : this.#early?.failure
  }

  /** Calls back with that, when nothing else hears of it. */
  onFailure(failed: (error: Error) => void): void {
    this.#early?.onFailure(failed)
  }

  /** Calls back when it is given its first socket or request, and does not listen. */
  onGiven(given: () => void): void {
    this.#early?.onGiven(given)
  }

  /** Serves without listening: the server is given its sockets, or its requests. */
  serveGiven(): void {
    if (!this.server.listening) this.#early?.serve()
  }

  get admin(): boolean {
    return this.kind !== 'public'
  }

  /** Its owner has still to call `listen()`, also of a server that was given back before that. */
  get awaitsListen(): boolean {
    return this.#target === undefined && (this.#state === 'idle' || this.#isGivenBack) && !this.server.listening && !this.#early?.isGiven
  }

  /**
   * Resolves when the socket accepts connections. Aborted, it leaves nothing bound and rejects with
   * the signal's reason. A Unix socket that a killed process has left behind is removed.
   * @throws QuiesceError ERR_LISTEN with the system's error as cause
   */
  async bind(signal: AbortSignal): Promise<BoundAddress> {
    try {
      if (!this.server.listening && !this.#early?.isGiven) await this.#listeningAtLast(signal)
    } finally {
      this.#early?.[Symbol.dispose]()
    }
    if (this.#state === 'idle') {
      this.#state = 'bound'
      this.#companion?.watch()
    }
    this.#bound = this.server.listening || this.#target ? boundAddress(this.server, this.#target) : GIVEN
    return this.#bound
  }

  async #listeningAtLast(signal: AbortSignal): Promise<void> {
    const target = this.#target
    if (target && 'path' in target) {
      await removeStaleInWorker(target.path)
      signal.throwIfAborted()
    }
    try {
      await this.#listening(signal)
    } catch (error) {
      const { cause } = error as QuiesceError
      if (!target || !('path' in target) || (cause as NodeJS.ErrnoException | undefined)?.code !== 'EADDRINUSE') throw error
      const why = await removeStale(target.path)
      if (why !== undefined) throw listenError(target, this.kind, cause as Error, why)
      signal.throwIfAborted()
      await this.#listening(signal)
    }
  }

  #listening(signal: AbortSignal): Promise<void> {
    const { server, failure } = this
    if (failure) return Promise.reject(listenError(this.#target, this.kind, failure))
    return new Promise((resolve, reject) => {
      const settle = (result: () => void): void => {
        server.off('listening', onListening)
        server.off('error', onError)
        result()
      }
      const onListening = (): void =>
        settle(() => {
          if (!signal.aborted) {
            listens()
            return resolve()
          }
          this.#stop()
          reject(toError(signal.reason))
        })
      const onError = (error: Error): void => settle(() => reject(listenError(this.#target, this.kind, error)))
      let listens = (): void => {}
      server.on('listening', onListening)
      server.on('error', onError)
      this.#early?.onGiven(() => settle(resolve))
      if (!this.#target) {
        const nothing = (): void =>
          settle(() => reject(new QuiesceError('ERR_NOTHING_TO_SERVE', 'the attached server does not listen: call its listen()')))
        if (signal.aborted) nothing()
        else signal.addEventListener('abort', nothing, { once: true })
        return
      }
      try {
        listens = listen(server, this.#target)
      } catch (thrown) {
        // listen() throws what it can tell at once, such as a port out of range.
        settle(() => reject(listenError(this.#target, this.kind, toError(thrown))))
      }
    })
  }

  /**
   * Calls back once if the bound socket ends without `close()`: by an error, or because its owner
   * closed it.
   */
  onDeath(
    died: (death: { readonly kind: 'closed' } | { readonly kind: 'error'; readonly error: Error }) => void,
    /**
     * A pre-shutdown hook has called `close()`, which would wait for the hook: it was called back
     * at once.
     */
    closedByHook: () => void,
  ): void {
    if (this.#state === 'closed') return
    const { server } = this
    let notified = false
    const notify = (death: Parameters<typeof died>[0]): void => {
      if (notified || this.#state === 'closed') return
      notified = true
      died(death)
    }
    const onError = (error: Error): void => notify({ kind: 'error', error })
    const onClose = (): void => notify({ kind: 'closed' })
    server.on('error', onError)
    server.on('close', onClose)
    // The owner's own close() becomes a stop, which ends the connections in their order: node's
    // would close idle ones at once. Later, when frameworks are closed among what is destroyed, it
    // is closed already, which is no error of theirs.
    const takeBack = override(server, 'close', (callback?: (error?: Error) => void) => {
      if (this.#state === 'closed') return this.#stop(callback && (() => callback()))
      if (isBeforeClose()) {
        closedByHook()
        if (callback) setImmediate(callback)
        return server
      }
      if (callback) server.once('close', callback)
      notify({ kind: 'closed' })
      return server
    })
    // That of HTTP/2 goes past close().
    const takeDisposeBack = override(server, Symbol.asyncDispose, () => new Promise((resolve) => void server.close(() => resolve())))
    this.#unwatch = () => {
      server.off('error', onError)
      server.off('close', onClose)
      takeBack()
      takeDisposeBack()
    }
  }

  /**
   * Ends our part after the life: a server that was bound is its owner's again as soon as they let
   * it listen anew.
   */
  retire(): void {
    if (!this.#bound || this.#state !== 'closed') return
    const { server } = this
    if (server.listening) {
      this.release()
      return
    }
    const unwatch = this.#unwatch
    const onListening = (): void => this.release()
    server.once('listening', onListening)
    this.#unwatch = () => {
      server.off('listening', onListening)
      unwatch()
    }
  }

  /**
   * Gives the server back as it was, and does not close it any more. A second call does nothing.
   */
  release(): void {
    this.#isGivenBack = true
    this.#early?.[Symbol.dispose]()
    this.#state = 'closed'
    this.#bound = undefined
    this.#unwatch()
  }

  /**
   * Stops accepting, at once, and returns the address that it had; existing connections stay. One
   * that does not listen yet, because its owner has still to call `listen()` or the name of the
   * host is being looked up, is closed as soon as it does, until `release()`.
   */
  close(): string | undefined {
    this.#early?.[Symbol.dispose]()
    if (this.#state === 'closed') return undefined
    this.#state = 'closed'
    this.#companion?.close()
    const { server } = this
    if (server.listening) {
      const { url } = this.#bound ?? boundAddress(server, this.#target)
      this.#stop()
      return url
    }
    const onListening = (): void => void this.#stop()
    server.once('listening', onListening)
    const unwatch = this.#unwatch
    this.#unwatch = () => {
      server.off('listening', onListening)
      unwatch()
    }
    return undefined
  }

  #stop(callback?: () => void): Server {
    const { server } = this
    // close() of node's HTTP servers also destroys idle keep-alive sockets, among them those whose
    // next request is in the kernel's buffer already.
    const takeBack = override(server as HttpServer, 'closeIdleConnections', () => {})
    try {
      return this.#closeServer.call(server, callback)
    } finally {
      takeBack()
    }
  }
}

/**
 * Stops accepting on all of them, one right after the other, and returns the addresses of those
 * that did.
 */
export function closeAll(listeners: readonly Listener[]): string[] {
  return listeners.map((listener) => listener.close()).filter((url) => url !== undefined)
}

/**
 * The close that only stops listening: that of node:http2 tells every client at once on Node 24 and
 * later.
 */
const closeOf = (server: Server): Server['close'] =>
  'updateSettings' in server && !Object.hasOwn(server, 'close') ? Server.prototype.close : server.close
