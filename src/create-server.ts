import type { IncomingMessage, RequestListener } from 'node:http'
import { type Host, systemHost } from './actors/host.ts'
import { optionError, QuiesceError, show } from './base/errors.ts'
import { exchangeOf } from './http/traffic/exchange.ts'
import { observationOf } from './inspector/observation.ts'
import { openAdminListener } from './lifecycle/admin-listener.ts'
import { CertificateWatch } from './lifecycle/certificate-watch.ts'
import type { Life } from './lifecycle/life.ts'
import { Lifecycle } from './lifecycle/lifecycle.ts'
import type { DefaultLog } from './lifecycle/output.ts'
import { openPublicListeners } from './lifecycle/public-listeners.ts'
import { resolveServerOptions, type ServerOptions } from './options/options.ts'
import { processFacts } from './platforms/platforms.ts'

/** Node's request and response. */
interface FetchEnvironment {
  readonly incoming: unknown
  readonly outgoing: unknown
}

/** A fetch function, as Hono's `app.fetch` is one. */
export type FetchHandler = (request: Request, env: FetchEnvironment) => Response | Promise<Response>

/**
 * What a server serves: anything with `fetch` (a Hono app), a fetch function, or a node request
 * listener.
 */
export type Handler = { readonly fetch: FetchHandler } | FetchHandler | { readonly listener: RequestListener }

/**
 * Creates a server with a lifecycle around `handler`; nothing listens before `run()` or `start()`.
 *
 * @throws QuiesceError ERR_OPTION_INVALID with one line for every option that cannot be used, and
 * for options that are given with `fetch`
 * @example
 * const server = createServer(app, { port: 8080, deadline: '25s' })
 * server.addReadyzCheck('db', () => pool.query('select 1'))
 * server.addDestroy('pool', () => pool.end())
 * await server.run()
 */
export function createServer(handler: Handler, options: ServerOptions = {}): Life {
  refuseOptionsBesideFetch('createServer', handler)
  return createServerOn(systemHost, handler, options)
}

/** `createServer` in a given world, which may be the test kit's, or a command's. */
export function createServerOn(host: Host, handler: Handler, options: ServerOptions, log: DefaultLog = { isForAll: true }): Lifecycle {
  const resolved = resolveServerOptions(options, { facts: processFacts(host.process) })
  const toListener = requestListener(handler)
  const hasTls = resolved.listeners.some(({ tls }) => tls !== undefined)
  const certificates = new CertificateWatch()
  const life: Lifecycle = new Lifecycle({
    options: resolved,
    host,
    openListeners: async (traffic, answerMetrics) => {
      const opened = await openPublicListeners({ host, options: resolved, traffic, record: life.record, listener: await toListener() })
      certificates.opened(opened.flatMap((one) => one.certificates ?? []))
      const admin = resolved.admin ? [await openAdminListener(host, traffic, resolved.admin, answerMetrics)] : []
      return [...opened.map(({ listener }) => listener), ...admin]
    },
    ...(hasTls && { metrics: () => certificates.metrics(resolved.wording.metrics, host.clock.wall()) }),
    log,
    observe: observationOf,
  })
  if (hasTls) life.addReadyzCheck('certificates', certificates.check)
  return life
}

/** Other functions that serve take one argument with all of it; its port would be ignored here. */
const ADDRESS_OF_OTHERS = { port: 'port', hostname: 'host' } as const

/** @throws QuiesceError ERR_OPTION_INVALID for what @hono/node-server is given */
export function refuseOptionsBesideFetch(calledFunction: string, handler: unknown): void {
  if (!hasFetch(handler)) return
  for (const [name, option] of Object.entries(ADDRESS_OF_OTHERS)) {
    const given: unknown = handler[name as keyof typeof handler]
    if (given !== undefined)
      throw optionError(`handler.${name}`, given, `none here; options go second: ${calledFunction}(app, { ${option} })`)
  }
}

/**
 * The node listener of a handler; the adapter of fetch handlers is loaded when one is used, and
 * only then.
 */
