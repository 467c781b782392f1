import type { Server } from 'node:net'
import type { Clock } from '../base/clock.ts'
import type { ExchangeView } from './chain.ts'
import type { Wire, WireAnswer, WireConnection, WireExchange } from './ports.ts'

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
  open(server: Server, traffic: TrafficPort, idleMs: number): Gate
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
 * What a transport reports to the traffic, and asks it. A port has no accessors: V8 makes an
 * object literal with one a dictionary, and each request looks into it several times [measured].
 * It gets back the connections and exchanges that it has made itself.
 */
export interface TrafficPort {
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
  opened(wire: Wire): WireConnection
  /**
   * Whether its client is not told yet, because it would only come back: until the listeners have
   * closed.
   * @param isQuick it has hardly a moment without a request
   */
  holdsBack(connection: WireConnection, isQuick: boolean): boolean
  /**
   * A request has arrived, without a response if it is an upgrade. Undefined when it is too late to
   * look at it.
   * @param isPromised its client was told that this one is still answered
   */
  arrived(
    connection: WireConnection,
    request: ExchangeView['request'],
    response: ExchangeView['response'],
    isPromised?: boolean,
  ): WireExchange | undefined
  /** A connection is closed because of what its client does: to be reported. */
  sentAway(connection: WireConnection, why: string): void
  /** True to let the handlers have it, false when it is answered already. */
  admit(exchange: WireExchange): boolean
  /** Resolves when no hold is under way; undefined when none is. */
  holdsOver(): Promise<void> | undefined
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
