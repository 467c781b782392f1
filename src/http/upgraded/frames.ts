/** The server goes away: what a WebSocket is closed with when its server ends. */
export const GOING_AWAY = 1001
/** What a control frame can carry. */
const CONTROL_PAYLOAD_MAX = 125
/** The longest that a client's Close frame can be, with its mask. */
export const CLOSE_FRAME_MAX = CONTROL_PAYLOAD_MAX + 6

const FIN = 0x80
const RESERVED = 0x30
const MASK = 0x80
const OPCODE = 0x0f
const CLOSE = 0x8
const CONTROL = 0x8

/**
 * A Close frame as a server sends it. A reason that is too long for one is cut.
 * @see RFC 6455 section 5.5.1
 */
export function closeFrame(code: number, reason: string): Buffer {
  const text = Buffer.from(reason).subarray(0, CONTROL_PAYLOAD_MAX - 2)
  return Buffer.concat([Buffer.from([FIN | CLOSE, text.length + 2, code >> 8, code & 0xff]), text])
}

/**
 * The code of the Close frame that stands at the end of what a client has sent, where it has to
 * stand: it sends nothing after it. 1005 for one without a code, undefined when there is none.
 *
 * What is before it need not be known: of bytes that mean something else, one chunk in several
 * thousand looks like one, and it is looked at after our own Close frame only.
 */
export function closeCodeAtEnd(bytes: Uint8Array): number | undefined {
  for (let length = 0; length <= CONTROL_PAYLOAD_MAX; length++) {
    const at = bytes.length - length - 6
    if (at < 0) return undefined
    if (bytes[at] !== (FIN | CLOSE) || bytes[at + 1] !== (MASK | length)) continue
    if (length === 0) return 1005
    const byte = (index: number): number => (bytes[at + 6 + index] as number) ^ (bytes[at + 2 + index] as number)
    const code = length === 1 ? 0 : byte(0) * 256 + byte(1)
    if (code >= 1000 && code < 5000) return code
  }
  return undefined
}

/**
 * Where one frame ends and the next begins, in what one side sends: a frame of ours may stand only
 * between two of a server's, and after a Close frame none may.
 * @see RFC 6455 section 5.2
 */
export class FrameBoundaries {
  readonly #head = Buffer.alloc(14)
  #headLength = 0
  #payloadLeft = 0
  #isInMessage = false
  #isClosed = false
  #isLost = false

  /** Nothing has been begun that is not complete: no frame, and no message of several. */
  get isBetween(): boolean {
    return this.#headLength === 0 && this.#payloadLeft === 0 && !this.#isInMessage
  }

  /** A Close frame has begun. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** What was sent are not the frames of this protocol. */
  get isLost(): boolean {
    return this.#isLost
  }

  passed(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length && !this.#isLost; ) at = this.#step(bytes, at)
  }

  /** The same, up to the first boundary of a message; returns how many bytes that are. */
  passedToBoundary(bytes: Uint8Array): number {
    let at = 0
    while (at < bytes.length && !this.#isLost) {
      at = this.#step(bytes, at)
      if (this.isBetween) break
    }
    return at
  }

  #step(bytes: Uint8Array, at: number): number {
    if (this.#payloadLeft > 0) {
      const skipped = Math.min(this.#payloadLeft, bytes.length - at)
      this.#payloadLeft -= skipped
      return at + skipped
    }
    this.#head[this.#headLength++] = bytes[at] as number
    if (this.#headLength === headLengthOf(this.#head, this.#headLength)) this.#begin()
    return at + 1
  }

  #begin(): void {
    const [first = 0, second = 0] = this.#head
    this.#headLength = 0
    this.#payloadLeft = payloadLengthOf(this.#head, second & ~MASK)
    const opcode = first & OPCODE
    if (opcode === CLOSE) this.#isClosed = true
    if (opcode < CONTROL) this.#isInMessage = (first & FIN) === 0
    this.#isLost = (first & RESERVED) !== 0 || (opcode > 2 && opcode < CONTROL) || opcode > 0xa
  }
}

/** How long a frame's head is, as far as that is known by now. */
function headLengthOf(head: Uint8Array, known: number): number {
  if (known < 2) return 2
  const second = head[1] as number
  const length = second & ~MASK
  const extended = length === 127 ? 8 : length === 126 ? 2 : 0
  return 2 + extended + ((second & MASK) === 0 ? 0 : 4)
}

function payloadLengthOf(head: Buffer, length: number): number {
  if (length === 126) return head.readUInt16BE(2)
  return length === 127 ? Number(head.readBigUInt64BE(2)) : length
}
