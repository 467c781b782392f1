import type { Socket } from 'node:net'
import type { ConnectionProtocol } from '../base/protocol.ts'
import type { ExchangeView } from './chain.ts'
import type { Answer } from './respond.ts'

/**
 * The seam between the traffic of a life and the protocols it comes by.
 *
 * `traffic/` has what is the same for all of them, once: a connection is known from its accept on,
 * has exchanges outstanding on it, is idle when it has none, and ends in one of four ways. It
 * decides which exchange is counted, refused, cut or told, and names what is left; it knows no
 * protocol and no response.
 *
 * A transport has what differs, in a folder of its own (`h1/`): how a request arrives and how its
 * end is heard, how its client is told to leave, what is lost with an exchange that is broken off,
 * what half a request is, and how a connection is closed. It decides nothing and counts nothing.
 *
 * Three kinds of object pass between them:
 * - a transport (`transport.ts`) puts a gate in front of a server, and reports to a port which
 *   connections it has and which requests arrive;
 * - a {@link Wire} is what the traffic has in its hands of one connection. A connection may change
 *   it: that of a TLS handshake gives way to that of the protocol which the handshake has chosen,
 *   and that of HTTP/1.1 to that of the protocol to which it was upgraded ({@link
 *   WireConnection.goOnWith});
 * - an exchange is ended by its wire, with `exchange.end()`, when its response has been sent or its
 *   connection is gone.
 *
 * What a transport may see of a connection and of an exchange is said by the two ports below.
 * Nothing here is made per request: the methods of a wire get the exchange that they are about.
 */

/** A connection, as its transport sees it. */
export interface WireConnection {
  /** The one that it has now. */
  readonly wire: Wire
  /** What is on it, oldest first. */
  readonly outstanding: Outstanding
  /** Whether it ever had a request. */
  isUsed: boolean
  /** The protocol that it goes on with after an upgrade, when that is known: `WebSocket`. */
  upgradedTo: string | undefined
  /** How it ended in the words of that protocol: `closed 1001`. */
  endedAs: string | undefined
  /** Its client has been told that the connection closes: no later request is looked at. */
  readonly wasNotified: boolean
  /** Its turn to be told has come, and its wire tells it as soon as it can. */
  readonly isDue: boolean
  /** Nothing is outstanding on it. */
  readonly isIdle: boolean
  /** Our side is ending, or has ended. */
  readonly isEnding: boolean
  /** Goes on with this wire: the connection has changed its protocol. */
  goOnWith(wire: Wire): void
  /** Its wire has told its client that it closes. A second call does nothing. */
  noteNotified(): void
  /** What its client had not been sent when its wire looked. */
  noteUndelivered(bytes: number): void
  /** Closes it gently. A second call does nothing. */
  linger(): void
  /** Closes it gently although its client was not told. */
  endIdle(): void
  /** Closes it gently although something is on it, and what was answered before that arrives. */
  endByForce(): void
  /** Its socket is closed: what is on it is over. A second call does nothing. */
  closed(): void
}

/** The exchanges on a connection. */
interface Outstanding extends Iterable<WireExchange> {
  readonly oldest: WireExchange | undefined
  readonly newest: WireExchange | undefined
}

/** An exchange, as its transport sees it: what steps see, and what its end needs. */
export interface WireExchange extends ExchangeView {
  readonly connection: WireConnection
  /** `clock.now()` */
  readonly arrivedAt: number
  /**
   * How its handlers say that they are over: by a promise, or else by ending the response.
   * Undefined before they were called.
   */
  handling: 'callback' | 'promise' | undefined
  /** Promises returned by its handlers that have not settled and are waited for. */
  readonly handlersRunning: number
  /** Its answer has to tell the client that the connection closes. */
  mustNotify: boolean
  /** Whether it has no response: its handler gets the bare socket. */
  readonly isUpgrade: boolean
  /** Whether a handler holds its signal, and so may have something to do before the end. */
  readonly isSignalTaken: boolean
  /**
   * Whether its answer tells the client that the connection closes; asked by its wire at the last
   * moment at which that can be decided.
   * @param isOverdue an earlier answer on its connection should have told, and could not
   */
  shouldNotify(isOverdue: boolean): boolean
  /** Tells its wire that it was asked to end, if it was; a new wire is told by the old one. */
  notifyWire(): void
  /** The head of its answer is written. */
  headWritten(): void
  /** A handler has returned a promise. */
  returned(promise: PromiseLike<unknown>): void
  /** A step or a handler has thrown. */
  threw(thrown: unknown): void
  /** Its response has been sent, or its connection is gone. A second call does nothing. */
  end(): void
}

