import { connect, type Socket } from 'node:net'

/** A client byte by byte, which does nothing by itself but end when its server has. */
export abstract class Client {
  readonly #socket: Socket
  #rest: Buffer | undefined
  /** Written when half of a request was: it comes after the rest. */
  readonly #behind: Buffer[] = []

  static async open<C extends Client>(port: number, make: (socket: Socket) => C): Promise<C> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    return make(socket)
  }

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk) => this.came(chunk))
    socket.on('end', () => socket.end())
    socket.on('error', () => undefined)
  }

  /** Answers that have come whole. */
  abstract get answers(): number
  /** Whether its server has said that the connection closes. */
  abstract get sawNotified(): boolean
  protected abstract came(chunk: Buffer): void
  /** The bytes of a request. */
  protected abstract asking(path: string): Buffer

  ask(path: string): void {
    this.write(this.asking(path))
  }

  half(path: string): void {
    const bytes = this.asking(path)
    const half = Math.floor(bytes.length / 2)
    this.write(bytes.subarray(0, half))
    this.#rest = bytes.subarray(half)
  }

  rest(): void {
    const rest = this.#rest
    this.#rest = undefined
    if (rest) this.write(Buffer.concat([rest, ...this.#behind.splice(0)]))
  }

  leave(how: 'end' | 'reset'): void {
    if (how === 'end') this.#socket.end()
    else this.#socket.resetAndDestroy()
  }

  protected write(bytes: Buffer): void {
    if (this.#rest) this.#behind.push(bytes)
    else if (this.#socket.writable) this.#socket.write(bytes)
  }
}

export class Http1Client extends Client {
  #received = ''

  get answers(): number {
    return this.#received.split('HTTP/1.1 ').length - 1
  }

  get sawNotified(): boolean {
    return /^connection: close\r$/im.test(this.#received) || this.#received.includes(CLOSE_FRAME)
  }

  upgrade(path: string): void {
    this.write(this.asking(path, 'Connection: Upgrade\r\nUpgrade: websocket\r\n'))
  }

  /** Answers a Close frame. */
  reply(): void {
    this.write(Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe9]))
  }

  protected came(chunk: Buffer): void {
    this.#received += chunk.toString('latin1')
  }

  protected asking(path: string, more = ''): Buffer {
    return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: test\r\n${more}\r\n`)
  }
}

/** The beginning of one with 1001. */
const CLOSE_FRAME = String.fromCharCode(0x88)

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const [DATA, HEADERS, SETTINGS, GOAWAY] = [0, 1, 4, 7]
const [END_STREAM, END_HEADERS] = [1, 4]
const FRAME_HEAD_BYTES = 9

/** @see RFC 9113 section 4.1 */
function frame(type: number, flags: number, stream: number, payload = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/**
 * A header whose name stands in the static table, and is not indexed.
 * @see RFC 7541 section 6.2.2
 */
const literal = (index: number, value: string): Buffer => Buffer.from([index, value.length, ...Buffer.from(value)])
/** Of that table: `:method: GET`, `:scheme: http`, and the names of the others. */
const [METHOD_GET, SCHEME_HTTP, AUTHORITY, PATH] = [0x82, 0x86, 1, 4]

export class Http2Client extends Client {
  #bytes: Buffer = Buffer.alloc(0)
  #stream = 1
  #answers = 0
  #sawNotified = false

  constructor(...args: ConstructorParameters<typeof Client>) {
    super(...args)
    this.write(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0)]))
  }

  get answers(): number {
    return this.#answers
  }

  get sawNotified(): boolean {
    return this.#sawNotified
  }

  protected came(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk])
    while (this.#bytes.length >= FRAME_HEAD_BYTES) {
      const length = this.#bytes.readUIntBE(0, 3)
      if (this.#bytes.length < FRAME_HEAD_BYTES + length) return
      const [type, flags] = [this.#bytes.readUInt8(3), this.#bytes.readUInt8(4)]
      if (type === GOAWAY) this.#sawNotified = true
      if (type === SETTINGS && flags === 0) this.write(frame(SETTINGS, 1, 0))
      if ((type === DATA || type === HEADERS) && (flags & END_STREAM) !== 0) this.#answers++
      this.#bytes = this.#bytes.subarray(FRAME_HEAD_BYTES + length)
    }
  }

  protected asking(path: string): Buffer {
    const headers = Buffer.concat([Buffer.from([METHOD_GET, SCHEME_HTTP]), literal(AUTHORITY, 'test'), literal(PATH, path)])
    const stream = this.#stream
    this.#stream += 2
    return frame(HEADERS, END_STREAM | END_HEADERS, stream, headers)
  }
}
