import type { ApiExchange } from '../api-exchange.ts'
import {
  type Clock,
  type Count,
  type Counter,
  type Distribution,
  exponentialBounds,
  type Gauge,
  HEALTH_ENDPOINTS,
  type Histogram,
  type Level,
  type MetricFamily,
  MetricRegistry,
  OTHER,
  SERIES_MAX,
  SeriesMap,
} from '../engine.ts'
import { LATENCY } from '../latency.ts'
import { ROUTE } from '../request/route.ts'
import { Slot } from '../request/slots.ts'
import type { RequestMetrics } from '../request-metrics.ts'
import { statusOfAnswer } from './answer-status.ts'
import { dryRunOf, scopeOf, usernameLabel, verbOf } from './labels.ts'

const COMPONENT = 'apiserver'

/** Labels that all metrics of requests have. */
const OF_REQUEST = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'] as const

/** The most series of counts, which are by status, too: more than there are of the others. */
const COUNTS_MAX = 10 * SERIES_MAX

const SLOW_BOUNDS = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60]
const FILTER_BOUNDS = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 5, 10, 15, 30]
const DECISION_BOUNDS = exponentialBounds(0.001, 2, 15)

/** Counted by the health endpoints themselves, on every listener, as a component without a name. */
/** Where a request is counted while it lasts; undefined: it does not. */
const LASTS_IN = new Slot<Level | undefined>(undefined)

const HEALTH_ROOTS: ReadonlySet<string> = new Set(HEALTH_ENDPOINTS.map((name) => `/${name}`))

/** Layers whose time is that of others: upstream's SLI leaves it out. */
const OF_OTHERS = ['apf-queue-wait', 'mutating-webhook', 'validating-webhook'] as const

/** The series of requests with the same labels, found by one look-up for each request. */
interface RequestSeries {
  readonly labels: readonly string[]
  /** The counts by status. */
  readonly counts: Map<number, Count>
  readonly duration: Distribution
  /** The distribution, made when there is something to say. */
  sli: Distribution | undefined
  sizes: Distribution | undefined
}

/**
 * The metrics of an API server, with upstream's names, labels and bounds. What clients choose is
 * bounded: a path is the one that it was registered as, a resource is one of which something was
 * answered without an error, and all others are `other`.
 * @see kubernetes/apiserver pkg/endpoints/metrics/metrics.go
 * @see kubernetes/apiserver pkg/endpoints/filters/metrics.go
 */
export class ApiMetrics implements RequestMetrics {
  readonly #clock: Clock
  readonly #registry: MetricRegistry
  readonly #routeOf: (path: string) => string | undefined
  readonly #requests: Counter
  readonly #durations: Histogram
  readonly #slis: Histogram
  readonly #sizes: Histogram
  readonly #lasting: Gauge
  readonly #terminations: Counter
  readonly #aborts: Counter
  readonly #postTimeouts: Counter
  readonly #filters: Histogram
  readonly #attempts: Counter
  readonly #attemptDurations: Histogram
  readonly #users: Counter
  readonly #decisions: Counter
  readonly #decisionDurations: Histogram
  readonly #series: SeriesMap<RequestSeries>
  /** Used for one request after the other: it is walked through, and not kept. */
  readonly #labels: string[] = new Array<string>(OF_REQUEST.length + 1).fill('')

