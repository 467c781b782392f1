import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { type Host, systemHost } from './actors/host.ts'
import { Listener } from './actors/listener.ts'
import { createDefaultLogger } from './actors/log.ts'
import type { Traffic } from './actors/traffic.ts'
import { openAdminListener } from './admin-listener.ts'
import { optionError } from './errors.ts'
import { errorRecord, type LifecycleFact } from './events.ts'
import { type Life, Lifecycle } from './lifecycle.ts'
import { type ListenerAddress, type ResolvedServerOptions, resolveServerOptions, type ServerOptions } from './options.ts'
import { processFacts } from './platform.ts'

/** A fetch function, as Hono's `app.fetch` is one. `env.incoming` and `env.outgoing` are node's request and response. */
export type FetchHandler = (
  request: Request,
  env: { readonly incoming: unknown; readonly outgoing: unknown },
) => Response | Promise<Response>

/** What a server serves: anything with `fetch` (a Hono app), a fetch function, or a node request listener. */
export type Handler = { readonly fetch: FetchHandler } | FetchHandler | { readonly listener: RequestListener }

/**
 * Creates a server with a lifecycle around `handler`; nothing listens before `run()` or `start()`.
 *
 * @throws QuiesceError ERR_OPTION_INVALID with one line for every option that cannot be used
 */
export function createServer(handler: Handler, options: ServerOptions = {}): Life {
  return createServerOn(systemHost, handler, options)
}

/** `createServer` in a given world; the test kit has its own. */
export function createServerOn(host: Host, handler: Handler, options: ServerOptions): Lifecycle {
  const resolved = resolveServerOptions(options, { facts: processFacts() })
  const toListener = requestListener(handler)
  const life: Lifecycle = new Lifecycle({
    options: resolved,
    host,
    openListeners: async (traffic, answerMetrics) => {
      const listeners = openListeners(resolved, traffic, await toListener(life.record))
      return resolved.admin ? [...listeners, openAdminListener(traffic, resolved.admin, answerMetrics)] : listeners
    },
    openLogger: async () => resolved.logger ?? (await createDefaultLogger()),
  })
  return life
}

function openListeners(options: ResolvedServerOptions, traffic: Traffic, listener: RequestListener): Listener[] {
  const open = (address: ListenerAddress): Listener => {
    // Without a host node listens on all addresses, IPv6 and IPv4.
    const target = 'path' in address ? address : { port: address.port, ...(address.host !== undefined && { host: address.host }) }
    const server = createHttpServer({ keepAliveTimeout: options.keepAliveTimeoutMs, ...options.serverOptions }, listener)
    traffic.takeOver(server)
    return new Listener(server, target)
  }
  return options.listeners.map(open)
}

/** The node listener of a handler; the adapter of fetch handlers is loaded when one is used, and only then. */
function requestListener(handler: Handler): (record: (fact: LifecycleFact) => void) => Promise<RequestListener> {
  if (typeof handler === 'object' && handler !== null && 'listener' in handler && typeof handler.listener === 'function') {
    const { listener } = handler
    return () => Promise.resolve(listener)
  }
  const fetch = fetchOf(handler)
  return async (record) => {
    const { getRequestListener } = await import('@hono/node-server')
    // The adapter's listener returns a promise, which is how the gate knows that its handler still runs.
    return getRequestListener(fetch as Parameters<typeof getRequestListener>[0], {
      errorHandler: (thrown) => {
        record({ type: 'error', where: 'fetch handler', error: errorRecord(thrown) })
        return new Response('Internal Server Error\n', {
          status: 500,
          headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
        })
      },
    }) as RequestListener
  }
}

function fetchOf(handler: Handler): FetchHandler {
  if (typeof handler === 'function') return handler
  if (typeof handler === 'object' && handler !== null && 'fetch' in handler && typeof handler.fetch === 'function') {
    return (request, env) => handler.fetch(request, env)
  }
  throw optionError('handler', handler, 'something with a fetch method (a Hono app), a fetch function, or { listener: (req, res) => ... }')
}
