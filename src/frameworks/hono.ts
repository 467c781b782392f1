import type { ExecutionContext } from 'hono'
import { createServer, type FetchHandler, refuseOptionsBesideFetch } from '../create-server.ts'
import type { Life } from '../lifecycle/life.ts'
import type { ServerOptions } from '../options/options.ts'

/** What `serve` needs of a Hono app. */
export interface HonoApp {
  fetch(request: Request, env: Parameters<FetchHandler>[1], context: ExecutionContext): Response | Promise<Response>
}

/**
 * A server with a lifecycle around a Hono app: `createServer` under the name that users of
 * @hono/node-server know. Work that is given to `c.executionCtx.waitUntil(promise)` joins the
 * drain, as with `waitUntil(c, promise)` of `quiesce`.
 *
 * Options go second, other than with the `serve` of @hono/node-server.
 *
 * @throws QuiesceError ERR_OPTION_INVALID with one line for every option that cannot be used, and
 * for options that are given with `fetch`
 * @example
 * const life = serve(app, { port: 3000 })
 * await life.run()
 */
export function serve(app: HonoApp, options: ServerOptions = {}): Life {
  refuseOptionsBesideFetch('serve', app)
  return createServer({ fetch: (request, env, context) => app.fetch(request, env, context) }, options)
}
