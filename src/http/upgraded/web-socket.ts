import type { Clock } from '../../base/clock.ts'
import type { Exchange } from '../traffic/exchange.ts'
import { CLOSE_FRAME_MAX, closeCodeAtEnd, closeFrame, FrameBoundaries, GOING_AWAY } from './frames.ts'
import { holderOf, OPEN, type WebSocketHolder } from './holder.ts'
import type { Outgoing } from './outgoing.ts'
import { UpgradedWire } from './wire.ts'

/**
 * How long a handler that has asked for its signal has to say goodbye, and to close by itself, but
 * no longer than half of what is left of the grace: the rest is for the client's answer.
 */
const GOODBYE_MS = 1_000

/** How long the client's Close frame is awaited when nothing else bounds that. */
const HANDSHAKE_MS = 1_000

/**
 * A WebSocket. In its turn it is closed with 1001 and the reason, after what was begun before, and
 * its client's own Close frame is awaited; who never sends one is cut off with the grace.
 *
 * One of the package `ws` is closed by it. Any other by a frame of ours, written where no other
 * frame and no message is under way; what its holder writes after that is dropped, as the protocol
 * demands. Why so: docs/decisions/0032-how-web-sockets-are-closed.md
 */
export class WebSocketWire extends UpgradedWire {
  override readonly protocol = 'WebSocket'
  readonly #outgoing: Outgoing
  #boundaries: FrameBoundaries | undefined
  #isClosing = false
  #hasClosed = false
  #why = ''
  #answered: number | undefined
  /** The last that came, because a frame may come in pieces. */
  #received: Buffer = Buffer.alloc(0)
  #timer: unknown

  /** @param outgoing what is written from now on is given to {@link written} */
  constructor(exchange: Exchange, clock: Clock, outgoing: Outgoing) {
    super(exchange.connection, clock, exchange)
    this.#outgoing = outgoing
    this.connection.upgradedTo = 'WebSocket'
  }

  /** Something was written to the socket. Costs a socket of `ws` nothing after the first time. */
  written(bytes: Uint8Array): void {
    if (!this.#boundaries) {
      if (holderOf(this.socket)) {
        this.#outgoing.restore()
        return
      }
      this.#boundaries = new FrameBoundaries()
    }
    this.#boundaries.written(bytes)
    if (this.#isClosing) this.#closeByFrame(this.#boundaries)
  }

  override askedToEnd(exchange: Exchange, why: string, endBy: number): void {
    if (exchange !== this.exchange) return
    const leftMs = endBy - this.clock.now()
    this.#why = why
    // Before `ws` looks at it, which takes the mask off where it stands. To prepend a listener does
    // not set a socket flowing that its holder does not read.
    this.socket.prependListener('data', this.#came)
    this.socket.once('end', this.#clientEnded)
    const close = (): void => this.#close()
    if (leftMs <= 0) close()
    else if (exchange.isSignalTaken) this.#timer = this.clock.setTimeout(close, Math.min(GOODBYE_MS, leftMs / 2))
    // What is sent in this turn of the event loop still comes before.
    else setImmediate(close)
  }

  /** It is told in its own words. */
  override isMoving(): boolean {
    return false
  }

  override linger(): void {
    this.#close()
    this.#cancelTimer()
    if (this.#answered !== undefined || this.socket.readableEnded) this.end()
    else this.#timer = this.clock.setTimeout(() => this.end(), HANDSHAKE_MS)
  }

  override destroy(): void {
    this.connection.endedAs = 'terminated'
    super.destroy()
  }

  protected override closed(): void {
    if (this.#answered !== undefined) this.connection.endedAs = `closed ${this.#answered}`
    super.closed()
  }

  protected override cancel(): void {
    this.#cancelTimer()
    this.socket.off('data', this.#came)
    this.socket.off('end', this.#clientEnded)
    super.cancel()
  }

  #close(): void {
    if (this.#isClosing || this.socket.destroyed) return
    this.#isClosing = true
    const holder = holderOf(this.socket)
    if (holder && closeBy(holder, this.#why)) this.#closed()
    else {
      this.#boundaries ??= new FrameBoundaries()
      this.#closeByFrame(this.#boundaries)
    }
  }

  #closeByFrame(boundaries: FrameBoundaries): void {
    if (this.#hasClosed) return
    if (boundaries.isLost) this.connection.endByForce()
    else if (boundaries.isClosed) this.#closed()
    else if (boundaries.isBetween) {
      this.#closed()
      this.#outgoing.silence()
      if (this.socket.writable) this.#outgoing.write(closeFrame(GOING_AWAY, this.#why))
    }
  }

  #closed(): void {
    this.#hasClosed = true
    this.connection.noteTold()
  }

  /** Looks for the client's Close frame, also for the answer to one of the holder's own. */
  readonly #came = (chunk: Buffer): void => {
    this.#received = Buffer.concat([this.#received, chunk.subarray(-CLOSE_FRAME_MAX)]).subarray(-CLOSE_FRAME_MAX)
    const code = closeCodeAtEnd(this.#received)
    if (code === undefined) return
    this.#answered = code
    this.socket.off('data', this.#came)
    // The holder has it in its hands, and may end the socket itself.
    setImmediate(() => this.connection.linger())
  }

  /** It has left without a Close frame, and will send none. */
  readonly #clientEnded = (): void => this.connection.linger()

  #cancelTimer(): void {
    if (this.#timer !== undefined) this.clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }
}

/** False when it could not be closed that way. */
function closeBy(holder: WebSocketHolder, why: string): boolean {
  if (holder.readyState !== OPEN) return true
  try {
    holder.close(GOING_AWAY, why)
    return true
  } catch {
    return false
  }
}
