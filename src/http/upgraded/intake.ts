import type { Socket } from 'node:net'
import { override } from '../../base/override.ts'
import { FrameBoundaries } from './frames.ts'
import { holderOf } from './holder.ts'

/** The longest head of a frame: until it is there, a frame may be any. */
const HEAD_MAX = 14

const NOTHING = Buffer.alloc(0)

type Emit = (event: string | symbol, ...args: unknown[]) => boolean

/**
 * What the client of a WebSocket sends, on its way to the holder of the socket. It may be stopped,
 * at the end of a message, and then dropped, all but the Close frame: what comes then is not
 * processed, because it could not be answered.
 *
 * Of a socket of `ws` nothing is followed: it takes in what it is given, and its messages are
 * dropped instead.
 */
export class Intake {
  readonly #socket: Socket
  /** The boundaries of all that the holder was given; undefined when that is not known. */
  #boundaries: FrameBoundaries | undefined
  #came: ((chunk: Buffer) => void) | undefined
  #isStopped = false
  #isDropping = false
  /** The frame that is under way, as long as it may be a Close frame. */
  #frame: Buffer = NOTHING
  #readOn: (() => void) | undefined

  /** @param begun what came with the request: whether its handler puts it back is not known */
  constructor(socket: Socket, begun: Buffer | undefined) {
    this.#socket = socket
    if (begun && begun.length > 0) return
    this.#boundaries = new FrameBoundaries()
    // To prepend a listener does not set a socket flowing that its holder does not read.
    socket.prependListener('data', this.#follow)
  }

  /** Calls back with all that comes, before the holder has it: `ws` takes the mask off in place. */
  listen(came: (chunk: Buffer) => void): void {
    this.#came = came
    this.#socket.prependListener('data', came)
  }

  unlisten(): void {
    if (this.#came) this.#socket.off('data', this.#came)
    this.#came = undefined
  }

  /** Reads nothing more, but the rest of a message that the holder has in part. */
  stop(): void {
    this.#isStopped = true
    if (holderOf(this.#socket)) {
      this.#pause()
      return
    }
    this.#socket.off('data', this.#follow)
    const emit = this.#socket.emit as Emit
    const filtering: Emit = (event, ...args) =>
      event === 'data' ? this.#filtered(args[0] as Buffer, emit) : emit.call(this.#socket, event, ...args)
    override(this.#socket, 'emit', filtering as Socket['emit'])
    if (!this.#boundaries || this.#boundaries.isBetween) this.#pause()
  }

  /** Reads on, and drops what comes. Without {@link stop} before, too. */
  drop(): void {
    if (this.#isDropping) return
    const holder = holderOf(this.#socket)
    if (holder) {
      const { emit } = holder
      override(holder, 'emit', (event: string | symbol, ...args: unknown[]) => event === 'message' || emit.call(holder, event, ...args))
    } else if (!this.#isStopped) this.stop()
    this.#isDropping = true
    // In the middle of a message a Close frame would be taken for a part of it.
    if (this.#boundaries && !this.#boundaries.isBetween) this.#boundaries = undefined
    this.#readOn?.()
    this.#readOn = undefined
  }

  /** The socket is closed, or another's. */
  cancel(): void {
    this.unlisten()
    this.#socket.off('data', this.#follow)
  }

  #pause(): void {
    const socket = this.#socket
    socket.pause()
    // Its holder may ask for more when it has written what it had.
    const restore = override(socket, 'resume', () => socket)
    this.#readOn = () => {
      restore()
      socket.resume()
    }
  }

  readonly #follow = (chunk: Buffer): void => {
    if (holderOf(this.#socket)) this.#socket.off('data', this.#follow)
    else this.#boundaries?.passed(chunk)
  }

  #filtered(chunk: Buffer, emit: Emit): boolean {
    const pass = (bytes: Buffer): boolean => bytes.length > 0 && emit.call(this.#socket, 'data', bytes)
    if (this.#isDropping) {
      this.#came?.(chunk)
      return pass(this.#closeFrameIn(chunk))
    }
    const boundaries = this.#boundaries
    if (!boundaries || boundaries.isBetween) return true
    const rest = boundaries.passedToBoundary(chunk)
    if (boundaries.isBetween) this.#pause()
    return pass(chunk.subarray(0, rest))
  }

  /** What of it is the client's Close frame, when it is whole. */
  #closeFrameIn(chunk: Buffer): Buffer {
    const boundaries = this.#boundaries
    for (let bytes = chunk; boundaries && !boundaries.isLost && bytes.length > 0; ) {
      const length = boundaries.passedToBoundary(bytes)
      this.#frame = Buffer.concat([this.#frame, bytes.subarray(0, length)])
      bytes = bytes.subarray(length)
      if (boundaries.isBetween && boundaries.isClosed) {
        this.#boundaries = undefined
        return this.#frame
      }
      if (boundaries.isBetween || (!boundaries.isClosed && this.#frame.length >= HEAD_MAX)) this.#frame = NOTHING
    }
    return NOTHING
  }
}
