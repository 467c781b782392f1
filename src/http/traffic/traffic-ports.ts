import { setImmediate } from 'node:timers'
import type { Clock } from '../../base/clock.ts'
import { errorRecord, type LifecycleFact } from '../../base/events.ts'
import type { ExchangeView } from '../chain.ts'
import type { Reading, TrafficPort } from '../transport.ts'
import type { ClientNotification } from './client-notification.ts'
import type { Connection } from './connection.ts'
import type { Connections } from './connections.ts'
import { Exchange, type ExchangeObserver } from './exchange.ts'
import type { Holds } from './holds.ts'
import type { InFlight } from './in-flight.ts'
import type { LastCall } from './last-call.ts'
import { type FailureAnswer, recover } from './recovery.ts'
import { refuseUnread } from './refusal.ts'
import type { RequestChains } from './request-chains.ts'
import type { RunningHandlers } from './running-handlers.ts'
import type { SentAway } from './sent-away.ts'

/** What a transport reports to, and what it asks. */
export interface Kept {
  readonly clock: Clock
  readonly record: (fact: LifecycleFact) => void
  readonly failureAnswer: FailureAnswer | undefined
  readonly connections: Connections
  readonly adminConnections: Connections
  readonly chains: RequestChains
  readonly inFlight: InFlight
  readonly holds: Holds
  readonly handlers: RunningHandlers
  readonly notification: ClientNotification
  readonly lastCall: LastCall
  readonly sentAway: (client: SentAway) => void
}

/** The port of a public listener: what arrives is counted, let in or refused, and notified. */
export function publicTrafficPort(kept: Kept, reading: Reading): TrafficPort {
  const { clock, connections, chains, inFlight, holds, handlers, notification, lastCall, sentAway } = kept
  const observer: ExchangeObserver = {
    over: (exchange) => {
      chains.over(exchange)
      handlers.responseGone(exchange)
      connections.exchangeOver(exchange)
      inFlight.over(exchange)
    },
    returned: (exchange, promise) => handlers.track(exchange, promise),
    goesOn: (exchange, work) => goesOn(kept, exchange, work),
    threw: (exchange, thrown) => {
      if (!handlers.failedLate(exchange, thrown)) recover(exchange, thrown, kept.record, kept.failureAnswer)
    },
    moveToWatches: (exchange) => inFlight.moveToWatches(exchange),
    moveToRequests: (exchange) => inFlight.moveToRequests(exchange),
    notifies: (isOverdue) => notification.draw(isOverdue),
  }
  return {
    clock,
    letsRequestsGather: () => notification.hasBegun,
    holdsBack: (connection: Connection<Exchange>, isQuick) => notification.holdsBack(connection, isQuick),
    letGoOn: (pass) => lastCall.letGoOn(pass),
    opened: (wire) => {
      const connection = connections.opened(wire)
      notification.opened(connection)
      return connection
    },
    arrived: (connection: Connection<Exchange>, request, response, isPromised) => {
      if (!isPromised && !connection.takesRequests) {
        chains.rejected.late++
        return undefined
      }
      const exchange = begun(kept, connections, observer, connection, request, response)
      if (notification.hasBegun) notification.arrived(exchange)
      return exchange
    },
    sentAway: (connection: Connection<Exchange>, why) => sentAway({ connection, why }),
    holdsOver: () => holds.over(),
    admit: (exchange: Exchange) => {
      const answer = reading(exchange.request)
      if (answer === undefined) return chains.admit(exchange)
      inFlight.count(exchange)
      refuseUnread(exchange, answer)
      return false
    },
  }
}

/** The port of the admin listener: nothing is counted, refused or notified. */
export function adminTrafficPort(kept: Kept, reading: Reading): TrafficPort {
  const { clock, chains, record, sentAway, adminConnections: connections } = kept
  const observer: ExchangeObserver = {
    over: (exchange) => chains.admin.over(exchange),
    returned: (exchange, promise) => void Promise.resolve(promise).then(undefined, (thrown: unknown) => exchange.threw(thrown)),
    goesOn: (exchange, work) => goesOn(kept, exchange, work),
    threw: (exchange, thrown) => recover(exchange, thrown, record),
    moveToWatches: () => undefined,
    moveToRequests: () => undefined,
    notifies: () => false,
  }
  return {
    clock,
    letsRequestsGather: () => false,
    holdsBack: () => false,
    letGoOn: (pass) => void setImmediate(pass),
    opened: (wire) => connections.opened(wire),
    sentAway: (connection: Connection<Exchange>, why) => sentAway({ connection, why }),
    holdsOver: () => undefined,
    arrived: (connection: Connection<Exchange>, request, response, isPromised) =>
      isPromised || connection.takesRequests ? begun(kept, connections, observer, connection, request, response) : undefined,
    admit: (exchange: Exchange) => {
      const answer = reading(exchange.request)
      if (answer === undefined) return chains.admin.admit(exchange)
      refuseUnread(exchange, answer)
      return false
    },
  }
}

function begun(
  { clock }: Kept,
  connections: Connections,
  observer: ExchangeObserver,
  connection: Connection<Exchange>,
  request: ExchangeView['request'],
  response: ExchangeView['response'],
): Exchange {
  const exchange = new Exchange(observer, request, response, connection, clock.now())
  connections.exchangeBegun(exchange)
  return exchange
}

/** Frameworks, and users, keep no promise of it: its failure is reported, and is no crash. */
function goesOn({ holds, record }: Kept, exchange: Exchange, work: PromiseLike<unknown>): void {
  const failed = (thrown: unknown): void => record({ type: 'error', where: 'waitUntil', error: errorRecord(thrown) })
  holds.join(`waitUntil ${exchange.name}`, Promise.resolve(work).then(undefined, failed))
}
