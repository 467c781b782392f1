import type { RequestListener } from 'node:http'
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  constants,
  createSecureServer,
  createServer,
} from 'node:http2'
import { connect, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { onTestFinished } from 'vitest'
import type { AttachableServer } from '#src/attach.ts'
import {
  type Answered,
  type Client,
  Dam,
  established,
  file,
  handshakes,
  https,
  ofOurs,
  RETRYABLE,
  type TransportAdapter,
} from './transports.ts'

const HEAD_BYTES = 12
const BODY = Buffer.alloc(256 * 1024, 'x')

const GOAWAY = 7
const FRAME_HEAD_BYTES = 9

/** The types of the frames that a server sends. @see RFC 9113 section 4.1 */
class FrameTypes {
  #head: Buffer = Buffer.alloc(0)
  #payloadLeft = 0

  of(chunk: Buffer): number[] {
    const types: number[] = []
    for (let at = 0; at < chunk.length; ) {
      if (this.#payloadLeft > 0) {
        const skipped = Math.min(this.#payloadLeft, chunk.length - at)
        this.#payloadLeft -= skipped
        at += skipped
        continue
      }
      const needed = FRAME_HEAD_BYTES - this.#head.length
      this.#head = Buffer.concat([this.#head, chunk.subarray(at, at + needed)])
      at += needed
      if (this.#head.length < FRAME_HEAD_BYTES) break
      types.push(this.#head[3] as number)
      this.#payloadLeft = this.#head.readUIntBE(0, 3)
      this.#head = Buffer.alloc(0)
    }
    return types
  }
}

/** Node's own client of HTTP/2, on a socket that shows what becomes of it. */
class Http2Client implements Client {
  readonly #session: ClientHttp2Session
  readonly #dam: Dam
  readonly #ended: Promise<string>
  #received = ''
  readonly #heard = new Set<() => void>()
  #taken = 0
  #toldAfter: number | undefined
  #notified: { readonly lastStream: number } | undefined

  constructor(socket: Socket) {
    this.#dam = new Dam(socket, Number.POSITIVE_INFINITY)
    this.#ended = new Promise((resolve) => {
      socket.once('end', () => {
        resolve('ended')
        // What it had still to send is of no use.
        socket.end()
      })
      socket.once('error', () => resolve('reset'))
      socket.once('close', () => resolve('ended'))
    })
    this.#session = connectHttp2('http://localhost', { createConnection: () => this.#dam })
    this.#session.on('error', () => undefined)
    this.#session.on('goaway', (_code, lastStream) => {
      this.#notified ??= { lastStream }
      this.#toldAfter ??= this.#taken
    })
    // Node's client reads nothing while it cannot write.
    const frames = new FrameTypes()
    socket.on('data', (chunk) => {
      if (frames.of(chunk).includes(GOAWAY)) this.#toldAfter ??= this.#taken
    })
    onTestFinished(() => {
      this.#session.destroy()
      socket.destroy()
    })
  }

  get toldAfter(): number | undefined {
    return this.#toldAfter
  }

  /** Resolves when the server has said that it speaks HTTP/2. */
  async ready(): Promise<this> {
    await new Promise((resolve) => this.#session.once('remoteSettings', resolve).once('close', resolve))
    return this
  }

  async ask(path: string): Promise<Answered> {
    return this.#answer(this.#request(path))
  }

  half(path: string, half: 'head' | 'body'): () => Promise<Answered> {
    if (half === 'head') this.#dam.hold(HEAD_BYTES)
    const stream = this.#request(path, { ':method': 'POST' }, false)
    const answer = this.#answer(stream)
    answer.catch(() => undefined)
    if (half === 'body') stream.write(BODY.subarray(0, BODY.length / 2))
    return () => {
      this.#dam.open()
      stream.end(half === 'head' ? BODY : BODY.subarray(BODY.length / 2))
      return answer
    }
  }

  upgrade(): Promise<number> {
    throw new Error('a stream is no upgrade')
  }

  halfUpgrade(): never {
    throw new Error('a stream is no upgrade')
  }

  halfWebSocket(): never {
    throw new Error('a stream is no upgrade')
  }

  async until(text: string): Promise<void> {
    while (!this.#received.includes(text)) await new Promise<void>((resolve) => this.#heard.add(resolve))
  }

  ended(): Promise<string> {
    return this.#ended
  }

  leave(): void {
    this.#session.destroy()
    this.#dam.destroy()
  }

  #request(path: string, headers: Record<string, string> = {}, endStream = true): ClientHttp2Stream {
    if (this.#session.closed || this.#session.destroyed) throw new Error(RETRYABLE)
    const stream = this.#session.request({ ':path': path, ...headers }, { endStream })
    stream.setEncoding('utf8')
    return stream
  }

  #answer(stream: ClientHttp2Stream): Promise<Answered> {
    return new Promise((resolve, reject) => {
      let status = 0
      let body = ''
      let isWhole = false
      stream.on('response', ({ ':status': given }) => (status = given ?? 0))
      stream.on('data', (text: string) => {
        body += text
        this.#received += text
        for (const wake of this.#heard) wake()
        this.#heard.clear()
      })
      stream.on('end', () => (isWhole = true))
      stream.on('error', () => undefined)
      stream.on('close', () => {
        if (this.#isRetryable(stream)) reject(new Error(RETRYABLE))
        else if (stream.rstCode !== constants.NGHTTP2_NO_ERROR || !isWhole || status === 0)
          reject(new Error(`broken off: ${stream.rstCode}`))
        else {
          this.#taken++
          resolve({ status, body })
        }
      })
    })
  }

  /** @see RFC 9113 section 8.7 */
  #isRetryable({ id, rstCode }: ClientHttp2Stream): boolean {
    if (rstCode === constants.NGHTTP2_REFUSED_STREAM || id === undefined) return true
    return this.#notified !== undefined && id > this.#notified.lastStream
  }
}

const established2 = async (socket: Socket, event: 'connect' | 'secureConnect'): Promise<Client> => {
  await established(socket, event)
  return new Http2Client(socket).ready()
}

const CERTIFICATE = { key: file('key.pem'), cert: file('cert.pem') }

/** Node's objects of HTTP/2 are made to be used by listeners for HTTP/1.1. */
const listenerOf = (listener: RequestListener) => listener as unknown as Parameters<typeof createServer>[1] & object

export const h2c: TransportAdapter = {
  name: 'HTTP/2 without TLS',
  createServer: (listener) => createServer(listenerOf(listener)),
  open: (port) => established2(connect({ port, noDelay: true, ...ofOurs }), 'connect'),
  shakeHands: undefined,
  tellsByAnswer: false,
  isInOrder: false,
  breaksOffAlone: true,
  upgrades: false,
}

const secure =
  (allowHTTP1: boolean) =>
  (listener: RequestListener): AttachableServer =>
    createSecureServer({ ...CERTIFICATE, allowHTTP1 }, listenerOf(listener))

export const h2: TransportAdapter = {
  ...h2c,
  name: 'HTTP/2',
  createServer: secure(false),
  open: (port) => established2(connectSecurely({ port, rejectUnauthorized: false, ALPNProtocols: ['h2'], ...ofOurs }), 'secureConnect'),
  shakeHands: handshakes((socket) => new Http2Client(socket), ['h2']),
}

/** A server of both, for the two kinds of clients. */
export const h2BesideHttp1: TransportAdapter = { ...h2, name: 'HTTP/2, on a server of both', createServer: secure(true) }
export const http1BesideH2: TransportAdapter = { ...https, name: 'HTTP/1.1, on a server of both', createServer: secure(true) }
