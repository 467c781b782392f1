import type { RawClient } from './raw-client.ts'

/** A frame as it was received. */
export interface Frame {
  readonly opcode: number
  readonly isFinal: boolean
  readonly payload: Buffer
}

const TEXT = 1
const CLOSE = 8
const CONTINUATION = 0

/** A handshake with the key of RFC 6455's example. */
export const HANDSHAKE = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
} as const

/**
 * A client of WebSocket, frame by frame, that does nothing by itself: it answers no Close frame and
 * no ping, and takes everything for a failure that a server must not send.
 */
export class WebSocketClient {
  readonly #raw: RawClient
  readonly frames: Frame[] = []
  #at = 0

  private constructor(raw: RawClient) {
    this.#raw = raw
    raw.socket.on('data', () => this.#parse())
  }

  /** Resolves when the server has switched; rejects with its status when it has not. */
  static async open(raw: RawClient, path: string, headers: Readonly<Record<string, string>> = {}): Promise<WebSocketClient> {
    raw.request('GET', path, { headers: { ...HANDSHAKE, ...headers } })
    return WebSocketClient.#switched(raw)
  }

  /** Sends half of the handshake; the result sends the rest, and is then what `open` is. */
  static half(raw: RawClient, path: string): () => Promise<WebSocketClient> {
    const [first = '', ...rest] = Object.entries(HANDSHAKE).map(([name, value]) => `${name}: ${value}\r\n`)
    raw.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${first}`)
    return () => {
      raw.send(`${rest.join('')}\r\n`)
      return WebSocketClient.#switched(raw)
    }
  }

  static async #switched(raw: RawClient): Promise<WebSocketClient> {
    const { status } = await raw.response()
    if (status !== 101) throw new Error(`answered with ${status}`)
    const client = new WebSocketClient(raw)
    client.#parse()
    return client
  }

  get raw(): RawClient {
    return this.#raw
  }

  /** Messages of text, of as many frames as they had. */
  get messages(): string[] {
    const messages: string[] = []
    const parts: Buffer[] = []
    for (const { opcode, isFinal, payload } of this.frames) {
      if (opcode > 2) continue
      if (opcode !== CONTINUATION && parts.length > 0) throw new Error('a message begins in the middle of another one')
      parts.push(payload)
      if (isFinal) messages.push(Buffer.concat(parts.splice(0)).toString())
    }
    if (parts.length > 0) throw new Error('a message has no end')
    return messages
  }

  send(text: string): void {
    this.#raw.send(masked(TEXT, Buffer.from(text)))
  }

  /** Resolves when so many messages are there. */
  async received(count: number): Promise<void> {
    await this.#raw.until(`${count} messages`, () => this.frames.filter(({ opcode }) => opcode < CLOSE).length >= count)
  }

  /** The Close frame of the server: there is one, and it is the last that it sends. */
  async closeFrame(): Promise<{ readonly code: number; readonly reason: string }> {
    const { payload } = await this.#raw.until('a Close frame', () => this.frames.find(({ opcode }) => opcode === CLOSE))
    return { code: payload.length < 2 ? 1005 : payload.readUInt16BE(0), reason: payload.subarray(2).toString() }
  }

  /** Answers the Close frame of the server, or sends the first one. */
  close(code = 1001): void {
    this.#raw.send(masked(CLOSE, Buffer.from([code >> 8, code & 0xff])))
  }

  #parse(): void {
    const bytes = Buffer.from(this.#raw.bytes)
    for (let frame = frameAt(bytes, this.#at); frame; frame = frameAt(bytes, this.#at)) {
      if (this.frames.some(({ opcode }) => opcode === CLOSE)) throw new Error('a frame came after the Close frame')
      this.#at = frame.end
      this.frames.push(frame)
    }
  }
}

function frameAt(bytes: Buffer, at: number): (Frame & { readonly end: number }) | undefined {
  if (bytes.length < at + 2) return undefined
  const [first = 0, second = 0] = bytes.subarray(at)
  if ((second & 0x80) !== 0) throw new Error('a server masks nothing')
  const extended = second === 127 ? 8 : second === 126 ? 2 : 0
  if (bytes.length < at + 2 + extended) return undefined
  const length = extended === 8 ? Number(bytes.readBigUInt64BE(at + 2)) : extended === 2 ? bytes.readUInt16BE(at + 2) : second
  const from = at + 2 + extended
  if (bytes.length < from + length) return undefined
  return { opcode: first & 0x0f, isFinal: (first & 0x80) !== 0, payload: bytes.subarray(from, from + length), end: from + length }
}

/** A frame as a client sends it. */
function masked(opcode: number, payload: Buffer): Buffer {
  const mask = Buffer.from([1, 2, 3, 4])
  const length =
    payload.length < 126 ? Buffer.from([0x80 | payload.length]) : Buffer.from([0xfe, payload.length >> 8, payload.length & 0xff])
  const body = payload.map((byte, index) => byte ^ (mask[index % 4] as number))
  return Buffer.concat([Buffer.from([0x80 | opcode]), length, mask, body])
}
