import type { ApiExchange } from '../api-exchange.ts'

/**
 * One concern that every request passes. One instance serves all requests: what it finds out about
 * a request stands in the exchange.
 */
export interface Filter {
  /** Its place in the order. */
  readonly name: string
  /**
   * True: the next one is asked. False: it has answered, or will. Those of the part `inner` may
   * take time; a promise is waited for, and one that rejects is a failure of the request: 500. So
   * is any other answer, and a promise from one that must not take time.
   */
  readonly admit: (exchange: ApiExchange) => boolean | Promise<boolean>
  /**
   * The request is over: its answer has been sent or its client has left. Called once for each one
   * that `admit` was called for, the last filter first.
   */
  readonly over?: (exchange: ApiExchange) => void
}

/** A header that every answer has, unless something has set another one of its name. */
export interface DefaultHeader {
  readonly name: string
  readonly value: (exchange: ApiExchange) => string
}

/** A filter of ours, at its place. */
export interface PlacedFilter extends Filter {
  /** The one that it sets, if it stands before the count and sets one. */
  readonly header?: DefaultHeader
}

/** A place in the order, and why it is there. */
export interface ChainPlace {
  readonly name: string
  readonly part: 'outer' | 'engine' | 'between' | 'inner'
  /** What upstream has there. */
  readonly upstream: string
  readonly why: string
  /** The statuses that it may answer with itself. */
  readonly ends?: readonly number[]
}

/** A filter of ours as a value: where it stands and why, and how a server makes its own. */
export interface ChainFilter<Needs> extends ChainPlace {
  /** Upstream takes its time: it may ask another server. */
  readonly isTimed?: true
  /**
   * @param needs what it is made of, of all that a server has
   * @returns undefined where the server has none
   */
  readonly make: (needs: Needs) => MadeFilter | undefined
}

/** A filter without its name, which the order has. */
export type MadeFilter = Omit<PlacedFilter, 'name'>

/** A filter of the user's: directly before or after another one. */
export interface UserFilter extends Filter {
  readonly before?: string
  readonly after?: string
}

/** Reports what a filter has thrown when a request was over, where no request can be answered. */
export type FilterFailed = (filter: string, error: unknown) => void

type ChainPart = ChainPlace['part']

/** The filters of one server by part, each in its order. */
export type FiltersByPart = Readonly<Record<Exclude<ChainPart, 'engine'>, readonly Filter[]>>
