import type { ExecutionContext } from 'hono'
import { systemHost } from '../actors/host.ts'
import { errorRecord } from '../base/events.ts'
import { createServerOn, type FetchHandler, refuseOptionsBesideFetch } from '../create-server.ts'
import type { Life } from '../lifecycle/life.ts'
import type { ServerOptions } from '../options/options.ts'

/** What `serve` needs of a Hono app. */
export interface HonoApp {
  fetch(request: Request, env: Parameters<FetchHandler>[1], context: ExecutionContext): Response | Promise<Response>
}

/**
 * A server with a lifecycle around a Hono app, without a middleware: `createServer`, and
 * `c.executionCtx.waitUntil(promise)` joins the drain, so that work which goes on after its
 * response is not lost. What a request of the drain begins is waited for with the destroy
 * functions. Work that fails is logged and stands in the report; the server goes on.
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
  let late = 0
  const context: ExecutionContext = {
    waitUntil: (given) => {
      // Left alone, its failure would be a crash, and end the server for a lost e-mail.
      const work = Promise.resolve(given).catch((thrown: unknown) =>
        life.record({ type: 'error', where: 'waitUntil', error: errorRecord(thrown) }),
      )
      if (life.signal('NotAcceptingNewRequest').aborted) life.addDestroy(`waitUntil ${++late}`, () => work)
      else void life.hold('waitUntil', () => work)
    },
    // Errors are answered by the server.
    passThroughOnException: () => {},
    props: {},
  }
  const life = createServerOn(systemHost, (request, env) => app.fetch(request, env, context), options)
  return life
}
