import type { ApiExchange } from '../api-exchange.ts'
import type { RecordFailure } from '../audit/auditing.ts'
import { queryValue } from '../engine.ts'
import { parseGoDuration } from '../go-duration.ts'
import { sendStatus } from '../status.ts'
import { abandon } from './abandon.ts'
import type { Deadlines } from './deadlines.ts'
import type { ChainFilter, MadeFilter } from './filter.ts'

/**
 * Gives each request the time that it may take, counted from its arrival: what its client asks for
 * with `?timeout=`, and that of the server at most. Requests that last have none.
 * @see kubernetes/apiserver pkg/endpoints/filters/request_deadline.go WithRequestDeadline
 */
export const requestDeadline = {
  name: 'request-deadline',
  part: 'inner',
  upstream: 'WithRequestDeadline',
  why: 'everything behind it shares one deadline',
  ends: [400],
  make: ({ deadlines, requestTimeoutMs, auditing, config, random }: RequestDeadlineNeeds) =>
    filterOf(deadlines, requestTimeoutMs, auditing?.recordFailure, { minMs: config.minRequestTimeoutMs, random }),
} as const satisfies ChainFilter<never>

export interface RequestDeadlineNeeds {
  readonly deadlines: Deadlines
  /** 0: without a limit of the server's. */
  readonly requestTimeoutMs: number
  /** Has a refused request audited. */
  readonly auditing: { readonly recordFailure: RecordFailure } | undefined
  readonly config: { readonly minRequestTimeoutMs: number }
  readonly random: () => number
}

const filterOf = (deadlines: Deadlines, longestMs: number, recordFailure: RecordFailure | undefined, watches: WatchTimes): MadeFilter => ({
  admit: (exchange) => {
    if (exchange.isLongRunning) {
      const watchMs = exchange.info.verb === 'watch' ? watchTime(exchange.request.url ?? '/', watches) : 0
      if (watchMs > 0) deadlines.addOther(exchange, exchange.receivedAt + watchMs)
      return true
    }
    const asked = timeoutOf(exchange.request.url ?? '/')
    if (typeof asked === 'object') return refuse(exchange, asked.error, recordFailure)
    const longest = exchange.receivedAt + (longestMs > 0 ? longestMs : Number.POSITIVE_INFINITY)
    const wanted = asked !== undefined && asked > 0 ? exchange.receivedAt + asked : longest
    const deadlineAt = Math.min(wanted, longest)
    if (deadlineAt === Number.POSITIVE_INFINITY) return true
    exchange.deadlineAt = deadlineAt
    if (deadlineAt < longest) deadlines.addOther(exchange, deadlineAt)
    else deadlines.add(exchange, deadlineAt)
    return true
  },
  over: (exchange) => {
    if (exchange.deadlineAt !== undefined || exchange.isLongRunning) deadlines.remove(exchange)
    if (!exchange.response.writableEnded) abandon(exchange, 'its client has left')
  },
})

/** How long watches last. */
export interface WatchTimes {
  /** The shortest time of one whose client asks for none; 0: there is no longest either. */
  readonly minMs: number
  /** A random number from 0 up to 1. */
  readonly random: () => number
}

/** Timers hold no more; nothing that a client could tell from for ever. */
const TIMER_MS_MAX = 2 ** 31 - 1

/**
 * What its client asks for with `timeoutSeconds`, or a random time, so that watches which began
 * together do not end together.
 * @see kubernetes/apiserver pkg/endpoints/handlers/get.go ListResource
 */
function watchTime(url: string, { minMs, random }: WatchTimes): number {
  const asked = queryValue(url, 'timeoutSeconds')
  const ms = /^\d{1,15}$/.test(asked) ? Number(asked) * 1_000 : 0
  return Math.min(TIMER_MS_MAX, ms > 0 ? ms : Math.round(minMs * (random() + 1)))
}

/** Milliseconds; undefined when none is asked for. */
export function timeoutOf(url: string): number | { readonly error: string } | undefined {
  const given = queryValue(url, 'timeout')
  if (given === '') return undefined
  const asked = parseGoDuration(given)
  return typeof asked === 'number' ? asked : { error: `invalid timeout specified in the request URL - ${asked.error}` }
}

/** Refuses a request, which does not come to the filter that records others. */
function refuse(exchange: ApiExchange, message: string, recordFailure?: RecordFailure): false {
  const failure = { message, reason: 'BadRequest', code: 400 }
  recordFailure?.(exchange, failure)
  sendStatus(exchange, failure)
  return false
}
