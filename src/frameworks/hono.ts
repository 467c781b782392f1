import type { ExecutionContext, Hono, MiddlewareHandler } from 'hono'
import { checkArguments, withFields } from '../base/arguments.ts'
import { optionError } from '../base/errors.ts'
import { checkFields } from '../base/fields.ts'
import { createServer, type FetchHandler, refuseOptionsBesideFetch } from '../create-server.ts'
import { endpointsOf } from '../endpoints/of-life.ts'
import { isResponse, textAnswer } from '../http/respond.ts'
import type { Life } from '../lifecycle/life.ts'
import type { ServerOptions } from '../options/options.ts'
import { toResponse } from '../routes/answer.ts'
import { healthApp } from '../routes/health-routes.ts'
import { metricsApp } from '../routes/metrics-routes.ts'
import { profileApp } from '../routes/profile-routes.ts'

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
  checkArguments('serve(app, options?)', [app, withFields('an app with fetch', 'fetch')], [options, 'an object of options'])
  refuseOptionsBesideFetch('serve', app)
  const life = createServer({ fetch: (request, env, context) => app.fetch(request, env, context) }, options)
  endpointsOf('life', life).servedBy(app)
  return life
}

/**
 * The health endpoints of a life as routes of your own app, `/healthz`, `/livez`, `/readyz` and
 * what is below them, at whatever prefix: they answer what the option `health` has the server
 * answer, and as that option says. Below a prefix they are refused while the server drains, unless
 * the option `exempt` names it.
 *
 * @throws QuiesceError ERR_OPTION_INVALID for what is no life
 * @example
 * const life = serve(app, { port: 3000, exempt: ['/internal'] })
 * app.route('/internal', healthRoutes(life))
 */
export function healthRoutes(life: Life): Hono {
  const { health, mounted } = endpointsOf('life of healthRoutes', life)
  return healthApp(health, mounted('health'))
}

/**
 * `/metrics` and `/metrics/slis` of a life as routes of your own app, as the listener of the option
 * `admin` answers them.
 *
 * @throws QuiesceError ERR_OPTION_INVALID for what is no life
 * @example
 * app.use('/internal/*', bearerAuth({ token }))
 * app.route('/internal', metricsRoutes(life))
 */
export function metricsRoutes(life: Life): Hono {
  const { metrics, mounted } = endpointsOf('life of metricsRoutes', life)
  return metricsApp(metrics, mounted('metrics'))
}

/** What {@link profileRoutes} needs. */
export interface ProfileRoutesOptions {
  /**
   * Says who may have a profile: a middleware that calls `next` for them alone. A heap snapshot
   * holds every secret of the process.
   */
  readonly authorize: MiddlewareHandler
}

/**
 * `/debug/pprof/profile` (a CPU profile of `?seconds=30`) and `/debug/pprof/heap` (a heap snapshot)
 * of the process as routes of your own app, for those whom `authorize` lets through. A profile that
 * is under way when the server drains ends then, and is sent.
 *
 * @throws QuiesceError ERR_OPTION_INVALID for what is no life, and without `authorize`
 * @example
 * app.route('/', profileRoutes(life, { authorize: bearerAuth({ token }) }))
 */
export function profileRoutes(life: Life, options: ProfileRoutesOptions): Hono {
  const { clock } = endpointsOf('life of profileRoutes', life)
  const { authorize } = checkFields('profileRoutes', options, ['authorize'])
  if (typeof authorize !== 'function') throw optionError('authorize of profileRoutes', authorize, AUTHORIZE_ALLOWED)
  return profileApp(clock, admission(authorize))
}

const AUTHORIZE_ALLOWED = 'a middleware that calls next() for those who may have a profile, such as bearerAuth({ token }) of hono'

const NOT_LET_THROUGH = textAnswer(403, 'profiles: the middleware `authorize` has not called next()')

/** A middleware that does not call `next` lets nothing through, whatever it returns. */
const admission =
  (authorize: MiddlewareHandler): MiddlewareHandler =>
  async (c, next) => {
    let isLetThrough = false
    const answer: unknown = await authorize(c, () => {
      isLetThrough = true
      return next()
    })
    if (isResponse(answer)) return answer
    return isLetThrough ? undefined : toResponse(NOT_LET_THROUGH)
  }