/** One connection, as its protocol sees it. */
export interface Wire extends ConnectionProtocol {
  /**
   * Names the client, and says what it was not sent yet. Only the wire writes to it and closes it.
   */
  readonly socket: Socket
  /**
   * What the connection does without a request, for its name: `TLS handshake`. Undefined when it is
   * only idle.
   */
  readonly stage: string | undefined
  /**
   * Whether its client has sent something; before the first request that is half of one, or of a
   * handshake.
   */
  readonly hasSent: boolean

  /**
   * Whether its client can be told to leave at any time, by {@link notify}. Otherwise only an
   * answer tells, by {@link notifyBy}.
   */
  readonly notifiesAnyTime: boolean
  /**
   * Tells the client that the connection closes, and notes it with `connection.noteNotified()`. A
   * second call does nothing.
   */
  notify(): void
  /**
   * The same at the best moment that comes soon: with an answer, where its client can be told with
   * one.
   * @param withAnswer this answer has to tell
   */
  notifySoon(withAnswer?: boolean): void
  /**
   * Has the answer to this exchange tell the client that the connection closes, and notes it with
   * `connection.noteNotified()` when it has. Whether it does is asked of `exchange.shouldNotify()`
   * at the last moment: when the head of the answer is sent. A second call does nothing.
   */
  notifyBy(exchange: WireExchange): void

  /** Answers in place of the handler, which has done nothing yet. */
  refuse(exchange: WireExchange, answer: WireAnswer): void
  /**
   * The handler has failed: answers in its place when nothing was sent, breaks off what was sent in
   * part, and never throws. Without an answer it is broken off in any case.
   */
  fail(exchange: WireExchange, answer: WireAnswer | undefined): void
  /**
   * The answer is complete, and its client does not take it: breaks it off. On a protocol that
   * answers in order, one that waits behind another is left to what becomes of that one.
   */
  giveUp(exchange: WireExchange): void

  /**
   * The handler of this exchange was told to come to its end: for a protocol that can say goodbye
   * by itself. Undefined: only a handler ends what it has begun.
   * @param endBy `clock.now()` until which the end is waited for; what is past: it is not
   */
  askedToEnd?(exchange: WireExchange, why: string, endBy: number): void

  /**
   * The listener is closed, and with it ends what the server itself has done about a body that does
   * not come: the wire does it from now on, for this exchange. A later call does it anew.
   * Undefined: there is nothing to be done.
   */
  boundBody?(exchange: WireExchange): void

  /**
   * Whether bytes of a protocol that is not known move, which are lost when it is broken off. To be
   * asked about what was asked to end: before that nothing looks at it. Undefined: there is no such
   * protocol on it.
   * @param exchange default: the connection as a whole
   */
  isMoving?(exchange?: WireExchange): boolean
  /**
   * The wire of a protocol that is not known, when a handler speaks one on it beside its requests,
   * or in their place. Undefined: none does.
   */
  taken?(): Wire | undefined

  /** Whether some of an answer was sent. */
  hasBegun(exchange: WireExchange): boolean
  /** Whether some of an answer was sent, and its handler has not ended it. */
  isStreaming(exchange: WireExchange): boolean
  /** Whether the head of its answer is written and streams events, and the answer has not ended. */
  streamsEvents(exchange: WireExchange): boolean
  /**
   * Calls `exchange.headWritten()` when the head of its answer is written: in this step if that is
   * so already, else in the step after the one that writes it.
   */
  awaitHead(exchange: WireExchange): void
  /** Whether the answer is complete, and only waits for one that has to be sent before it. */
  onlyWaits(exchange: WireExchange): boolean
  /**
   * Whether the handler, whose client has left, may still end its response, and that will be heard.
   */
  mayStillEnd(exchange: WireExchange): boolean
  /** Calls back when it does. */
  onLateEnd(exchange: WireExchange, ended: () => void): void
  /** The exchange is over and no longer outstanding. */
  over(exchange: WireExchange): void

  /**
   * What is lost of `outstanding`, which is all that this connection has, when those are broken off
   * that `isMeant` picks, oldest first: with them goes what cannot be answered any more.
   */
  lostWith<E extends WireExchange>(outstanding: Iterable<E>, isMeant: (exchange: E) => boolean): readonly E[]
  /**
   * Breaks off the exchanges that {@link lostWith} has found, as far as that can be done without
   * their connection, and says what that has to do: `open`, it goes on; `closing`, it closes by
   * force when what is still outstanding is over; `destroyed`, that is what breaks them off.
   */
  breakOff(lost: readonly WireExchange[]): 'open' | 'closing' | 'destroyed'

  /** Closes gently: what was answered arrives, as far as its client takes it. Called once. */
  linger(): void
  /** Closes at once. */
  destroy(): void
  /** Another wire has taken its place, and closes from now on. */
  replaced(): void
}

/**
 * A complete answer that quiesce gives by itself, for protocols that say the status in words, too.
 */
export interface WireAnswer extends Answer {
  readonly reasonPhrase: string
}
