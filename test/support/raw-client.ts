import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { parseResponse, type RawResponse } from './http1.mjs'

/**
 * `ended`: the server closed in order. `reset`: it did not, or the connection broke. `left`: we
 * did.
 */
type State = 'open' | 'ended' | 'reset' | 'left'

/**
 * One TCP connection that speaks HTTP/1.1 byte by byte and never helps: no retry, no second
 * connection, no opinion about what the server should have done. Every wait is for something that
 * happens on the connection.
 */
export class RawClient {
  readonly socket: Socket
  readonly #methods: string[] = []
  readonly #waiting = new Set<() => void>()
  #state: State = 'open'
  #bytes: Buffer = Buffer.alloc(0)

  /**
   * Resolves when the connection is established; rejects with the system's error when it is
   * refused.
   */
  static async open({ port }: { readonly port: number }): Promise<RawClient> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    return new RawClient(socket)
  }

  /** Speaks on a socket that is established, such as one of TLS. */
  static on(socket: Socket): RawClient {
    return new RawClient(socket)
  }

  private constructor(socket: Socket) {
    this.socket = socket
    socket.removeAllListeners('error')
    socket.on('data', (bytes) => this.#heard(() => (this.#bytes = Buffer.concat([this.#bytes, bytes]))))
    socket.on('end', () => this.#heard(() => this.#change('ended')))
    socket.on('error', () => this.#heard(() => this.#change('reset')))
    socket.on('close', () => this.#heard(() => this.#change('reset')))
  }

  get state(): State {
    return this.#state
  }

  /** Received and not yet taken by {@link response}. */
  get received(): string {
    return this.#bytes.toString()
  }

  /** The same, byte by byte. */
  get bytes(): Buffer {
    return this.#bytes
  }

  /** Writes bytes as they are. */
  send(bytes: string | Buffer): void {
    if (this.socket.writable) this.socket.write(bytes)
  }

  /** Writes a request and notes its method, for {@link response}. */
  request(method: string, path: string, { headers = {}, body }: { headers?: Record<string, string>; body?: string | Buffer } = {}): void {
    const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
    const lines = Object.entries({ Host: 'localhost', ...length, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
    this.#methods.push(method)
    this.send(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
    if (body !== undefined) this.send(body)
  }

  /** Ends our side, as a client that has heard enough. */
  end(): void {
    this.socket.end()
  }

  /** Breaks the connection. */
  abort(): void {
    this.#heard(() => this.#change('left'))
    this.socket.destroy()
  }

  /**
   * The answer to the oldest request that has none yet. Informational responses come like others,
   * before it.
   */
  async response(): Promise<RawResponse> {
    const method = this.#methods[0] ?? 'GET'
    const { response, rest } = await this.until('a complete response', () =>
      parseResponse(this.#bytes, { method, hasEnded: this.#state === 'ended' }),
    )
    this.#bytes = rest
    if (response.status >= 200 || response.status === 101) this.#methods.shift()
    return response
  }

  /** Writes a request and takes its answer. */
  async ask(...request: Parameters<RawClient['request']>): Promise<RawResponse> {
    this.request(...request)
    return this.response()
  }

  /**
   * Resolves with what `look` finds, looking again after everything that happens; rejects when
   * nothing more can happen.
   */
  async until<T>(what: string, look: () => T | undefined | false): Promise<T> {
    for (;;) {
      const found = look()
      if (found !== undefined && found !== false) return found
      if (this.#state !== 'open')
        throw new Error(`the connection is over (${this.#state}) without ${what}; received: ${this.received.slice(0, 500)}`)
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  /** How the connection ended. */
  closed(): Promise<State> {
    return this.until('an end', () => this.#state !== 'open' && this.#state)
  }

  #change(state: State): void {
    if (this.#state === 'open') this.#state = state
    // The other side of a connection that the server has ended is of no use to a client.
    if (state === 'ended') this.socket.end()
  }

  #heard(happen: () => void): void {
    happen()
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }
}

/** A connection that is broken off when the test ends, if it is still there. */
export async function connectTo(port: number): Promise<RawClient> {
  const client = await RawClient.open({ port })
  onTestFinished(() => client.abort())
  return client
}
