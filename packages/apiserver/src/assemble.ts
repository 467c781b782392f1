import type { IncomingMessage } from 'node:http'
import { type ApiExchange, apiExchangeOf } from './api-exchange.ts'
import { auditFailures } from './audit/audit-failures.ts'
import { auditCounters } from './audit/auditing.ts'
import { auditingFrom } from './audit/from-options.ts'
import { clientCasFrom } from './authentication/client-cas.ts'
import { authenticates, authenticatorFrom } from './authentication/from-options.ts'
import { authorizerFrom } from './authorization/from-options.ts'
import { recordCut, recordTimedOut } from './chain/audit.ts'
import { buildChain } from './chain/chain.ts'
import { Deadlines } from './chain/deadlines.ts'
import type { FilterFailed } from './chain/filter.ts'
import { type InFlightSeats, inFlightMetric, maxInFlight, Seats } from './chain/max-in-flight.ts'
import { filtersFor } from './chain/order.ts'
import { panicRecovery } from './chain/panic-recovery.ts'
import { ChainRunner } from './chain/run-chain.ts'
import { timeOut } from './chain/timeout.ts'
import type { CompletedConfig } from './config.ts'
import type { Delegate } from './delegate.ts'
import { createServedLife, type Host, type InspectedRoot, isThenable, type ServedLife } from './engine.ts'
import type { Facts } from './facts.ts'
import { Loopback } from './loopback/loopback.ts'
import { ApiMetrics } from './metrics/api-metrics.ts'
import { auditMetrics } from './metrics/audit-metrics.ts'
import type { ApiHandler } from './mux/path-mux.ts'
import { TAKEN_OVER, UPGRADE } from './request/upgrade.ts'
import { NO_METRICS, type RequestMetrics } from './request-metrics.ts'

/** What is served behind the filters. */
interface Served extends Pick<Delegate, 'upgrades' | 'routeOf'> {
  readonly handler: ApiHandler
}

interface Parts {
  readonly host: Host
  readonly config: CompletedConfig
  readonly facts: Facts
  readonly served: Served
  /** Roots of actors that are shown with those of the life. */
  readonly actors: () => readonly InspectedRoot[]
  /** What counts requests, in place of what `/metrics` prints of them. */
  readonly metrics: RequestMetrics | undefined
}

/** The server that is run, before it has paths of its own. */
interface Assembled {
  readonly life: ServedLife
  readonly loopback: Loopback
  /** Forgets what was counted of requests. */
  readonly forgetCounts: () => void
}

/**
 * Makes what the server that is run consists of, and connects it: each thing is given those that it
 * needs, which stand above it. Filters need the life, and the life what its requests pass: so
 * {@link ChainRunner} has a place for them.
 */
export function assembleApiServer({ host, config, facts, served, actors, metrics: given }: Parts): Assembled {
  const { clock } = host
  const { engine } = config

  // What is counted.
  const counted = given === undefined && config.enableMetrics ? new ApiMetrics(clock, (path) => served.routeOf?.(path)) : undefined
  const metrics = given ?? counted ?? NO_METRICS
  const seats: InFlightSeats = {
    readOnly: new Seats(config.maxRequestsInFlight, clock),
    mutating: new Seats(config.maxMutatingRequestsInFlight, clock),
  }

  // Who asks, and who may.
  const isAuthenticated = authenticates(config)
  const loopback = new Loopback(clock, isAuthenticated)
  const authorizer = authorizerFrom(config)
  const isAuthorized = authorizer !== undefined && !config.authorizationMode?.includes('AlwaysAllow')
  const clientCas = clientCasFrom(config)
  const authenticator = isAuthenticated
    ? authenticatorFrom(config, { clock, loopbackToken: loopback.token, clientCas, isAuthorized })
    : undefined

  // What is recorded of it.
  const auditing = auditingFrom({ ...config, audit: engine.audit }, { ...host, failed: auditFailures(clock, facts.record) })

  // What a request passes, and the life around it.
  const chainRunner = new ChainRunner(metrics, handlingBy(served, metrics), served.handler)
  const options = {
    ...engine,
    ...(auditing && { audit: auditing }),
    // The filter request-info has been asked before.
    longRunning: (request: IncomingMessage) => apiExchangeOf(request)?.isLongRunning || undefined,
    steps: chainRunner.steps,
    health: true,
  }
  const life = createServedLife(host, { listener: chainRunner.listener }, options, config.log, {
    actors,
    healthIsHandlers: true,
    failureAnswer: chainRunner.failureAnswer,
    metrics: () => [
      ...(config.flowControl ? [] : [inFlightMetric(seats)]),
      ...auditMetrics(auditing?.counters),
      ...(counted?.collect() ?? []),
    ],
    upgrade: served.upgrades && chainRunner.upgrade,
    ownClient: loopback,
    furtherCas: clientCas.further,
    beforeListening: async () => {
      const world = { clock, random: host.random, warn: facts.warn }
      await clientCas.open(world)
      await authenticator?.open?.(world)
      await authorizer?.open?.({ ...host, failed: (error) => facts.failed('authorization', error), warn: facts.warn })
    },
  })
  facts.recordBy(life.record)
  for (const { code, message } of config.warnings) facts.warn(message, { code })

  // The filters, which know the life.
  const deadlines = new Deadlines(clock, timeOut(life.log, metrics, auditing && recordTimedOut(auditing)))
  const isComplete = life.signal('MuxAndDiscoveryComplete')
  const failed: FilterFailed = (filter, error) => facts.failed(`filter ${filter}`, error)
  const ours = filtersFor({
    ...host,
    config,
    log: life.log,
    logsRequests: life.options.logger !== false,
    requestTimeoutMs: life.options.requestTimeoutMs,
    metrics,
    flowControl: config.flowControl ?? maxInFlight(seats),
    isComplete: () => isComplete.aborted,
    deadlines,
    auditing,
    clientCas,
    authenticator,
    authorizer,
    failed,
  })
  const { filters: users = [] } = config
  chainRunner.open({ chain: buildChain(ours, users), users, failed, failureAnswer: panicRecovery(clock, life.log, metrics) })

  // The end of it.
  if (auditing) auditing.beforeStop = () => recordCut(auditing, life.requestsUnderWay(), (error) => failed('audit', error))
  void life.ended.then(() => {
    deadlines.close()
    clientCas.close()
    authenticator?.close?.()
    authorizer?.close?.()
  })

  const forgetCounts = (): void => {
    counted?.reset()
    if (auditing) Object.assign(auditing.counters, auditCounters())
  }
  return { life, loopback, forgetCounts }
}

/** What comes behind all filters. */
const handlingBy =
  ({ handler, upgrades }: Served, metrics: RequestMetrics) =>
  (exchange: ApiExchange): unknown => {
    const { request, response } = exchange
    const returned = ((UPGRADE.of(exchange) && upgrades) ?? handler)(request, response)
    if (exchange.isLongRunning || TAKEN_OVER.of(exchange)) metrics.lasts(exchange)
    if (!isThenable(returned)) return returned
    // One promise for all who wait for it: what begins when it is waited for would begin twice.
    exchange.handling = Promise.resolve(returned)
    return exchange.handling
  }
