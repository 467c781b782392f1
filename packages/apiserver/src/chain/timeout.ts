import type { ApiExchange } from '../api-exchange.ts'
import { forget } from '../audit/backend.ts'
import { type EventLog, type Exchange, exchangeOf, QuiesceError } from '../engine.ts'
import { Slot } from '../request/slots.ts'
import { TAKEN_OVER } from '../request/upgrade.ts'
import type { RequestMetrics } from '../request-metrics.ts'
import type { Deadlines } from './deadlines.ts'
import type { ChainFilter } from './filter.ts'
import { PANIC_OF } from './panic-recovery.ts'
import { BEFORE_REPLACEMENT, replacement } from './replacement.ts'
import { sealResponse } from './sealed-response.ts'

/** What the client of a request is told whose time is over. */
export const TIMED_OUT = {
  status: 'Failure',
  message: 'Timeout: request did not complete within the allotted timeout',
  reason: 'Timeout',
  details: {},
  code: 504,
}
const TIMEOUT = {
  status: TIMED_OUT.code,
  reasonPhrase: 'Gateway Timeout',
  body: `${JSON.stringify({ metadata: {}, ...TIMED_OUT })}\n`,
}
const HEADERS = { 'content-type': 'text/plain; charset=utf-8' }

/** The filter bounds it. */
export const BOUNDED = new Slot(false)
/** Its time was over before its answer was. */
export const TIME_IS_OVER = new Slot(false)
/** Its time was over before its client had its answer. */
const LATE = new Slot(false)

/**
 * Has a request that does not last answered in its time. What is done when that is over is {@link
 * timeOut}.
 * @see kubernetes/apiserver pkg/server/filters/timeout.go WithTimeoutForNonLongRunningRequests
 */
export const timeout = {
  name: 'timeout',
  part: 'inner',
  upstream: 'WithTimeoutForNonLongRunningRequests',
  why: 'a client is answered in time, whatever a handler does',
  ends: [504],
  make: ({ deadlines }: { readonly deadlines: Deadlines }) => ({
    admit: (exchange) => {
      BOUNDED.set(exchange, !exchange.isLongRunning)
      // A handler that is quick would answer before a timer is looked at.
      return !deadlines.passNow(exchange)
    },
  }),
} as const satisfies ChainFilter<never>

/**
 * How long an answer that is complete when the time of its request is over has to be taken by its
 * client; the 504 likewise.
 */
const DELIVERY_MS = 1000

/**
 * What happens when a request's time is over: it is answered 504, or broken off when a part of its
 * answer was written; then its handler is told. The engine goes on to keep its books: the response
 * has left, and the handler runs until it has ended (V8). A handler that has answered has kept its
 * time; the client that does not take its answer soon has not. Upstream's handlers block in a write
 * to such a client, and are ended.
 * @param recordTimedOut of one that has not come to the filter `audit`
 * @returns milliseconds after which it has to be called once more, to break off the delivery
 */
export const timeOut =
  (
    log: Pick<EventLog, 'error'>,
    metrics: RequestMetrics,
    recordTimedOut: (exchange: ApiExchange) => boolean | Promise<boolean> = () => true,
  ) =>
  (exchange: ApiExchange): number | undefined => {
    const { view, response } = exchange
    const inBooks = exchangeOf(view.request)
    if (!inBooks || inBooks.isOver) return undefined
    if (exchange.isLongRunning) return endWatch(exchange, inBooks)
    if (TAKEN_OVER.of(exchange)) return undefined
    const error = new QuiesceError('ERR_HANDLER_TIMEOUT', 'http: Handler timeout')
    if (LATE.of(exchange)) {
      inBooks.connection.wire.giveUp(inBooks)
      return undefined
    }
    LATE.set(exchange, BOUNDED.of(exchange))
    if (BOUNDED.of(exchange) && !response.writableEnded) {
      const answerNow = PANIC_OF.of(exchange)?.answerNow
      if (answerNow) {
        answerNow()
        return DELIVERY_MS
      }
      TIME_IS_OVER.set(exchange, true)
      forget((BEFORE_REPLACEMENT.of(exchange) ?? recordTimedOut)(exchange))
      inBooks.connection.wire.fail(inBooks, replacement(exchange, TIMEOUT, HEADERS))
      metrics.terminated(exchange, TIMEOUT.status)
      hearOfEnd(exchange, error, (status) => {
        metrics.endedAfterTimeout(exchange, status)
        log.error(
          { method: exchange.request.method, URI: exchange.request.url, auditID: exchange.auditId, status },
          'Post-timeout activity',
        )
      })
    }
    inBooks.askToEnd(error)
    return LATE.of(exchange) ? DELIVERY_MS : undefined
  }

/**
 * The time in milliseconds in which a handler that hears of the end of its watch ends the answer
 * itself.
 */
const GOODBYE_MS = 1000

/**
 * A watch has had its time: its handler is told, as by a drain, and ends it; one that does not hear
 * of it has its answer ended in order. Clients watch again.
 */
function endWatch(exchange: ApiExchange, inBooks: Exchange): number | undefined {
  const error = new QuiesceError('ERR_HANDLER_TIMEOUT', 'the watch has had its time: watch again')
  if (!LATE.of(exchange)) {
    LATE.set(exchange, true)
    inBooks.askToEnd(error)
    return GOODBYE_MS
  }
  const { response } = exchange
  // The wire of another protocol has ended it itself.
  if (response.writableEnded || TAKEN_OVER.of(exchange)) return undefined
  response.end()
  sealResponse(response, error, () => {})
  return undefined
}

/**
 * Learns of the end by the promise that the handler has returned, or else by its ending the
 * response.
 */
function hearOfEnd(exchange: ApiExchange, error: QuiesceError, ended: (status: 'ok' | 'panic') => void): void {
  const { handling, response } = exchange
  let isSaid = false
  const once = (status: 'ok' | 'panic') => (): void => {
    if (!isSaid) ended(status)
    isSaid = true
  }
  sealResponse(response, error, handling ? () => {} : once('ok'))
  handling?.then(once('ok'), (thrown) => once(thrown === error ? 'ok' : 'panic')())
}