  /** @param routeOf what a path is registered as, here or in a delegate; undefined: it is not */
  constructor(clock: Clock, routeOf: (path: string) => string | undefined) {
    const registry = new MetricRegistry(clock)
    this.#clock = clock
    this.#registry = registry
    this.#routeOf = routeOf
    const withDryRun = [...OF_REQUEST, 'dry_run']
    this.#requests = registry.counter({
      name: 'apiserver_request_total',
      help: 'Accepted requests, by what they ask for and by the status of the answer.',
      labels: [...withDryRun, 'code'],
      seriesMax: COUNTS_MAX,
    })
    this.#durations = registry.histogram({
      name: 'apiserver_request_duration_seconds',
      help: 'Time from the arrival of a request to the end of its answer, in seconds.',
      labels: withDryRun,
      bounds: [0.005, 0.025, ...SLOW_BOUNDS],
    })
    this.#slis = registry.histogram({
      name: 'apiserver_request_sli_duration_seconds',
      help: 'Time of requests without the time that webhooks and the queue of flow control took, in seconds.',
      labels: OF_REQUEST,
      bounds: SLOW_BOUNDS,
    })
    this.#sizes = registry.histogram({
      name: 'apiserver_response_sizes',
      help: 'Bytes of answers to GET and LIST that have a Content-Length.',
      labels: OF_REQUEST,
      bounds: exponentialBounds(1_000, 10, 7),
    })
    this.#lasting = registry.gauge({
      name: 'apiserver_longrunning_requests',
      help: 'Long-running requests under way.',
      labels: OF_REQUEST,
    })
    this.#terminations = registry.counter({
      name: 'apiserver_request_terminations_total',
      help: 'Requests that the server ended to protect itself, by the status of the answer.',
      labels: [...OF_REQUEST, 'code'],
    })
    this.#aborts = registry.counter({
      name: 'apiserver_request_aborts_total',
      help: 'Answers that their handlers broke off with ABORT_HANDLER.',
      labels: OF_REQUEST.slice(0, -1),
    })
    this.#postTimeouts = registry.counter({
      name: 'apiserver_request_post_timeout_total',
      help: 'Handlers that ended after the timeout of their requests.',
      labels: ['source', 'status'],
    })
    this.#filters = registry.histogram({
      name: 'apiserver_request_filter_duration_seconds',
      help: 'Time of filters that did not decide at once, in seconds.',
      labels: ['filter'],
      bounds: FILTER_BOUNDS,
    })
    const ofResult = { labels: ['result'], bounds: DECISION_BOUNDS }
    this.#users = registry.counter({
      name: 'authenticated_user_requests',
      help: 'Requests with accepted credentials, by kind of user.',
      labels: ['username'],
    })
    this.#attempts = registry.counter({
      name: 'authentication_attempts',
      help: 'Attempts to authenticate a request, by result.',
      labels: ['result'],
    })
    this.#attemptDurations = registry.histogram({
      name: 'authentication_duration_seconds',
      help: 'Time to authenticate a request, in seconds.',
      ...ofResult,
    })
    this.#decisions = registry.counter({
      name: 'authorization_attempts_total',
      help: 'Decisions of the authorizer, by decision.',
      labels: ['result'],
    })
    this.#decisionDurations = registry.histogram({
      name: 'authorization_duration_seconds',
      help: 'Time to authorize a request, in seconds.',
      ...ofResult,
    })
    this.#series = new SeriesMap(withDryRun, (values) => ({
      labels: values,
      counts: new Map(),
      duration: this.#durations.of(values),
      sli: undefined,
      sizes: undefined,
    }))
  }

  collect(): readonly MetricFamily[] {
    return this.#registry.collect()
  }

  /** Forgets what was counted. */
  reset(): void {
    this.#registry.reset()
    this.#series.clear()
  }

  answered(exchange: ApiExchange): void {
    LASTS_IN.of(exchange)?.add(-1)
    const code = statusOfAnswer(exchange)
    const series = this.#series.of(this.#labelsOf(exchange, code))
    const route = ROUTE.of(exchange)
    const isOfHealth = route !== undefined && HEALTH_ROOTS.has(route)
    if (!isOfHealth) this.#countOf(series, code).add()
    const seconds = (this.#clock.now() - exchange.receivedAt) / 1_000
    series.duration.observe(seconds)
    const labels = this.#labels
    const { response } = exchange
    const latency = LATENCY.of(exchange)
    if (labels[DRY_RUN] === '') {
      let ofOthers = 0
      if (latency !== undefined) for (const layer of OF_OTHERS) ofOthers += latency.get(layer) ?? 0
      series.sli ??= this.#slis.of(series.labels.slice(0, DRY_RUN))
      series.sli.observe(seconds - ofOthers / 1_000)
    }
    if (labels[0] !== 'GET' && labels[0] !== 'LIST') return
    const length = response.getHeader('content-length')
    if (length === undefined) return
    series.sizes ??= this.#sizes.of(series.labels.slice(0, DRY_RUN))
    series.sizes.observe(Number(length))
  }

  lasts(exchange: ApiExchange): void {
    const lasting = this.#lasting.of(this.#labelsOf(exchange, 200).slice(0, DRY_RUN))
    LASTS_IN.set(exchange, lasting)
    lasting.add()
  }

  terminated(exchange: ApiExchange, code: number): void {
    this.#terminations.with(...this.#labelsOf(exchange, code).slice(0, DRY_RUN), String(code)).add()
  }

  aborted(exchange: ApiExchange): void {
    this.#aborts.of(this.#labelsOf(exchange, 500).slice(0, DRY_RUN - 1)).add()
  }

  endedAfterTimeout(_exchange: ApiExchange, status: 'ok' | 'panic'): void {
    this.#postTimeouts.with('timeout-handler', status).add()
  }

  filterTook(filter: string, ms: number): void {
    this.#filters.with(filter).observe(ms / 1_000)
  }

  authenticated(result: 'success' | 'failure' | 'error', ms: number, username?: string): void {
    this.#attempts.with(result).add()
    this.#attemptDurations.with(result).observe(ms / 1_000)
    if (username !== undefined) this.#users.with(usernameLabel(username)).add()
  }

  authorized(result: 'allowed' | 'denied' | 'no-opinion' | 'error', ms: number): void {
    this.#decisions.with(result).add()
    this.#decisionDurations.with(result).observe(ms / 1_000)
  }

  #countOf({ labels, counts }: RequestSeries, code: number): Count {
    const known = counts.get(code)
    if (known) return known
    const count = this.#requests.with(...labels, String(code))
    counts.set(code, count)
    return count
  }

  /** The labels, left in {@link #labels} until it is called again. */
  #labelsOf(exchange: ApiExchange, code: number): readonly string[] {
    const { info, request } = exchange
    const labels = this.#labels
    const scope = scopeOf(info)
    labels[VERB] = verbOf(exchange, scope)
    labels[SCOPE] = scope
    labels[DRY_RUN] = dryRunOf(request.url ?? '')
    if (!info.isResourceRequest) {
      labels[GROUP] = labels[VERSION] = labels[RESOURCE] = ''
      const route = ROUTE.of(exchange) ?? this.#routeOf(info.path) ?? OTHER
      labels[SUBRESOURCE] = route
      labels[COMPONENT_AT] = HEALTH_ROOTS.has(route) ? '' : COMPONENT
      return labels
    }
    labels[COMPONENT_AT] = COMPONENT
    labels[GROUP] = info.apiGroup
    labels[VERSION] = info.apiVersion
    labels[RESOURCE] = info.resource
    labels[SUBRESOURCE] = info.subresource
    const isThere = ROUTE.of(exchange) !== undefined && code < 400
    if (!isThere && this.#series.known(labels) === undefined)
      labels[GROUP] = labels[VERSION] = labels[RESOURCE] = labels[SUBRESOURCE] = OTHER
    return labels
  }
}

// Where each label stands.
const [VERB, GROUP, VERSION, RESOURCE, SUBRESOURCE, SCOPE, COMPONENT_AT, DRY_RUN] = [0, 1, 2, 3, 4, 5, 6, 7] as const
