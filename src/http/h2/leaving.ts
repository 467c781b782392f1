import type { Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import { Lingering } from '../traffic/lingering.ts'
import { NO_ERROR } from './error-codes.ts'
import type { Http2Wire } from './wire.ts'

/** How long a client that was told, and is owed nothing, has to close by itself. */
const LEAVE_MS = 1000

/**
 * How a client of HTTP/2 is told to leave, and what happens then.
 *
 * 1. A GOAWAY frame with the number of the last stream that has arrived (`tell`). It can be sent at
 *    any time. Streams up to that number are answered; those above it, which are on their way, are
 *    not looked at, and their client may send them again elsewhere, a POST too: it knows so from
 *    the frame, and from REFUSED_STREAM where node lets one through.
 * 2. When nothing is outstanding any more, the client has a second to close the connection itself.
 *    One that answers with a GOAWAY of its own has nothing more to ask, and may wait for us: node's
 *    client does not close before we do, on any version [measured].
 * 3. Then, or when the connection has to be closed without all that (`close`), the session ends,
 *    with what it has still to send, and then its socket, gently, as that of any protocol.
 *
 * What is not done is to announce the end first with the number 2^31-1 and tell the real one later:
 * clients of node stall on that, on every version [measured].
 *
 * @see RFC 9113 section 6.8, and docs/decisions/0033-how-http2-clients-are-told.md
 */
export class Leaving {
  readonly #wire: Http2Wire
  readonly #clock: Clock
  #hasPeerLeft = false
  #lastStream = Number.POSITIVE_INFINITY
  #bound: unknown
  #lingering: Lingering | undefined

  constructor(wire: Http2Wire, clock: Clock) {
    this.#wire = wire
    this.#clock = clock
  }

  /** Whether a stream that arrives is answered as far as its client knows. */
  hasPromised(stream: number): boolean {
    return stream <= this.#lastStream
  }

  /** A second call does nothing. */
  tell(): void {
    const { session, connection } = this.#wire
    if (connection.wasTold || session.closed || session.destroyed) return
    // Node fills in the number; what it has read and not handed over yet is below it.
    session.goaway(NO_ERROR)
    this.#lastStream = session.state.lastProcStreamID ?? 0
    connection.noteTold()
    this.ifIdle()
  }

  /** The client has sent a GOAWAY. A request that came just before it is not handed over yet. */
  peerLeaves(): void {
    setImmediate(() => {
      this.#hasPeerLeft = true
      this.ifIdle()
    })
  }

  /** To be called when nothing is outstanding any more, and when no stream is open any more. */
  ifIdle(): void {
    const { connection, hasStreams } = this.#wire
    if (!connection.isIdle || connection.isEnding) return
    if (connection.wasTold) {
      // The last frame of a stream is sent after its 'close'.
      if (this.#hasPeerLeft && !hasStreams) {
        setImmediate(() => connection.linger())
        return
      }
      this.#wait(() => {
        if (connection.isIdle) connection.linger()
      })
    }
    if (connection.wasTold || this.#hasPeerLeft) this.#hearOfClose()
  }

  /** Ends the session, which tells the client if nothing has, then its socket. Called once. */
  close(): void {
    const { session, socket, hasStreams, connection } = this.#wire
    connection.noteTold()
    // When its last frame has been sent, node ends the socket.
    socket.once('finish', () => this.#closeSocket())
    // Node has begun to close it when the client's GOAWAY came, and does not go on with that.
    if (session.closed && !hasStreams) session.destroy()
    // The next GOAWAY may not have a higher number than this one, which is sent in this turn.
    else if (this.#disowns()) setImmediate(() => session.close())
    else session.close()
    // A stream may be open whose request was not read to its end: there is no wait for that.
    this.#wait(() => {
      session.destroy()
      this.#closeSocket()
    })
  }

  /** The socket is closed, or about to be. */
  cancel(): void {
    this.#clear()
    this.#lingering?.cancel()
  }

  /**
   * Node counts a stream of which half the head has come, and which ends with the connection now:
   * its client is told by a lower number that nothing was done about it. Not of the first stream of
   * a connection: node cannot be made to send 0 then.
   */
  #disowns(): boolean {
    const { session, lastHandedOver } = this.#wire
    if (session.closed || lastHandedOver === 0 || lastHandedOver >= (session.state.lastProcStreamID ?? 0)) return false
    session.goaway(NO_ERROR, lastHandedOver)
    return true
  }

  #closeSocket(): void {
    this.#clear()
    this.#lingering ??= new Lingering(this.#wire.connection, this.#clock)
  }

  /**
   * Node stops to read when it has sent what it has to send: in this turn of the loop or, with the
   * end of an answer before it, in the next one.
   */
  #hearOfClose(): void {
    const { socket } = this.#wire
    setImmediate(() => {
      readOn(socket)
      setImmediate(() => readOn(socket))
    })
  }

  #wait(then: () => void): void {
    this.#clear()
    this.#bound = this.#clock.setTimeout(() => {
      this.#bound = undefined
      then()
    }, LEAVE_MS)
  }

  #clear(): void {
    if (this.#bound !== undefined) this.#clock.clearTimeout(this.#bound)
    this.#bound = undefined
  }
}

/** What node has no other name for; a version without it waits for the second to be over. */
interface WithHandle {
  readonly _handle?: { readonly readStart?: () => number } | null
}

/**
 * Node stops reading where either side has sent GOAWAY and no stream is open, and would not hear
 * that the client has closed the connection [measured on Node 20, 22 and 24].
 */
function readOn(socket: Socket): void {
  ;(socket as WithHandle)._handle?.readStart?.()
}
