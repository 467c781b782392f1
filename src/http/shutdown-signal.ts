import { QuiesceError, show } from '../base/errors.ts'
import { type Exchange, exchangeOf } from './traffic/exchange.ts'

/**
 * What handlers of the usual frameworks hold in their hands: node's request, or something that has
 * it.
 */
export type RequestGiven = object

const REQUESTS_ALLOWED =
  "node's request, a Request or context of Hono, a request of Fastify, a context of Koa, of a server that quiesce has taken over"

/**
 * The signal that tells this request's handler to come to its end: for a watch, when its turn in
 * the watch drain has come; for any other request, when its drain is cut. Always the same for the
 * same request, also when asked for late.
 *
 * @param request what the handler was given: node's request, Hono's context or `c.req.raw`,
 * Fastify's request, Koa's context
 * @throws QuiesceError ERR_UNKNOWN_REFERENCE when its server was not taken over by quiesce
 * @example
 * const rows = await pool.query('select …', { signal: shutdownSignalOf(request) })
 */
export function shutdownSignalOf(request: RequestGiven): AbortSignal {
  return exchangeGiven(request).signal
}

/**
 * Makes a request a watch from now on: for handlers that answer with something else than an event
 * stream, or late. (A response whose head says `text/event-stream` is a watch without it.) In one
 * step it leaves the request drain and joins the watch drain, also while both are under way: then
 * its turn has come at once. When less than half of the watch grace is left, which would be less
 * than every other watch had, it stays a request, and is told all the same. A second call does
 * nothing.
 *
 * @param request what the handler was given: node's request, Hono's context or `c.req.raw`,
 * Fastify's request, Koa's context
 * @returns its {@link shutdownSignalOf}
 * @throws QuiesceError ERR_UNKNOWN_REFERENCE when its server was not taken over by quiesce
 * @example
 * const signal = markWatch(request)
 * signal.addEventListener('abort', () => response.end())
 */
export function markWatch(request: RequestGiven): AbortSignal {
  const exchange = exchangeGiven(request)
  exchange.becomeWatch()
  return exchange.signal
}

/** @throws QuiesceError ERR_UNKNOWN_REFERENCE when its server was not taken over by quiesce */
export function exchangeGiven(given: RequestGiven): Exchange {
  for (const request of nodeRequestsOf(given)) {
    const exchange = exchangeOf(request)
    if (exchange) return exchange
  }
  throw new QuiesceError('ERR_UNKNOWN_REFERENCE', `request: got ${show(given)}, allowed: ${REQUESTS_ALLOWED}`)
}

interface Wrapped {
  /** Fastify's request; of Hono's, the web Request. */
  readonly raw?: unknown
  /** Koa's context, and Hono's. */
  readonly req?: unknown
  /** Hono's context. */
  readonly env?: { readonly incoming?: unknown }
}

/**
 * The objects that may be node's request, given what a framework gives to its handlers. Called when
 * a handler asks, not for every request.
 */
function* nodeRequestsOf(given: unknown): Generator<object> {
  if (!isObject(given)) return
  yield given
  const { raw, req, env } = given as Wrapped
  for (const found of [env?.incoming, incomingOf(given), raw, req]) if (isObject(found)) yield found
  if (isObject(raw)) {
    const incoming = incomingOf(raw)
    if (isObject(incoming)) yield incoming
  }
}

/**
 * The web Request of @hono/node-server keeps node's under a symbol of its own; a test notices when
 * that changes.
 */
function incomingOf(request: object): unknown {
  const key = Object.getOwnPropertySymbols(request).find(({ description }) => description === 'incomingKey')
  return key && (request as Record<symbol, unknown>)[key]
}

const isObject = (given: unknown): given is object => typeof given === 'object' && given !== null
