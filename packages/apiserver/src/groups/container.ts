import { RegExpRouter } from 'hono/router/reg-exp-router'
import { SmartRouter } from 'hono/router/smart-router'
import { TrieRouter } from 'hono/router/trie-router'
import { apiExchangeOf } from '../api-exchange.ts'
import type { ApiHandler } from '../mux/path-mux.ts'
import { RouteRefusals } from '../mux/rest-route.ts'
import { ROUTE } from '../request/route.ts'
import { contentTypeOf } from './rest/read-body.ts'

/** One template with its methods. */
export interface Route {
  /** `/apis/demo.example/v1/widgets/:name` */
  readonly template: string
  readonly methods: ReadonlyMap<string, ApiHandler>
  /** Types of answers, as the refusal of others names them. */
  readonly produces: readonly string[]
  /** Types of bodies of PATCH. */
  readonly patches?: readonly string[]
}

/** The one method that all are asked for with: the methods of a template are its own. */
const ANY = 'GET'

/**
 * Routes by template, found by the router of Hono. It is made once and never changed: other routes
 * are another container.
 * @see kubernetes/apiserver pkg/server/handler.go GoRestfulContainer
 */
export class Container {
  readonly #router = new SmartRouter<Route>({ routers: [new RegExpRouter(), new TrieRouter()] })

  constructor(routes: readonly Route[]) {
    for (const route of routes) this.#router.add(ANY, route.template, route)
  }

  /** What a path is registered as; undefined: as nothing. */
  routeOf(path: string): Route | undefined {
    const [[found] = []] = this.#router.match(ANY, path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path)
    return found?.[0]
  }

  readonly serve: ApiHandler = (request, response) => {
    const exchange = apiExchangeOf(request)
    const refusals = new RouteRefusals(request, response)
    const route = exchange && this.routeOf(exchange.info.path)
    if (exchange === undefined || route === undefined) return refusals.notFound()
    ROUTE.set(exchange, route.template)
    // As for custom resources upstream: the same without the body, which node leaves out.
    const handler = route.methods.get(request.method === 'HEAD' ? 'GET' : (request.method ?? ''))
    if (handler === undefined) return refusals.methodNotAllowed()
    if (request.method === 'PATCH' && route.patches?.includes(contentTypeOf(request)) !== true) return refusals.unsupportedMediaType()
    return refusals.notAcceptable(route.produces) ? undefined : handler(request, response)
  }
}
