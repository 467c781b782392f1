import { EventEmitter, once } from 'node:events'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Server } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Host, systemHost } from './actors/host.ts'
import { optionError, QuiesceError, show } from './base/errors.ts'
import { bodyOf, hearFailure, whyUnsendable } from './http/fetch-answer.ts'
import { isResponse, PLAIN_TEXT } from './http/respond.ts'
import { exchangeOf } from './http/traffic/exchange.ts'
import { waitUntil } from './http/wait-until.ts'
import { observationOf } from './inspector/observation.ts'
import type { Life } from './lifecycle/life.ts'
import { Lifecycle } from './lifecycle/lifecycle.ts'
import type { DefaultLog } from './lifecycle/output.ts'
import type { OwnAnswers } from './lifecycle/parts.ts'
import { CertificateWatch } from './listeners/certificate-watch.ts'
import { openPublicListeners } from './listeners/public-listeners.ts'
import { resolveServerOptions, type ServerOptions } from './options/options.ts'
import type { WebSocketOption, WebSocketServerLike } from './options/rows/web-socket.ts'
import { processFacts } from './platforms/platforms.ts'
import type { FurtherCas } from './tls/client-trust.ts'
import type { OwnPair } from './tls/settings.ts'

/** Node's request and response. */
interface FetchEnvironment {
  readonly incoming: unknown
  readonly outgoing: unknown
}

/** What edge platforms give to their handlers beside the request. */
export interface FetchContext {
  /**
   * The same as `waitUntil(request, promise)`: the drain waits for work that goes on after the
   * response.
   */
  waitUntil(promise: Promise<unknown>): void
  /** Does nothing: errors are answered by the server. */
  passThroughOnException(): void
  readonly props: unknown
}

/** A fetch function, as Hono's `app.fetch` is one. */
export type FetchHandler = (request: Request, env: FetchEnvironment, context: FetchContext) => Response | Promise<Response>

/** A fetch function as the adapter calls it. */
type NodeFetch = (request: Request, env: FetchEnvironment) => Response | Promise<Response>

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

/** What a server that is built on a created one brings along. */
export interface ServerParts extends OwnAnswers {
  /** Takes all upgrades, in place of the option `websocket`. */
  readonly upgrade?: Upgrade | undefined
  readonly ownClient?: OwnClient
  /** CAs of clients, beside those of the listeners. */
  readonly furtherCas?: FurtherCas | undefined
  /** What has to be done before it listens; a rejection is a failed start. */
  readonly beforeListening?: () => Promise<void>
}

/** A client of its own server, which it reaches whatever that listens on. */
export interface OwnClient {
  /** Makes the certificate by which this client knows a listener with TLS. */
  readonly pair: () => Promise<OwnPair>
  /** Receives the servers that are about to listen, in their order. */
  opened(servers: readonly Server[]): void
}

