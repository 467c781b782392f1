import type { Clock } from '../../base/clock.ts'
import type { Straggler } from '../../base/events.ts'
import type { ProtocolCount } from '../../base/protocol.ts'
import type { RefusalKind } from '../../base/wording.ts'
import type { TrafficGauges } from '../../report/gauges.ts'
import type { ExchangeView } from '../chain.ts'
import type { Connection } from './connection.ts'
import type { ConnectionFates } from './connection-ends.ts'
import type { Connections } from './connections.ts'
import type { Exchange } from './exchange.ts'
import type { Holds } from './holds.ts'
import type { InFlight } from './in-flight.ts'
import { oldest } from './oldest.ts'
import type { RequestChains } from './request-chains.ts'
import type { Outstanding, RunningHandlers } from './running-handlers.ts'

/**
 * `late`: a request that came after its connection had been told to close; it is not answered at
 * all. `hold`: work that is not HTTP, which was not begun.
 */
export type RejectionKind = RefusalKind | 'late' | 'hold'

/** What a life has to do at one moment: plain data. */
export interface Counts {
  /** The requests in flight: what a drain waits for, without watches and holds. */
  readonly requests: number
  /**
   * The event streams among the `requests` of which nothing says whether they end by themselves: a
   * drain gives them the time of a request. `markWatch` makes one a watch, `markRequest` says that
   * it ends.
   */
  readonly eventStreams: number
  /**
   * Upgraded connections, requests that were marked as watches, and event streams whose handlers
   * have asked for their shutdown signal.
   */
  readonly watches: number
  readonly holds: number
  /**
   * The `open` connections, without those of the admin listener: `notified` ones are being closed,
   * `idle` ones have nothing outstanding. `byProtocol`: the open ones by what they speak.
   */
  readonly connections: {
    readonly open: number
    readonly notified: number
    readonly idle: number
    readonly byProtocol: readonly ProtocolCount[]
  }
  /** Requests and holds refused since the life began, by kind. */
  readonly rejected: Readonly<Record<RejectionKind, number>>
}

/** What the traffic of a life is at this moment, and was, for those who show it. */
export class TrafficSnapshot {
  readonly #clock: Clock
  readonly #connections: Connections
  readonly #inFlight: InFlight
  readonly #holds: Holds
  readonly #handlers: RunningHandlers
  readonly #chains: RequestChains

  constructor(
    clock: Clock,
    connections: Connections,
    inFlight: InFlight,
    { holds, handlers, chains }: { readonly holds: Holds; readonly handlers: RunningHandlers; readonly chains: RequestChains },
  ) {
    this.#clock = clock
    this.#connections = connections
    this.#inFlight = inFlight
    this.#holds = holds
    this.#handlers = handlers
    this.#chains = chains
  }

  counts(): Counts {
    const holds = this.#holds.count
    let notified = 0
    let idle = 0
    let eventStreams = 0
    for (const connection of this.#connections) {
      if (connection.wasNotified) notified++
      if (connection.isIdle) idle++
      for (const exchange of connection.outstanding) if (exchange.isUndeclaredEventStream) eventStreams++
    }
    return {
      requests: this.#inFlight.requestCount - holds,
      eventStreams,
      watches: this.#inFlight.watchCount,
      holds,
      connections: { open: this.#connections.size, notified, idle, byProtocol: this.#openByProtocol() },
      rejected: { ...this.#chains.rejected, hold: this.#holds.refused },
    }
  }

  /**
   * How many connections speak which protocol now, without a look at each; one that was used before
   * stays, with none.
   */
  get connectionsByProtocol(): readonly ProtocolCount[] {
    return this.#connections.counts.byProtocol
  }

  /**
   * What an end has to wait for now, with at most `max` names of each kind. Looks at every
   * connection.
   */
  blocking(max: number): TrafficGauges {
    const now = this.#clock.now()
    const orphans = this.#handlers.orphans()
    const named = (all: Iterable<Outstanding>): Straggler[] =>
      oldest(all, max, ({ arrivedAt }) => arrivedAt).map(({ name, arrivedAt, connectionProtocol, isUndeclaredStream }) => ({
        name,
        ageMs: now - arrivedAt,
        ...connectionProtocol,
        ...(isUndeclaredStream && { streaming: true }),
      }))
    let active = 0
    let notified = 0
    const awaited: Outstanding[] = []
    const empty: Connection<Exchange>[] = []
    let closable = 0
    for (const connection of this.#connections) {
      if (connection.wasNotified) notified++
      else if (!connection.isIdle) active++
      if (connection.isAwaited) {
        const { openedAt: arrivedAt, connectionProtocol } = connection
        awaited.push({ name: connection.straggler(now).name, arrivedAt, connectionProtocol })
      } else if (connection.isIdle && this.#connections.closesIdle) {
        closable++
        if (empty.length < max) empty.push(connection)
      }
    }
    const { requests, eventStreams, watches, holds, rejected } = this.counts()
    // By the drain that waits for them.
    const waitedFor = [...this.#connections.counted('request'), ...awaited]
    const areLate = this.#inFlight.areRequestsDrained
    return {
      requests,
      eventStreams,
      watches,
      holds,
      handlers: orphans.length,
      rejected,
      connections: {
        active,
        idle: this.#connections.size - active - notified,
        notified,
        ...(closable > 0 && { blocking: closable }),
        byProtocol: this.#openByProtocol(),
      },
      blocking: {
        requests: named(areLate ? [] : waitedFor),
        watches: named([...this.#connections.counted('watch'), ...(areLate ? waitedFor : [])]),
        holds: this.#holds.stragglers().slice(0, max),
        handlers: named(orphans),
        connections: empty.map((connection) => connection.straggler(now)),
      },
    }
  }

  connectionFates(): ConnectionFates {
    return this.#connections.ends.fates(this.#connections)
  }

  /**
   * Connections that were closed while idle in the middle of a handshake, which has cost no
   * request.
   */
  unfinishedConnections(): readonly Straggler[] {
    return this.#connections.ends.unfinished
  }

  /** What is not over, whether or not a drain waits for it. */
  underWay(): readonly ExchangeView[] {
    return [...this.#connections.exchanges()]
  }

  #openByProtocol(): readonly ProtocolCount[] {
    return this.#connections.counts.byProtocol.filter(({ open }) => open > 0)
  }
}
