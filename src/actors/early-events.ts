import type { Server } from 'node:net'

/** The events by which a server is given a socket, or one of TLS whose handshake is over. */
const GIVEN_BY = ['connection', 'secureConnection'] as const

/**
 * Hears what happens on a server that its owner has still to bind, from the step in which it is
 * attached: an error of its `listen()` may come before the life looks, and without a listener it is
 * a crash; and a server that something else listens for begins with its first socket.
 */
export class EarlyEvents implements Disposable {
  readonly #server: Server
  readonly #whenGiven = new Set<() => void>()
  #failure: Error | undefined
  #failed: (error: Error) => void = () => {}
  #isGiven = false
  readonly #onError = (error: Error): void => {
    this.#failure = error
    const isOnlyOurs = this.#server.listenerCount('error') === 1
    // It is none of `listen()`: node throws it when nothing else hears of it.
    if (isOnlyOurs && this.#server.listening) throw error
    if (isOnlyOurs) this.#failed(error)
  }
  readonly #onSocket = (): void => {
    if (!this.#server.listening) this.serve()
  }

  constructor(server: Server) {
    this.#server = server
    server.on('error', this.#onError)
    for (const event of GIVEN_BY) server.on(event, this.#onSocket)
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

  onGiven(given: () => void): void {
    this.#whenGiven.add(given)
  }

  serve(): void {
    if (this.#isGiven) return
    this.#isGiven = true
    for (const given of this.#whenGiven) given()
    this.#whenGiven.clear()
  }

  /** Hears nothing more. A second call does nothing. */
  [Symbol.dispose](): void {
    this.#server.off('error', this.#onError)
    for (const event of GIVEN_BY) this.#server.off(event, this.#onSocket)
  }
}