/** `createServer` in a given world, which may be the test kit's, or a command's. */
export function createServerOn(
  host: Host,
  handler: Handler,
  options: ServerOptions,
  log: DefaultLog = { isForAll: true },
  { upgrade, metrics, ownClient, furtherCas, beforeListening, ...parts }: ServerParts = {},
): Lifecycle {
  const resolved = resolveServerOptions(options, { ...log.wording, facts: processFacts(host.process) })
  const toListener = requestListener(handler)
  const hasTls = resolved.listeners.some(({ tls }) => tls !== undefined)
  const certificates = new CertificateWatch()
  const life: Lifecycle = new Lifecycle({
    options: resolved,
    host,
    openListeners: async (traffic) => {
      await beforeListening?.()
      const opening = { host, options: resolved, traffic, record: life.record }
      const prepare = upgrade ? takingUpgrades(upgrade) : await upgrades(handler, resolved.websocket)
      const own = { ownPair: ownClient?.pair, furtherCas }
      const opened = await openPublicListeners({ ...opening, ...own, listener: await toListener(), prepare })
      ownClient?.opened(opened.map(({ listener }) => listener.server))
      certificates.opened(opened.flatMap((one) => one.certificates ?? []))
      return opened.map(({ listener }) => listener)
    },
    applications: () => [hasListener(handler) ? handler.listener : handler],
    metrics: () => [...(hasTls ? certificates.metrics(resolved.wording.metrics, host.clock.wall()) : []), ...(metrics?.() ?? [])],
    log,
    observe: observationOf,
    ...parts,
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
export function requestListener(handler: Handler): () => Promise<RequestListener> {
  if (hasListener(handler)) {
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

const hasListener = (handler: Handler): handler is { readonly listener: RequestListener } =>
  typeof handler === 'object' && handler !== null && 'listener' in handler && typeof handler.listener === 'function'

/**
 * Has servers take WebSockets, when there is what does it. One that has no listener for upgrades
 * answers a request for one like any other.
 */
async function upgrades(handler: Handler, option: WebSocketOption | undefined): Promise<(server: Server) => void> {
  if (!option) return () => {}
  const take = hasListener(handler) ? takeBy(option.server) : await takeByAdapter(fetchOf(handler), option)
  return (server) =>
    void server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (request.headers.upgrade?.toLowerCase() === 'websocket') return take(request, socket, head)
      socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
      return undefined
    })
}

const takingUpgrades =
  (take: Upgrade) =>
  (server: Server): void =>
    void server.on('upgrade', take)

type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => unknown

const takeBy =
  (server: WebSocketServerLike): Upgrade =>
  (request, socket, head) =>
    server.handleUpgrade(request, socket, head, (webSocket) => server.emit('connection', webSocket, request))

/**
 * The adapter's own, which it adds to a server that it is given. It answers for a handler that
 * refuses, as long as nothing else listens there; one that fails has been answered for, so it is
 * told of that when the socket is gone.
 */
async function takeByAdapter(handler: NodeFetch, option: WebSocketOption): Promise<Upgrade> {
  const { createAdaptorServer } = await import('@hono/node-server')
  const given = new EventEmitter()
  const fetch: NodeFetch = async (request, env) => {
    try {
      return await handler(request, env)
    } catch (thrown) {
      const { socket } = env.incoming as IncomingMessage
      if (!socket.destroyed) await once(socket, 'close')
      throw thrown
    }
  }
  createAdaptorServer({ fetch, websocket: option, createServer: () => given } as unknown as Parameters<typeof createAdaptorServer>[0])
  const [take] = given.listeners('upgrade') as Upgrade[]
  return take as Upgrade
}

class RequestContext implements FetchContext {
  readonly props = {}
  readonly #incoming: IncomingMessage

  constructor(incoming: IncomingMessage) {
    this.#incoming = incoming
  }

  waitUntil(promise: Promise<unknown>): void {
    waitUntil(this.#incoming, promise)
  }

  passThroughOnException(): void {}
}

const BAD_REQUEST = { status: 400, headers: PLAIN_TEXT }

/** Tells the adapter that there is nothing left to do. */
const ANSWERED = new Error('the failure of a fetch handler has been answered')

/** A fetch handler that fails is answered for, and reported, as every other listener is. */
function failed(thrown: unknown, { incoming }: FetchEnvironment): never {
  exchangeOf(incoming as IncomingMessage)?.threw(isListenersMistake(thrown) ? withHint(thrown) : thrown)
  throw ANSWERED
}

const HANDLER_ALLOWED = 'something with a fetch method (a Hono app), a fetch function, or { listener: (req, res) => ... }'
const LISTENER_HINT = 'a request listener or an Express app is given as { listener: app }'

function fetchOf(handler: Handler): NodeFetch {
  if (isFetchFunction(handler)) return guarded(handler)
  if (hasFetch(handler)) return guarded((request, env, context) => handler.fetch(request, env, context))
  throw optionError('handler', handler, `${HANDLER_ALLOWED}; ${LISTENER_HINT}`)
}

const hasFetch = (handler: unknown): handler is { readonly fetch: FetchHandler } =>
  typeof handler === 'object' && handler !== null && 'fetch' in handler && typeof handler.fetch === 'function'

/**
 * Whether it is called with a Request: a class cannot be called, and an Express or Connect app is a
 * request listener.
 */
function isFetchFunction(handler: unknown): handler is FetchHandler {
  if (typeof handler !== 'function' || /^class\b/.test(Function.prototype.toString.call(handler))) return false
  return !['handle', 'listen'].some((method) => typeof (handler as unknown as Record<string, unknown>)[method] === 'function')
}

/** A plain function does not show what it is before it has answered. */
const guarded =
  (fetch: FetchHandler): NodeFetch =>
  (request, env) => {
    let answer: unknown
    try {
      answer = fetch(request, env, new RequestContext(env.incoming as IncomingMessage))
    } catch (thrown) {
      return failed(thrown, env)
    }
    if (isResponse(answer)) return sendable(answer, env)
    return Promise.resolve(answer).then(
      (late: unknown) => (isResponse(late) ? sendable(late, env) : failed(notAResponse(late), env)),
      (thrown: unknown) => failed(thrown, env),
    )
  }

function sendable(answer: Response, env: FetchEnvironment): Response {
  const body = bodyOf(answer)
  const wrong = whyUnsendable(answer, body)
  if (wrong) failed(wrong, env)
  hearFailure(body, env.incoming as IncomingMessage, env.outgoing as ServerResponse)
  return answer
}

const notAResponse = (answer: unknown): QuiesceError =>
  new QuiesceError('ERR_OPTION_INVALID', `handler: answered ${show(answer)}, allowed: a Response; ${LISTENER_HINT}`)

/**
 * How a request listener fails that is given where a fetch function belongs. It calls a method of
 * the response, which may have any name; or of the request. Streams and emitters of a fetch handler
 * have the methods of the latter, so that it has to be called `req` or `request`.
 */
const LISTENERS_MISTAKES = [
  /\.(end|write|writeHead|setHeader|flushHeaders|status|send|sendStatus|json|redirect) is not a function/,
  /\breq(uest)?(\.(on|once|pipe|resume|setEncoding) is not a function| is not async iterable)/,
]

const isListenersMistake = (thrown: unknown): thrown is TypeError =>
  thrown instanceof TypeError && LISTENERS_MISTAKES.some((mistake) => mistake.test(thrown.message))

const withHint = (thrown: TypeError): QuiesceError =>
  new QuiesceError('ERR_OPTION_INVALID', `handler: ${thrown.message}; ${LISTENER_HINT}`, {}, thrown)
