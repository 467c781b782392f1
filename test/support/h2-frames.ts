import { onTestFinished } from 'vitest'
import { RawClient } from './raw-client.ts'

export const FRAME = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goaway: 7, windowUpdate: 8, continuation: 9 } as const
export const FLAG = { ack: 0x1, endStream: 0x1, endHeaders: 0x4 } as const

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

/** A frame that was received. */
export interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

const HEAD_BYTES = 9

export function frame(type: number, { flags = 0, stream = 0, payload = Buffer.alloc(0) }: Partial<Frame> = {}): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** All that are there in full. */
export function framesOf(bytes: Buffer): Frame[] {
  const frames: Frame[] = []
  let rest = bytes
  while (rest.length >= HEAD_BYTES && rest.length >= HEAD_BYTES + rest.readUIntBE(0, 3)) {
    const end = HEAD_BYTES + rest.readUIntBE(0, 3)
    frames.push({
      type: rest[3] as number,
      flags: rest[4] as number,
      stream: rest.readUInt32BE(5),
      payload: rest.subarray(HEAD_BYTES, end),
    })
    rest = rest.subarray(end)
  }
  return frames
}

/** Headers as HPACK has them that neither compresses nor remembers. */
const headerBlock = (headers: Readonly<Record<string, string>>): Buffer =>
  Buffer.concat(Object.entries(headers).flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)]))

/** @see RFC 7541 section 5.1 */
function text(value: string): Buffer {
  const bytes = Buffer.from(value)
  if (bytes.length < 0x7f) return Buffer.concat([Buffer.of(bytes.length), bytes])
  const length = [0x7f]
  let rest = bytes.length - 0x7f
  for (; rest >= 0x80; rest >>= 7) length.push((rest & 0x7f) | 0x80)
  return Buffer.concat([Buffer.from([...length, rest]), bytes])
}

const PSEUDO = { ':method': 'GET', ':scheme': 'http', ':authority': 'localhost', ':path': '/' }

/**
 * A connection of HTTP/2 that sends any frame, and helps with nothing but to acknowledge settings.
 */
export class RawH2Client {
  readonly #raw: RawClient

  /**
   * Resolves when the server has sent its settings.
   * @param acknowledges false: to the server they are not in force yet
   */
  static async open(port: number, { acknowledges = true } = {}): Promise<RawH2Client> {
    return RawH2Client.on(await RawClient.open({ port }), { acknowledges })
  }

  /** The same on a socket that is established, such as one of TLS. */
  static async on(raw: RawClient, { acknowledges = true } = {}): Promise<RawH2Client> {
    const client = new RawH2Client(raw)
    client.send(Buffer.concat([PREFACE, frame(FRAME.settings)]))
    await client.until('the settings', ({ type, flags }) => type === FRAME.settings && flags === 0)
    if (acknowledges) client.send(frame(FRAME.settings, { flags: FLAG.ack }))
    return client
  }

  private constructor(raw: RawClient) {
    this.#raw = raw
    onTestFinished(() => raw.abort())
  }

  send(bytes: Buffer): void {
    this.#raw.send(bytes)
  }

  /** Sends the head of a request in one frame. */
  request(stream: number, headers: Readonly<Record<string, string>> = {}, { endStream = true } = {}): void {
    const flags = FLAG.endHeaders | (endStream ? FLAG.endStream : 0)
    this.send(frame(FRAME.headers, { flags, stream, payload: headerBlock({ ...PSEUDO, ...headers }) }))
  }

  /** The same in frames of so many bytes. */
  requestInFrames(stream: number, headers: Readonly<Record<string, string>>, bytes: number): void {
    const block = headerBlock({ ...PSEUDO, ...headers })
    for (let at = 0; at < block.length; at += bytes) {
      const type = at === 0 ? FRAME.headers : FRAME.continuation
      const flags = (at === 0 ? FLAG.endStream : 0) | (at + bytes >= block.length ? FLAG.endHeaders : 0)
      this.send(frame(type, { flags, stream, payload: block.subarray(at, at + bytes) }))
    }
  }

  get frames(): readonly Frame[] {
    return framesOf(this.#raw.bytes)
  }

  /** Resolves with the first frame of this kind. */
  until(what: string, isIt: (frame: Frame) => boolean): Promise<Frame> {
    return this.#raw.until(what, () => this.frames.find(isIt))
  }

  /** Resolves with the frames of a stream that the server has ended or reset. */
  async answer(stream: number): Promise<readonly Frame[]> {
    await this.until(`the end of stream ${stream}`, (one) => one.stream === stream && isLast(one))
    return this.frames.filter((one) => one.stream === stream)
  }

  closed(): Promise<string> {
    return this.#raw.closed()
  }

  /** Ends its side. */
  end(): void {
    this.#raw.end()
  }
}

const isLast = ({ type, flags }: Frame): boolean => type === FRAME.reset || (type <= FRAME.headers && (flags & FLAG.endStream) !== 0)

/** Of the frames of one stream. */
export const bodyOf = (frames: readonly Frame[]): string =>
  Buffer.concat(frames.filter(({ type }) => type === FRAME.data).map(({ payload }) => payload)).toString()
