import type { RequestListener } from 'node:http'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import type { Hono } from 'hono'
import { pathOf, type RequestLike } from '../http/request-info.ts'
import type { EncodedAnswer } from '../http/respond.ts'
import { exchangeOf } from '../http/traffic/exchange.ts'
import { toResponse } from './answer.ts'

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
 * @param notThere the answer to a target of which the adapter cannot make a URL
 */
export function nodeListener(app: Hono, notThere: EncodedAnswer): RequestListener {
  app.onError((error) => {
    throw error
  })
  const fetch = async (request: Request, env: HttpBindings): Promise<Response> => {
    try {
      return await app.fetch(request, env)
    } catch (thrown) {
      exchangeOf(env.incoming)?.threw(thrown)
      throw ANSWERED
    }
  }
  return getRequestListener(fetch as Parameters<typeof getRequestListener>[0], {
    overrideGlobalObjects: false,
    // Without a Host, which HTTP/1.0 allows, a request still needs a URL.
    hostname: 'localhost',
    // A body that nothing reads is node's to drop, as of any answer of ours.
    autoCleanupIncoming: false,
    errorHandler: (thrown) => (thrown === ANSWERED ? undefined : toResponse(notThere)),
  }) as RequestListener
}

/** Tells the adapter that there is nothing left to do. */
const ANSWERED = new Error('the failure of an endpoint has been answered')
