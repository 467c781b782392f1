import type { ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers'
import type { Clock } from '../../base/clock.ts'
import { readOn } from '../../base/node-internals.ts'
import { afterPoll } from '../after-poll.ts'
import type { WireConnection, WireExchange } from '../ports.ts'
import { Lingering } from '../traffic/lingering.ts'
import { destroySession } from './broken-off.ts'
import { NO_ERROR } from './error-codes.ts'
import type { ClientPace } from './pace.ts'

/** How long a client that was told, and is owed nothing, has to close by itself. */
const LEAVE_MS = 1000
/** How long it is waited for a moment that costs a client nothing, before it is told anyway. */
const PATIENCE_MS = 300
/** How long of that it is waited for a connection that is quiet, and not only nearly. */
const QUIET_WITHIN_MS = 200
/** How often it is looked whether a frame was sent that did not go out in its turn. */
const LOOK_MS = 10
/** How long it is seen how much a client asks at a time, of one that asks more than one thing. */
const WATCHED_MS = 100

/** The part of a wire that its leaving needs. */
interface LeavingWire {
  readonly session: ServerHttp2Session
  readonly socket: Socket
  readonly connection: WireConnection
  readonly pace: ClientPace
  /** The exchanges whose answers are awaited. */
  readonly owed: readonly WireExchange[]
  readonly hasStreams: boolean
  /** The number of the last stream that was handed over; 0: none was. */
  readonly lastHandedOver: number
  hasBegun(exchange: WireExchange): boolean
}

/**
 * How a client of HTTP/2 is told to leave, and what happens then.
 *
 * 1. A GOAWAY frame with the number of the last stream that has arrived (`notify`). Streams up to
 *    that number are answered; those above it, which are on their way, are not looked at, and their
 *    client may send them again elsewhere, a POST too: it knows so from the frame, and from
 *    REFUSED_STREAM. Many clients make an error of that all the same, and some fail even what will
 *    be answered. So the frame waits (`notifySoon`) until an answer has been sent and nothing has
 *    come after it: too soon for the client to have asked again, which it does after a pause. One
 *    that hardly pauses, and asks one thing after the other, is told behind the head of an answer:
 *    it can have nothing on its way then. One that asks several things at a time loses what is not
 *    here yet: it is told with as much owed to it as there has been at a time [measured: of ten at
 *    a time without a pause, it loses ten with none owed, two with eight, none with ten].
 * 2. When nothing is outstanding any more, the client has a second to close the connection itself;
 *    one that has said GOAWAY, too, has none. Whether it has read the frame cannot be asked by a
 *    PING: node hears no answer once the frame is sent and no stream is open [measured on Node 20,
 *    24 and 26].
 * 3. Then, or when the connection has to be closed without all that (`close`), the session ends,
 *    with what it has still to send, and then its socket, gently, as that of any protocol.
 *
 * What is not done is to announce the end first with the number 2^31-1 and tell the real one later:
 * node's library ignores every new stream once it has sent any GOAWAY, so that clients wait for
 * ever for what was promised to them [measured].
 *
 * @see RFC 9113 section 6.8, and docs/decisions/0046-who-is-told-with-which-answer.md
 */
export class Leaving {
  readonly #wire: LeavingWire
  readonly #clock: Clock
  #hasPeerLeft = false
  #lastStream = Number.POSITIVE_INFINITY
  #bound: unknown
  /** The timer of a client that is to be notified; undefined: it is not, or it was. */
  #patience: unknown
  #needsQuiet = true
  /** The most that was owed to it at a time since it is to be told. */
  #most = 0
  #lingering: Lingering | undefined

  constructor(wire: LeavingWire, clock: Clock) {
    this.#wire = wire
    this.#clock = clock
  }

  /** Whether a stream that arrives is answered as far as its client knows. */
  hasPromised(stream: number): boolean {
    return stream <= this.#lastStream
  }

  /**
   * Notifies at the best moment that comes soon: this one, perhaps, when the head of an answer was
   * sent.
   */
  notifySoon(): void {
    const { session, connection } = this.#wire
    if (connection.wasNotified || session.closed || session.destroyed) return
    if (!this.#wire.pace.isInTurn) {
      this.#patience ??= this.#waitForMost()
      return
    }
    this.#patience ??= this.#waitForQuiet()
    this.#notifyWithLast()
  }

  /** A request has come. */
  asked(): void {
    if (this.#patience !== undefined) this.#notifyIfMost()
  }

  /** An answer was sent. */
  answered(): void {
    if (this.#patience === undefined || !this.#wire.pace.isInTurn) return
    if (this.#wire.owed.length > 0) this.#notifyWithLast()
    else void afterPoll().then(() => this.#notifyIfQuiet())
  }

  /** Waits for a quiet moment; in time it does without. */
  #waitForQuiet(): unknown {
    return this.#clock.setTimeout(() => {
      this.#needsQuiet = false
      this.#patience = this.#clock.setTimeout(() => this.#notifyAfterPoll(), PATIENCE_MS - QUIET_WITHIN_MS)
      this.#notifyWithLast()
    }, QUIET_WITHIN_MS)
  }

  #waitForMost(): unknown {
    return this.#clock.setTimeout(() => {
      this.#needsQuiet = false
      this.#patience = this.#clock.setTimeout(() => this.#notifyAfterPoll(), PATIENCE_MS - WATCHED_MS)
      this.#notifyIfMost()
    }, WATCHED_MS)
  }

  /** What it asks at a time is here, so that hardly any of it is on its way. */
  #notifyIfMost(): void {
    const { length } = this.#wire.owed
    this.#most = Math.max(this.#most, length)
    if (!this.#needsQuiet && length > 0 && length === this.#most) this.notify()
  }

  /** Notifies when only one answer is owed, and its head was sent. */
  #notifyWithLast(): void {
    const { owed, pace } = this.#wire
    if (this.#needsQuiet && !pace.isQuick) return
    if (owed.length === 1 && owed.every((exchange) => this.#wire.hasBegun(exchange))) this.notify()
  }

  /** A timer fires before the loop has read what has come: that would be refused. */
  #notifyAfterPoll(): void {
    void afterPoll().then(() => {
      if (this.#patience !== undefined) this.notify()
    })
  }

  #notifyIfQuiet(): void {
    if (this.#patience !== undefined && this.#wire.owed.length === 0) this.notify()
  }

  /**
   * Now. A second call does nothing, but with another code: that is sent to a client that was told
   * already, too.
   */
  notify(code = NO_ERROR): void {
    this.#clearTurn()
    const { session, connection } = this.#wire
    if (session.destroyed || (code === NO_ERROR && (connection.wasNotified || session.closed))) return
    // Node fills in the number; what it has read and not handed over yet is below it.
    session.goaway(code)
    if (connection.wasNotified) return
    // Half of a head counts there, too; its request is refused if it comes, as not looked at.
    this.#lastStream = connection.isIdle ? this.#wire.lastHandedOver : (session.state.lastProcStreamID ?? 0)
    connection.noteNotified()
    this.ifIdle()
  }

  /** The client has sent a GOAWAY. A request that came just before it is not handed over yet. */
  peerLeaves(): void {
    setImmediate(() => {
      this.#hasPeerLeft = true
      this.ifIdle()
    })
  }

  /** Ends the connection when nothing is outstanding any more, and no stream is open. */
  ifIdle(): void {
    const { connection, socket, hasStreams } = this.#wire
    // Streams close behind their socket: a wait that begins then is never cancelled.
    if (!connection.isIdle || connection.isEnding || socket.destroyed) return
    if (connection.wasNotified) {
      // The last frame of a stream is sent after its 'close'.
      if (this.#hasPeerLeft && !hasStreams) {
        setImmediate(() => connection.linger())
        return
      }
      this.#wait(
        () => {
          if (connection.isIdle) connection.linger()
        },
        this.#mayBegin ? LEAVE_MS - PATIENCE_MS : LEAVE_MS,
      )
    }
    if (connection.wasNotified || this.#hasPeerLeft) this.#hearOfClose()
  }

  /** Ends the session, which tells the client if nothing has, then its socket. Called once. */
  close(): void {
    const { session, socket, hasStreams, connection } = this.#wire
    this.#clearTurn()
    connection.noteNotified()
    // When its last frame has been sent, node ends the socket.
    socket.once('finish', () => this.#closeSocket())
    // Node has begun to close it when the client's GOAWAY came, and does not go on with that. The
    // RST_STREAM of its last stream is sent in this turn: nghttp2 drops it once the session has
    // ended.
    if (session.closed && !hasStreams) setImmediate(() => destroySession(session))
    else if (!this.#disowns()) session.close()
    const destroy = (): void => {
      destroySession(session)
      this.#closeSocket()
    }
    this.#wait(destroy)
    // A stream may be open whose request was not read to its end: there is no wait for that.
    if (this.#isHalfSent)
      this.#whenSent(() => {
        session.close()
        this.#wait(destroy, 0)
      })
  }

  /**
   * The number of a GOAWAY that is made is the lower one of the client's last stream and of what
   * was sent before, not of what still waits to be sent: so the one that disowns goes first.
   */
  #whenSent(then: () => void): void {
    const { session } = this.#wire
    const look = (): void => {
      if (session.destroyed) return
      if (session.state.outboundQueueSize) this.#clock.setTimeout(look, LOOK_MS)
      else then()
    }
    // Node sends when this turn's timers and events are over.
    setImmediate(look)
  }

  /** The socket is closed, or about to be. */
  cancel(): void {
    this.#clear()
    this.#clearTurn()
    this.#lingering?.cancel()
  }

  #clearTurn(): void {
    if (this.#patience !== undefined) this.#clock.clearTimeout(this.#patience)
    this.#patience = undefined
  }

  /**
   * Node counts a stream of which half the head has come, and which ends with the connection now:
   * its client is told by a lower number that nothing was done about it. Not of the first stream of
   * a connection: node cannot be made to send 0 then.
   */
  #disowns(): boolean {
    const { session, lastHandedOver } = this.#wire
    if (session.closed || lastHandedOver === 0 || !this.#isHalfSent) return false
    session.goaway(NO_ERROR, lastHandedOver)
    return true
  }

  /** Half of a head has come, of a request that was not handed over. */
  get #isHalfSent(): boolean {
    const { session, lastHandedOver } = this.#wire
    return !session.destroyed && lastHandedOver < (session.state.lastProcStreamID ?? 0)
  }

  /**
   * Its first request, or another of which half has come, may still be read: only then node can
   * refuse it. It has had its last call, and so has less time than others.
   */
  get #mayBegin(): boolean {
    return this.#wire.lastHandedOver === 0 || this.#isHalfSent
  }

  #closeSocket(): void {
    this.#clear()
    this.#lingering ??= new Lingering(this.#wire.connection, this.#clock)
  }

  /**
   * Node stops reading where either side has sent GOAWAY and no stream is open, and would not hear
   * that the client has closed the connection [measured on Node 20, 22 and 24]. It does so when it
   * has sent what it has to send: in this turn of the loop or, with the end of an answer before it,
   * in the next one. Where it cannot be had to read on, the wait is for the second to be over.
   */
  #hearOfClose(): void {
    const { socket } = this.#wire
    setImmediate(() => {
      readOn(socket)
      setImmediate(() => readOn(socket))
    })
  }

  #wait(then: () => void, ms = LEAVE_MS): void {
    this.#clear()
    this.#bound = this.#clock.setTimeout(() => {
      this.#bound = undefined
      then()
    }, ms)
  }

  #clear(): void {
    if (this.#bound !== undefined) this.#clock.clearTimeout(this.#bound)
    this.#bound = undefined
  }
}
