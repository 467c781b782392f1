import type { Clock, MetricFamily } from '../engine.ts'
import type { FlowControl, Seat } from './flow-control.ts'

/** Everything else may change something. */
const READS = new Set(['get', 'list', 'watch'])
/** Who is served whatever there is to do. */
const MASTERS = 'system:masters'

/** Requests that are served at a time, of one kind. */
export class Seats implements Seat {
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

  /** Turns to the second that it is. */
  #turn(): void {
    const second = Math.floor(this.#clock.now() / 1000)
    if (second === this.#second) return
    // In seconds in which nothing was taken or given back, all of them were as the last one ended.
    this.#mostBefore = second === this.#second + 1 ? this.#most : this.#taken
    this.#most = this.#taken
    this.#second = second
  }
}

/** The seats of each kind of request. */
export interface InFlightSeats {
  readonly readOnly: Seats
  readonly mutating: Seats
}

/**
 * Lets in so many requests at a time, those that read and those that may change something apart,
 * and sends the others away at once. Undefined without a limit.
 * @see kubernetes/apiserver pkg/server/filters/maxinflight.go WithMaxInFlightLimit
 */
export function maxInFlight({ readOnly, mutating }: InFlightSeats): FlowControl | undefined {
  if (!readOnly.isLimited && !mutating.isLimited) return undefined
  return {
    admit: ({ info, user }) => {
      const seats = READS.has(info.verb) ? readOnly : mutating
      if (!seats.isLimited) return true
      return seats.take() ? seats : user?.groups.includes(MASTERS) === true
    },
  }
}

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
