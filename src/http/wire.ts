import type { Server, Socket } from 'node:net'
import type { Clock } from '../base/clock.ts'
import type { Spoken } from '../base/spoken.ts'
import type { ExchangeView } from './chain.ts'
import type { Answer } from './respond.ts'
import type { Connection } from './traffic/connection.ts'
import type { Exchange } from './traffic/exchange.ts'

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
 * - a {@link Transport} puts a gate in front of a server, and reports to a {@link Keeper} which
 *   connections it has and which requests arrive;
 * - a {@link Wire} is what the traffic has in its hands of one connection. A connection may change
 *   it: that of a TLS handshake gives way to that of the protocol which the handshake has chosen,
 *   and that of HTTP/1.1 to that of the protocol to which it was upgraded (`Connection.goOnWith`);
 * - an exchange is ended by its wire, with `exchange.end()`, when its response has been sent or its
 *   connection is gone.
 *
 * Nothing here is made per request: the methods of a wire get the exchange that they are about.
 */

/**
 * What one life asks of a protocol on its servers. One value per protocol, listed in
 * `transports.ts`.
 */
export interface Transport {
  /** Whether it is the one for this server. */
  serves(server: unknown): boolean
  /**
   * Stands in front of the server's handlers from now on.
   * @param idleMs time after which an idle connection is closed by a transport whose connections
   * node does not close; 0: never
   * @throws QuiesceError ERR_ALREADY_ATTACHED when the server has a gate
   */
  open(server: Server, keeper: Keeper, idleMs: number): Gate
  /**
   * The connections that the server has already, as far as they were not found when the gate was
   * opened and do not become known by a request.
   */
  older(server: Server, clock: Clock): OlderConnections
}

/** A transport in front of one server. */
export interface Gate {
  /**
   * The server is its owner's again; what is under way is not let go. A second call does nothing.
   */
  giveBack(): void
  /**
   * No connection is left whose requests came through it. To be called once, after {@link
   * giveBack}.
   */
  connectionsGone(): void
}

/**
 * What a transport reports to the traffic, and asks it. A keeper has no accessors: V8 makes an
 * object literal with one a dictionary, and each request looks into it several times [measured].
 */
export interface Keeper {
  readonly clock: Clock
  /**
   * True when requests that arrive together have to be known together before the first of them is
   * looked at.
   */
  letsRequestsGather(): boolean
  /**
   * Lets a request that gathers go on, in the order in which they were given: in an immediate, or
   * when there is time for it.
   */
  letGoOn(pass: () => void): void
  /** A connection is there, from the accept on. */
  opened(wire: Wire): Connection
  /**
   * Whether its client is not told yet, because it would only come back: until the listeners have
   * closed.
   * @param isQuick it has hardly a moment without a request
   */
  holdsBack(connection: Connection, isQuick: boolean): boolean
  /**
   * A request has arrived, without a response if it is an upgrade. Undefined when it is too late to
   * look at it.
   * @param isPromised its client was told that this one is still answered
   */
  arrived(
    connection: Connection,
    request: ExchangeView['request'],
    response: ExchangeView['response'],
    isPromised?: boolean,
  ): Exchange | undefined
  /** A connection is closed because of what its client does: to be reported. */
  sentAway(connection: Connection, why: string): void
  /** True to let the handlers have it, false when it is answered already. */
  admit(exchange: Exchange): boolean
  /** Resolves when no hold is under way; undefined when none is. */
  holdsOver(): Promise<void> | undefined
}

/** One connection, as its protocol sees it. */
export interface Wire extends Spoken {
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
   * Whether its client can be told to leave at any time, by {@link tell}. Otherwise only an answer
   * tells, by {@link tellBy}.
   */
  readonly tellsAnyTime: boolean
  /**
   * Tells the client that the connection closes, and notes it with `connection.noteTold()`. A
   * second call does nothing.
   */
  tell(): void
  /**
   * The same at the best moment that comes soon: with an answer, where its client can be told with
   * one.
   * @param withAnswer this answer has to tell
   */
  tellSoon(withAnswer?: boolean): void
  /**
   * Has the answer to this exchange tell the client that the connection closes, and notes it with
   * `connection.noteTold()` when it has. Whether it does is asked of `exchange.isToTell()` at the
   * last moment: when the head of the answer is sent. A second call does nothing.
   */
  tellBy(exchange: Exchange): void

