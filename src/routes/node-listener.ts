import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import type { Hono } from 'hono'
import { exchangeOf } from '../http/traffic/exchange.ts'
import { pathOf, type RequestLike } from '../http/url.ts'

/**
 * The path of a request as the gate reads it, for the option `getPath`: Hono by itself would
 * resolve `..` and leave some escapes. It decodes a part of a path once more, so that `%` is
 * escaped.
 */
export function pathAsRead(request: Request, { env }: { readonly env?: unknown } = {}): string {
  const { incoming } = (env ?? {}) as { readonly incoming?: RequestLike }
  return pathOf(incoming?.url ?? request.url).replaceAll('%', '%25')
}

/**
 * An app of ours as the listener of a server that is taken over: what it throws is reported and
 * answered as everywhere. The globals stay: the process is the user's.
 */
export function nodeListener(app: Hono): RequestListener {
  app.onError((error) => {
    throw error
  })
  const fetch = async (request: Request, { incoming, outgoing }: HttpBindings): Promise<Response> => {
    const own = Object.getPrototypeOf(incoming) as IncomingMessage
    try {
      return await app.fetch(request, { incoming: own, outgoing })
    } catch (thrown) {
      exchangeOf(own)?.threw(thrown)
      throw ANSWERED
    }
  }
  const listener = getRequestListener(fetch as Parameters<typeof getRequestListener>[0], {
    overrideGlobalObjects: false,
    // A body that nothing reads is node's to drop, as of any answer of ours.
    autoCleanupIncoming: false,
    errorHandler: () => undefined,
  })
  const answer = (request: IncomingMessage, response: ServerResponse): Promise<void> => listener(withPlainUrl(request), response)
  // Its promise says how long it runs.
  return answer as RequestListener
}

/**
 * The adapter makes a URL of Host and target by rules of its own, and refuses some that the gate
 * takes. It is given one that says nothing: apps of ours read node's request.
 */
const withPlainUrl = (request: IncomingMessage): IncomingMessage =>
  Object.create(request, {
    url: { value: '/' },
    headers: { value: { ...request.headers, host: 'localhost' } },
  }) as IncomingMessage

/** Tells the adapter that there is nothing left to do. */
const ANSWERED = new Error('the failure of an endpoint has been answered')
