import type { Server } from 'node:net'
import { Stream } from 'node:stream'
import { override } from '../base/override.ts'

/** The events by which a server is given a socket, or one of TLS whose handshake is over. */
const SOCKETS: readonly string[] = ['connection', 'secureConnection']
/** Those by which one server is given a request by another. */
const REQUESTS: readonly string[] = ['request', 'checkContinue', 'checkExpectation', 'upgrade', 'connect']
/** The same for HTTP/2. */
const STREAMS: readonly string[] = ['session', 'stream']

type Emit = (event: string | symbol, ...args: unknown[]) => boolean

/**
 * Hears what happens on a server that its owner has still to bind, from the step in which it is
 * attached: an error of its `listen()` may come before the life looks, and without a listener it is
 * a crash; and a server that something else listens for begins with the first socket or request
 * that it is given.
 */
export class EarlyEvents implements Disposable {
  readonly #server: Server
  readonly #whenGiven = new Set<() => void>()
  #failure: Error | undefined
  #failed: (error: Error) => void = () => {}
  #isGiven = false
  #isOver = false
  #restore: (() => void) | undefined
  readonly #onError = (error: Error): void => {
    this.#failure = error
    const isOnlyOurs = this.#server.listenerCount('error') === 1
    // It is none of `listen()`: node throws it when nothing else hears of it.
    if (isOnlyOurs && this.#server.listening) throw error
    if (isOnlyOurs) this.#failed(error)
  }

  constructor(server: Server) {
    this.#server = server
    server.on('error', this.#onError)
  }

  get failure(): Error | undefined {
    return this.#failure
  }

  get isGiven(): boolean {
    return this.#isGiven
  }

  onFailure(failed: (error: Error) => void): void {
    this.#failed = failed
  }

  /** To be called when the server's gate stands, and in the step in which it was attached. */
  onGiven(given: () => void): void {
    this.#whenGiven.add(given)
    if (!this.#isGiven && !this.#isOver) this.#restore ??= this.#standBeforeEmit()
  }

  serve(): void {
    if (this.#isGiven) return
    this.#isGiven = true
    this.#restore?.()
    for (const given of this.#whenGiven) given()
    this.#whenGiven.clear()
  }

  /** Hears nothing more. A second call does nothing. */
  [Symbol.dispose](): void {
    this.#isOver = true
    this.#server.off('error', this.#onError)
    this.#restore?.()
  }

  /**
   * A listener of ours would be taken for one that answers: node looks whether there is one for a
   * request, a stream or an upgrade before it says what becomes of it.
   */
  #standBeforeEmit(): () => void {
    const server = this.#server
    const emit = server.emit as Emit
    return override(server, 'emit', ((event: string | symbol, ...args: unknown[]) => {
      if (!this.#isGiven && !this.#isOver && !server.listening && isGiven(event, args[0])) this.serve()
      return emit.call(server, event, ...args)
    }) as Server['emit'])
  }
}

/** What a program has made up itself, without a client, is nothing to serve. */
const isGiven = (event: string | symbol, what: unknown): boolean => {
  if (typeof event !== 'string') return false
  if (REQUESTS.includes(event)) return (what as { readonly socket?: unknown } | undefined)?.socket instanceof Stream
  return SOCKETS.includes(event) || STREAMS.includes(event)
}