function requestListener(handler: Handler): () => Promise<RequestListener> {
  if (typeof handler === 'object' && handler !== null && 'listener' in handler && typeof handler.listener === 'function') {
    const { listener } = handler
    return () => Promise.resolve(listener)
  }
  const fetch = fetchOf(handler)
  return async () => {
    const { getRequestListener } = await import('@hono/node-server')
    // The adapter's listener returns a promise, which is how the gate knows that its handler still
    // runs.
    return getRequestListener(fetch as Parameters<typeof getRequestListener>[0], {
      // What is not ours is the adapter's, which cannot make a URL of what the client has sent.
      errorHandler: (thrown) => (thrown === ANSWERED ? undefined : new Response('Bad Request\n', BAD_REQUEST)),
    }) as RequestListener
  }
}

const BAD_REQUEST = { status: 400, headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' } }

/** Tells the adapter that there is nothing left to do. */
const ANSWERED = new Error('the failure of a fetch handler has been answered')

/** A fetch handler that fails is answered for, and reported, as every other listener is. */
function failed(thrown: unknown, { incoming }: FetchEnvironment): never {
  exchangeOf(incoming as IncomingMessage)?.threw(isListenersMistake(thrown) ? withHint(thrown) : thrown)
  throw ANSWERED
}

const HANDLER_ALLOWED = 'something with a fetch method (a Hono app), a fetch function, or { listener: (req, res) => ... }'
const LISTENER_HINT = 'a request listener or an Express app is given as { listener: app }'

function fetchOf(handler: Handler): FetchHandler {
  if (isFetchFunction(handler)) return guarded(handler)
  if (hasFetch(handler)) return guarded((request, env) => handler.fetch(request, env))
  throw optionError('handler', handler, `${HANDLER_ALLOWED}; ${LISTENER_HINT}`)
}

const hasFetch = (handler: unknown): handler is { readonly fetch: FetchHandler } =>
  typeof handler === 'object' && handler !== null && 'fetch' in handler && typeof handler.fetch === 'function'

/**
 * Not a class, which cannot be called, and not an Express or Connect app, whose function is a
 * request listener.
 */
function isFetchFunction(handler: unknown): handler is FetchHandler {
  if (typeof handler !== 'function' || /^class\b/.test(Function.prototype.toString.call(handler))) return false
  return !['handle', 'listen'].some((method) => typeof (handler as unknown as Record<string, unknown>)[method] === 'function')
}

/** A plain function does not show what it is before it has answered. */
const guarded =
  (fetch: FetchHandler): FetchHandler =>
  (request, env) => {
    try {
      const answer = fetch(request, env)
      if (isResponse(answer)) return answer
      return Promise.resolve(answer).then(
        (late: unknown) => (isResponse(late) ? late : failed(notAResponse(late), env)),
        (thrown: unknown) => failed(thrown, env),
      )
    } catch (thrown) {
      return failed(thrown, env)
    }
  }

const notAResponse = (answer: unknown): QuiesceError =>
  new QuiesceError('ERR_OPTION_INVALID', `handler: answered ${show(answer)}, allowed: a Response; ${LISTENER_HINT}`)

/**
 * By its looks: the adapter puts a Response of its own in the place of node's, and handlers may
 * bring another.
 */
const isResponse = (answer: unknown): answer is Response =>
  typeof answer === 'object' && answer !== null && 'status' in answer && 'headers' in answer && 'body' in answer

/**
 * A request listener was given where a fetch function belongs: its second argument has none of
 * these methods.
 */
const isListenersMistake = (thrown: unknown): thrown is TypeError =>
  thrown instanceof TypeError && /\.(end|write|writeHead|setHeader|status|send|json) is not a function/.test(thrown.message)

const withHint = (thrown: TypeError): QuiesceError =>
  new QuiesceError('ERR_OPTION_INVALID', `handler: ${thrown.message}; ${LISTENER_HINT}`, {}, thrown)
