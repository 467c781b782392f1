import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { connect, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { connect as connectSecurely } from 'node:tls'
import { onTestFinished } from 'vitest'
import type { AttachableServer } from '#src/attach.ts'
import { RawClient } from '../support/raw-client.ts'
import { WebSocketClient } from '../support/web-socket-client.ts'

/**
 * What the suite of `transport-suite.ts` has to know of a protocol, and nothing about what a life
 * does with it.
 */
export interface TransportAdapter {
  readonly name: string
  /** Does not listen yet. */
  createServer(listener: RequestListener): AttachableServer
  /** A connection on which requests may be sent. */
  open(port: number): Promise<Client>
  /** One in its handshake, of which so much is sent. Undefined: the protocol has none. */
  readonly shakeHands: ((port: number, sent: 'nothing' | 'half') => Promise<Handshake>) | undefined
  /**
   * The protocol tells only by an answer: a client that is idle leaves untold, and nothing is
   * answered after the one that told.
   */
  readonly tellsByAnswer: boolean
  /** What is behind a request on its connection is answered after it, and lost with it. */
  readonly isInOrder: boolean
  /** An exchange may be broken off alone: its connection goes on with the others. */
  readonly breaksOffAlone: boolean
  /** A connection may go on with another protocol. */
  readonly upgrades: boolean
}

/**
 * A client that never helps: no retry, no second connection. Every wait is for something that
 * happens on its connection.
 */
export interface Client {
  /**
   * Sends a request, without waiting for the answers to those before it. Rejects when there is no
   * complete answer, with {@link RETRYABLE} when the client may send it again elsewhere.
   */
  ask(path: string): Promise<Answered>
  /**
   * Sends half of a request, of its head or of its body; the result sends all of the rest, or
   * rejects, and takes the answer.
   */
  half(path: string, half: 'head' | 'body'): () => Promise<Answered>
  /** Asks for another protocol; resolves to the status of the answer. */
  upgrade(path: string): Promise<number>
  /** Sends half of that; the result sends the rest. */
  halfUpgrade(path: string): () => Promise<number>
  /** The same of an upgrade to WebSocket; the result rejects when it is refused. */
  halfWebSocket(path: string): () => Promise<WebSocketClient>
  /** Resolves when so much has been received, of an answer that need not be complete. */
  until(text: string): Promise<void>
  /** How many answers it had taken when it was told to leave; undefined: it was not told. */
  readonly toldAfter: number | undefined
  /** How the server has closed the connection, when it has. */
  ended(): Promise<string>
  /** Breaks the connection. */
  leave(): void
}

export const RETRYABLE = 'nothing was done about it'

export interface Handshake extends Pick<Client, 'ended' | 'leave'> {
  /** Sends the rest of it, and is a client then. */
  finish(): Promise<Client>
}

export interface Answered {
  readonly status: number
  readonly body: string
}

/**
 * More than the buffers between two sockets hold: it is all sent only when the other side reads.
 */
const BODY = Buffer.alloc(16 * 2 ** 20, 'x')

class Http1Client implements Client {
  readonly #raw: RawClient
  #taken = 0
  #toldAfter: number | undefined
  /** Answers come in the order of the requests. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(socket: Socket) {
    this.#raw = RawClient.on(socket)
    onTestFinished(() => this.#raw.abort())
  }

  get toldAfter(): number | undefined {
    return this.#toldAfter
  }

  ask(path: string): Promise<Answered> {
    this.#raw.request('GET', path)
    return this.#answer()
  }

  half(path: string, half: 'head' | 'body'): () => Promise<Answered> {
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${BODY.length}\r\n`
    this.#raw.send(half === 'head' ? head : `${head}\r\n`)
    if (half === 'body') this.#raw.send(BODY.subarray(0, BODY.length / 2))
    return async () => {
      if (half === 'head') this.#raw.send('\r\n')
      const rest = half === 'head' ? BODY : BODY.subarray(BODY.length / 2)
      const answer = this.#answer()
      await new Promise<void>((resolve, reject) => this.#raw.socket.write(rest, (error) => (error ? reject(error) : resolve())))
      return answer
    }
  }

  upgrade(path: string): Promise<number> {
    return this.halfUpgrade(path)()
  }

  halfUpgrade(path: string): () => Promise<number> {
    this.#raw.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n`)
    return async () => {
      this.#raw.send('Upgrade: echo\r\n\r\n')
      const { status } = await this.#answer()
      return status
    }
  }

  halfWebSocket(path: string): () => Promise<WebSocketClient> {
    return WebSocketClient.half(this.#raw, path)
  }

  leave(): void {
    this.#raw.abort()
  }

  async until(text: string): Promise<void> {
    await this.#raw.until(text, () => this.#raw.received.includes(text))
  }

  ended(): Promise<string> {
    return this.#raw.closed()
  }

  #answer(): Promise<Answered> {
    const answer = this.#last.then(async () => {
      const { status, body, headers } = await this.#raw.response()
      this.#taken++
      if (/\bclose\b/i.test(headers['connection'] ?? '')) this.#toldAfter ??= this.#taken
      return { status, body }
    })
    this.#last = answer.catch(() => undefined)
    return answer
  }
}

export const established = (socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> =>
  new Promise((resolve, reject) => void socket.once(event, resolve).once('error', reject))

export const ofOurs = { host: '127.0.0.1', allowHalfOpen: true } as const

export const http1: TransportAdapter = {
  name: 'HTTP/1.1',
  createServer: (listener) => createServer(listener),
  open: async (port) => {
    const socket = connect({ port, noDelay: true, ...ofOurs })
    await established(socket, 'connect')
    return new Http1Client(socket)
  },
  shakeHands: undefined,
  tellsByAnswer: true,
  isInOrder: true,
  breaksOffAlone: false,
  upgrades: true,
}

export const file = (name: string): Buffer => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url))

/** What of a handshake is sent before the rest of it. */
const HALF_HELLO_BYTES = 40

/** Passes on what is written to it, from its first `bytes` on only when it is opened. */
export class Dam extends Duplex {
  readonly #socket: Socket
  #bytes: number
  #held: { readonly chunk: Buffer; readonly passed: () => void }[] = []

  constructor(socket: Socket, bytes: number) {
    super({ allowHalfOpen: true })
    this.#socket = socket
    this.#bytes = bytes
    socket.on('data', (chunk) => void this.push(chunk))
    socket.on('end', () => void this.push(null))
    socket.on('close', () => this.destroy())
    socket.on('error', (error) => this.destroy(error))
  }

  /** From now on only so much passes, until it is opened. */
  hold(bytes: number): void {
    this.#bytes = bytes
  }

  open(): void {
    this.#bytes = Number.POSITIVE_INFINITY
    for (const { chunk, passed } of this.#held.splice(0)) this.#socket.write(chunk, passed)
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, passed: () => void): void {
    const now = chunk.subarray(0, this.#bytes)
    const later = chunk.subarray(now.length)
    this.#bytes -= now.length
    if (now.length > 0) this.#socket.write(now, later.length > 0 ? undefined : passed)
    if (later.length > 0) this.#held.push({ chunk: later, passed })
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }

  override _final(done: () => void): void {
    this.#socket.end(done)
  }

  override _read(): void {}
}

export const https: TransportAdapter = {
  ...http1,
  name: 'HTTPS',
  createServer: (listener) => createSecureServer({ key: file('key.pem'), cert: file('cert.pem') }, listener),
  open: async (port) => {
    const socket = connectSecurely({ port, rejectUnauthorized: false, ...ofOurs })
    await established(socket, 'secureConnect')
    return new Http1Client(socket)
  },
  shakeHands: handshakes((socket) => new Http1Client(socket)),
}

/** @param protocols that the client offers in its handshake; default: none */
export function handshakes(toClient: (socket: Socket) => Client, protocols?: string[]): NonNullable<TransportAdapter['shakeHands']> {
  return async (port, sent) => {
    const socket = connect({ port, noDelay: true, ...ofOurs })
    await established(socket, 'connect')
    onTestFinished(() => void socket.destroy())
    const ended = new Promise<string>((resolve) => {
      socket.once('end', () => resolve('ended'))
      socket.once('close', () => resolve('reset'))
    })
    // What is read shows the end; a handshake that is broken off is an error of the client's.
    const dam = new Dam(socket, sent === 'half' ? HALF_HELLO_BYTES : 0)
    const secure = connectSecurely({ socket: dam, rejectUnauthorized: false, ...(protocols && { ALPNProtocols: protocols }) })
    const ready = established(secure, 'secureConnect')
    ready.catch(() => undefined)
    secure.on('error', () => undefined)
    void ended.then(() => socket.end())
    return {
      ended: () => ended,
      leave: () => void socket.destroy(),
      finish: async () => {
        dam.open()
        await ready
        return toClient(secure)
      },
    }
  }
}