  /** Answers in place of the handler, which has done nothing yet. */
  refuse(exchange: Exchange, answer: WireAnswer): void
  /**
   * The handler has failed: answers in its place when nothing was sent, breaks off what was sent in
   * part, and never throws. Without an answer it is broken off in any case.
   */
  fail(exchange: Exchange, answer: WireAnswer | undefined): void
  /**
   * The answer is complete, and its client does not take it: breaks it off. On a protocol that
   * answers in order, one that waits behind another is left to what becomes of that one.
   */
  giveUp(exchange: Exchange): void

  /**
   * The handler of this exchange was told to come to its end: for a protocol that can say goodbye
   * by itself. Undefined: only a handler ends what it has begun.
   * @param endBy `clock.now()` until which the end is waited for; what is past: it is not
   */
  askedToEnd?(exchange: Exchange, why: string, endBy: number): void

  /**
   * Whether bytes of a protocol that is not known move, which are lost when it is broken off. To be
   * asked about what was asked to end: before that nothing looks at it. Undefined: there is no such
   * protocol on it.
   * @param exchange default: the connection as a whole
   */
  isMoving?(exchange?: Exchange): boolean
  /**
   * The wire of a protocol that is not known, when a handler speaks one on it beside its requests,
   * or in their place. Undefined: none does.
   */
  taken?(): Wire | undefined

  /** Whether some of an answer was sent. */
  hasBegun(exchange: Exchange): boolean
  /** Whether some of an answer was sent, and its handler has not ended it. */
  isStreaming(exchange: Exchange): boolean
  /** Whether the head of its answer is written and streams events, and the answer has not ended. */
  streamsEvents(exchange: Exchange): boolean
  /**
   * Calls `exchange.headWritten()` when the head of its answer is written: in this step if that is
   * so already, else in the step after the one that writes it.
   */
  awaitHead(exchange: Exchange): void
  /** Whether the answer is complete, and only waits for one that has to be sent before it. */
  onlyWaits(exchange: Exchange): boolean
  /**
   * Whether the handler, whose client has left, may still end its response, and that will be heard.
   */
  mayStillEnd(exchange: Exchange): boolean
  /** Calls back when it does. */
  onLateEnd(exchange: Exchange, ended: () => void): void
  /** The exchange is over and no longer outstanding. */
  over(exchange: Exchange): void

  /**
   * What is lost when the exchanges that `isMeant` picks are broken off, oldest first: with them
   * goes what cannot be answered any more.
   */
  lostWith(isMeant: (exchange: Exchange) => boolean): readonly Exchange[]
  /**
   * Breaks off the exchanges that {@link lostWith} has found, as far as that can be done without
   * their connection, and says what that has to do: `open`, it goes on; `closing`, it closes by
   * force when what is still outstanding is over; `destroyed`, that is what breaks them off.
   */
  breakOff(lost: readonly Exchange[]): 'open' | 'closing' | 'destroyed'

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

/**
 * Says how a request is refused because there is more than one way to read it: steps, authorizers,
 * the log and the handler would each decide about another one. Undefined for one that goes on.
 */
export type Reading = (request: ExchangeView['request']) => WireAnswer | undefined

/**
 * Connections that a server had before its gate and that were not found: they can only be counted.
 * To be used when those that are known have closed.
 */
export interface OlderConnections {
  /**
   * Closes those that are idle, waits for those that are not, and resolves when none is left or
   * `signal` is aborted.
   * @param found called with their number when there is something to wait for
   */
  gone(signal: AbortSignal, found: (count: number) => void): Promise<void>
  /**
   * Closes those that are left, and says how many there were that were not idle: what was asked on
   * them may have had no answer.
   */
  destroy(): Promise<number>
  /** The server is its owner's again, and so are they. */
  release(): void
}
