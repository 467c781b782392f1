import type { Clock } from '../../base/clock.ts'
import { respond } from '../../http/respond.ts'
import type { MetricFamily } from '../../metrics/family.ts'
import type { ApiExchange } from '../api-exchange.ts'
import type { RequestMetrics } from '../request-metrics.ts'
import type { PlacedFilter } from './filter.ts'

/** Everything else may change something. */
const READS = new Set(['get', 'list', 'watch'])
/** Who is served whatever there is to do. */
const MASTERS = 'system:masters'

const TOO_MANY = {
  status: 429,
  headers: { 'Retry-After': '1', 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
  body: 'Too many requests, please try again later.\n',
}

/** Requests that are served at a time, of one kind. */
export class Seats {
  /** 0: no limit. */
  readonly #limit: number
  readonly #clock: Clock
  #taken = 0
  #most = 0
  #mostBefore = 0
  #second = Number.NEGATIVE_INFINITY

  constructor(limit: number, clock: Clock) {
    this.#limit = limit
    this.#clock = clock
  }

  get isLimited(): boolean {
    return this.#limit > 0
  }

  /** Whether there was one; to be given back by {@link giveBack}. */
  take(): boolean {
    if (this.#taken >= this.#limit) return false
    this.#taken++
    this.#turn()
    if (this.#taken > this.#most) this.#most = this.#taken
    return true
  }

  giveBack(): void {
    this.#turn()
    this.#taken--
  }

  /** The most that were taken at a time within the last whole second. */
  get most(): number {
    this.#turn()
    return this.#mostBefore
  }

  /** Into the second that it is. */
  #turn(): void {
    const second = Math.floor(this.#clock.now() / 1000)
    if (second === this.#second) return
    // In seconds in which nothing was taken or given back, all of them were as the last one ended.
    this.#mostBefore = second === this.#second + 1 ? this.#most : this.#taken
    this.#most = this.#taken
    this.#second = second
  }
}

/** One for each kind of request. */
export interface InFlightSeats {
  readonly readOnly: Seats
  readonly mutating: Seats
}

/**
 * Lets in so many requests at a time, those that read and those that may change something apart,
 * and sends the others away at once; requests that last are not counted. Undefined without a limit.
 *
 * A seat is given back when the request is over. A handler that goes on although its time is over
 * or its client has left keeps it until it has ended, when it has returned a promise that says so.
 * @see kubernetes/apiserver pkg/server/filters/maxinflight.go WithMaxInFlightLimit
 */
export function maxInFlight({ readOnly, mutating }: InFlightSeats, metrics: RequestMetrics): PlacedFilter | undefined {
  if (!readOnly.isLimited && !mutating.isLimited) return undefined
  return {
    name: 'flow-control',
    admit: (exchange) => {
      const seats = READS.has(exchange.info.verb) ? readOnly : mutating
      if (exchange.isLongRunning || !seats.isLimited) return true
      if (seats.take()) exchange.seats = seats
      else if (!exchange.user?.groups.includes(MASTERS)) {
        metrics.terminated(exchange, TOO_MANY.status)
        respond(exchange.response, TOO_MANY)
        return false
      }
      return true
    },
    over: (exchange) => {
      const { seats, handling } = exchange
      if (seats === undefined) return
      const giveBack = (): void => seats.giveBack()
      if (handling && goesOn(exchange)) handling.then(giveBack, giveBack)
      else giveBack()
    },
  }
}

const goesOn = ({ isTimedOut, response }: ApiExchange): boolean => isTimedOut || !response.writableEnded

/** What monitoring is shown of them, under upstream's name. */
export const inFlightMetric = ({ readOnly, mutating }: InFlightSeats): MetricFamily => ({
  name: 'apiserver_current_inflight_requests',
  help: 'Maximal number of currently used inflight request limit of this apiserver per request kind in last second.',
  type: 'gauge',
  samples: [
    { labels: { request_kind: 'mutating' }, value: mutating.most },
    { labels: { request_kind: 'readOnly' }, value: readOnly.most },
  ],
})
