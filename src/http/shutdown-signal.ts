import { QuiesceError, show } from '../base/errors.ts'
import { type Declared, type Exchange, exchangeOf } from './traffic/exchange.ts'

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
 * A handler that asks for it and answers with an event stream (`text/event-stream`) says by that
 * that its stream has no end of its own, and makes it a watch, whichever comes first: `longRunning`
 * and {@link markRequest} decide otherwise. For an answer that ends by itself, use
 * {@link markRequest}, which has the same signal. A second call does nothing more.
 *
 * @param request what the handler was given: node's request, Hono's context or `c.req.raw`,
 * Fastify's request, Koa's context
 * @throws QuiesceError ERR_UNKNOWN_REFERENCE when its server was not taken over by quiesce; over
 * HTTP/2 also for the `stream` of a request that is over and answered: the request is still known
 * @example
 * const rows = await pool.query('select …', { signal: shutdownSignalOf(request) })
 */
export function shutdownSignalOf(request: RequestGiven): AbortSignal {
  return exchangeGiven(request).takeSignal()
}

/**
 * Says that a request does not end by itself, whatever it answers: it is a watch from now on. In
 * one step it leaves the request drain and joins the watch drain, also while both are under way:
 * then its turn comes after those of the others. When no other watch is left, or less than half of
 * the watch grace, which would be less than every other watch had, it stays a request and is told
 * at once. The last of {@link markRequest} and this one wins, and both over `longRunning`. A second
 * call does nothing.
 *
 * @param request what the handler was given: node's request, Hono's context or `c.req.raw`,
 * Fastify's request, Koa's context
 * @returns its {@link shutdownSignalOf}
 * @throws QuiesceError ERR_UNKNOWN_REFERENCE as {@link shutdownSignalOf}
 * @example
 * const signal = markWatch(request)
 * signal.addEventListener('abort', () => response.end())
 */
export function markWatch(request: RequestGiven): AbortSignal {
  return declared(request, 'watch')
}

/**
 * Says that a request ends by itself, whatever it answers: an event stream that answers one
 * question, of a language model say. It is waited for like any other request, until the cut of
 * requests, and costs exit code 5 if it is cut; its signal is aborted then, and not before. The
 * last of {@link markWatch} and this one wins, and both over `longRunning`; a watch that was told
 * to end already stays one, as does an upgraded connection. A second call does nothing.
 *
 * @param request what the handler was given: node's request, Hono's context or `c.req.raw`,
 * Fastify's request, Koa's context
 * @returns its {@link shutdownSignalOf}
 * @throws QuiesceError ERR_UNKNOWN_REFERENCE as {@link shutdownSignalOf}
 * @example
 * const answer = await fetch('https://model.example', { signal: markRequest(request) })
 */
export function markRequest(request: RequestGiven): AbortSignal {
  return declared(request, 'request')
}

/** First said and then asked for: the signal alone would make an event stream a watch. */
function declared(request: RequestGiven, as: Declared): AbortSignal {
  const exchange = exchangeGiven(request)
  exchange.declare(as)
  return exchange.takeSignal()
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
