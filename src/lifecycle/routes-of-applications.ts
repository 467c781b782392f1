/**
 * Whether an application has a route of its own for GET of exactly this path, as far as it lets
 * others see that: apps of Express, Hono and Fastify do, by their looks. What takes any path, as
 * middleware and the answer to what is not there, is no such route.
 */
export function hasRoute(application: unknown, path: string): boolean {
  try {
    const app = seen(application)
    const { hasRoute, routes, _router } = app
    if (typeof hasRoute === 'function') return (application as FastifyLike).hasRoute({ method: 'GET', url: path })
    if (Array.isArray(routes)) return (routes as readonly HonoRoute[]).some((route) => route.path === path && isGetOfHono(route))
    return isInStack(_router ?? app.router, path)
  } catch {
    // It looked like one of them and is another: then there is nothing to say.
    return false
  }
}

interface FastifyLike {
  hasRoute(route: { readonly method: string; readonly url: string }): boolean
}

interface HonoRoute {
  readonly path: string
  readonly method: string
  readonly handler: (...given: never[]) => unknown
}

/** Middleware stands among the routes, for all methods and with a second parameter. */
const isGetOfHono = ({ method, handler }: HonoRoute): boolean => method === 'GET' || (method === 'ALL' && handler.length < 2)

/** A router of Express 4 or 5, and what of it is read. */
interface ExpressRouter {
  readonly stack: readonly ExpressLayer[]
}

interface ExpressLayer {
  readonly route?: { readonly path: string | readonly string[]; readonly methods: Readonly<Record<string, boolean | undefined>> }
  readonly handle: unknown
  /** The part of a path that {@link match} of older routers has found to be its own. */
  readonly path?: string
  /** Newer ones return it. */
  match(path: string): boolean | { readonly path: string } | null | undefined
}

function isInStack(router: unknown, path: string): boolean {
  const { stack } = seen(router) as Partial<ExpressRouter>
  return (
    Array.isArray(stack) &&
    stack.some((layer: ExpressLayer) => {
      const { route, handle } = layer
      if (route) return [route.path].flat().includes(path) && (route.methods['get'] === true || route.methods['_all'] === true)
      const match = 'stack' in seen(handle) && layer.match(path)
      if (!match) return false
      const own = match === true ? layer.path : match.path
      return isInStack(handle, path.slice(own?.length ?? 0) || '/')
    })
  )
}

interface Looks {
  readonly hasRoute?: unknown
  readonly routes?: unknown
  readonly _router?: unknown
  /** Express 4 has one that throws, beside the other. */
  readonly router?: unknown
}

const NOTHING: Looks = {}
const seen = (given: unknown): Looks =>
  (typeof given === 'object' && given !== null) || typeof given === 'function' ? (given as Looks) : NOTHING
