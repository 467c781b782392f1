import { setImmediate } from 'node:timers'
import type { WireExchange } from '../ports.ts'
import type { TrafficPort } from '../transport.ts'
import { CLOSE_FRAME_MAX, closeCodeAtEnd, closeFrame, FrameBoundaries, GOING_AWAY } from './frames.ts'
import { holderOf, OPEN, type WebSocketHolder } from './holder.ts'
import type { Intake } from './intake.ts'
import type { Outgoing } from './outgoing.ts'
import { UpgradedWire } from './wire.ts'

/**
 * How long a handler that has asked for its signal has to say goodbye, and to close by itself, but
 * no longer than half of what is left of the grace: the rest is for the client's answer.
 */
const GOODBYE_MS = 1_000

/**
 * How long what was read has to be answered, when nothing more is: as long as a last call is by
 * default. Nothing shows that an answer is under way, so that all of them have it, but no longer
 * than half of what is left of the grace.
 */
const ANSWERS_MS = 300

/** How long the client's Close frame is awaited when nothing else bounds that. */
const HANDSHAKE_MS = 1_000

/**
 * A WebSocket. In its turn nothing more is read from its client, and what was read is answered;
 * then it is closed with 1001 and the reason, after what was begun before, and its client's own
 * Close frame is awaited: who never sends one is cut off with the grace. So no message is processed
 * whose answer would be dropped, and those that were not read may be sent again elsewhere.
 *
 * One of the package `ws` is closed by it. Any other by a frame of ours, written where no other
 * frame and no message is under way; what its holder writes after that is dropped, as the protocol
 * demands. Why so: docs/decisions/0032-how-web-sockets-are-closed.md
 */
export class WebSocketWire extends UpgradedWire {
  override readonly protocol = 'WebSocket'
  readonly #outgoing: Outgoing
  readonly #intake: Intake
  readonly #holdsOver: TrafficPort['holdsOver']
  #boundaries: FrameBoundaries | undefined
  #isClosing = false
  #hasClosed = false
  #why = ''
  #answered: number | undefined
  /** The last that came, because a frame may come in pieces. */
  #received: Buffer = Buffer.alloc(0)
  #timer: unknown

  /** @param outgoing what is written from now on is given to {@link written} */
  constructor(exchange: WireExchange, traffic: TrafficPort, outgoing: Outgoing, intake: Intake) {
    super(exchange.connection, traffic.clock, exchange)
    this.#outgoing = outgoing
    this.#intake = intake
    this.#holdsOver = traffic.holdsOver
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
    this.#boundaries.passed(bytes)
  }

  override askedToEnd(exchange: WireExchange, why: string, endBy: number): void {
    if (exchange !== this.exchange) return
    if (this.#isUnknown) super.askedToEnd(exchange, why, endBy)
    else this.#closeInTurn(exchange, why, endBy - this.clock.now())
  }

  #closeInTurn(exchange: WireExchange, why: string, leftMs: number): void {
    this.#why = why
    this.#intake.listen(this.#came)
    this.socket.once('end', this.#clientEnded)
    if (leftMs <= 0) {
      this.#close()
      return
    }
    const allMs = Math.min(exchange.isSignalTaken ? GOODBYE_MS : ANSWERS_MS, leftMs / 2)
    const answersMs = Math.min(ANSWERS_MS, allMs / 2)
    const endBy = this.clock.now() + leftMs
    const finish = (): void => this.#finish(exchange.isSignalTaken ? answersMs : allMs, endBy)
    if (exchange.isSignalTaken) this.#timer = this.clock.setTimeout(finish, allMs - answersMs)
    else finish()
  }

  /** Reads nothing more, has what was read answered, and closes. */
  #finish(answersMs: number, endBy: number): void {
    if (this.#isClosing || this.socket.destroyed) return
    this.#intake.stop()
    const close = (): void => this.#close()
    const answered = (): void => {
      const holdsOver = this.#holdsOver()
      const waitMs = holdsOver ? Math.max(0, endBy - this.clock.now()) / 2 : 0
      if (waitMs === 0) close()
      else this.#timer = this.clock.setTimeout(close, waitMs)
      // Whose they are is not known. What they answer comes in the step that ends them, or soon.
      void holdsOver?.then(() => setImmediate(close))
    }
    this.#timer = this.clock.setTimeout(answered, answersMs)
  }

  /** Whether it moves: it is asked in its own words, if it is what it is said to be. */
  override isMoving(): boolean {
    return this.#isUnknown && super.isMoving()
  }

  get #isUnknown(): boolean {
    return this.#boundaries?.isLost ?? false
  }

  override linger(): void {
    if (!this.#isUnknown) this.#close()
    this.#cancelTimer()
    if (this.#isUnknown || this.#answered !== undefined || this.socket.readableEnded) this.end()
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
    this.#intake.cancel()
    this.socket.off('end', this.#clientEnded)
    super.cancel()
  }

  #close(): void {
    if (this.#isClosing || this.socket.destroyed) return
    this.#isClosing = true
    this.#cancelTimer()
    const holder = holderOf(this.socket)
    if (holder && closeBy(holder, this.#why)) this.#closed()
    else {
      this.#boundaries ??= new FrameBoundaries()
      const boundaries = this.#boundaries
      this.#closeByFrame(boundaries)
      // A proxy passes on pieces that begin and end anywhere: the boundary is inside one.
      if (!this.#hasClosed)
        this.#outgoing.cut(
          (bytes) => this.#passesOf(bytes, boundaries),
          () => this.#closeByFrame(boundaries),
        )
    }
  }

  /** How much of a piece is written before our Close frame. */
  #passesOf(bytes: Uint8Array, boundaries: FrameBoundaries): number {
    const toBoundary = this.#hasClosed ? bytes.length : boundaries.passedToBoundary(bytes)
    return boundaries.isLost ? bytes.length : toBoundary
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
    this.#intake.drop()
    this.connection.noteNotified()
  }

  /** Looks for the client's Close frame, also for the answer to one of the holder's own. */
  readonly #came = (chunk: Buffer): void => {
    this.#received = Buffer.concat([this.#received, chunk.subarray(-CLOSE_FRAME_MAX)]).subarray(-CLOSE_FRAME_MAX)
    const code = closeCodeAtEnd(this.#received)
    if (code === undefined) return
    this.#answered = code
    this.#intake.unlisten()
    // The holder has it in its hands, and may end the socket itself.
    setImmediate(() => this.connection.linger())
  }

  /** Handles a client that has left without a Close frame, and will send none. */
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
