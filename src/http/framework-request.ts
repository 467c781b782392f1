/** What handlers of the usual frameworks hold in their hands: node's request, or something that has it. */
export type RequestGiven = object

export const REQUESTS_ALLOWED =
  "node's request, a Request or context of Hono, a request of Fastify, a context of Koa, of a server that quiesce has taken over"

interface Wrapped {
  /** Fastify's request; of Hono's, the web Request. */
  readonly raw?: unknown
  /** Koa's context, and Hono's. */
  readonly req?: unknown
  /** Hono's context. */
  readonly env?: { readonly incoming?: unknown }
}

/**
 * The objects that may be node's request, given what a framework gives to its handlers. Called when a handler asks, not for
 * every request.
 */
export function* nodeRequestsOf(given: unknown): Generator<object> {
  if (!isObject(given)) return
  yield given
  const { raw, req, env } = given as Wrapped
  for (const found of [env?.incoming, incomingOf(given), raw, req]) if (isObject(found)) yield found
  if (isObject(raw)) {
    const incoming = incomingOf(raw)
    if (isObject(incoming)) yield incoming
  }
}

/** The web Request of @hono/node-server keeps node's under a symbol of its own; a test notices when that changes. */
function incomingOf(request: object): unknown {
  const key = Object.getOwnPropertySymbols(request).find(({ description }) => description === 'incomingKey')
  return key && (request as Record<symbol, unknown>)[key]
}

const isObject = (given: unknown): given is object => typeof given === 'object' && given !== null
