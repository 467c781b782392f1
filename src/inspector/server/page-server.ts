import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { type Context, type Handler, Hono, type MiddlewareHandler } from 'hono'
import { toError } from '../../base/errors.ts'
import { lifecycleChart, lifecycleSvg } from '../../diagram/index.ts'
import { collectAllHeaders, strictReading } from '../../http/reading.ts'
import { respond } from '../../http/respond.ts'
import type { Composition } from '../../machines/lifecycle.ts'
import type { Session } from '../protocol.ts'
import type { ReadableJournal } from '../reading.ts'
import { admission, jsonOnly, type OnNode, ownPagesOnly, problem, welcome } from './access.ts'
import { BRIDGE_PAGE, BRIDGE_POLICY, BRIDGE_SCRIPT, BRIDGE_STYLE } from './bridge.ts'
import { EventStream } from './event-stream.ts'
import { OfficialSockets } from './official-socket.ts'

/** What is behind the page: a life that runs, or a recorded one. */
export interface PageContent {
  readonly journal: ReadableJournal
  readonly session: () => Session
  /** undefined when there is none. */
  readonly report: () => object | undefined
  /** What the chart is drawn of, when it is first asked for. */
  readonly composition: () => Composition
  /** The JSON of a machine's config by its id, as far as it is known. */
  readonly definitionOf: (machine: string) => string | undefined
  /** What the page may do. */
  readonly actions: Readonly<Partial<Record<'stop' | 'drill', () => void>>>
}

/** Below this path everything is the inspector's. */
const PREFIX = '/inspector/'
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}
const TEXT = { 'Content-Type': 'text/plain; charset=utf-8' }
/** Streams and sockets at the same time: each browser tab has one. */
const STREAMS_MAX = 16

/** The policy: nothing from anywhere else, nothing inline, and in no frame. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The headers of every answer, the streams' and the adapter's own included. */
const HEADERS = new Map([
  ['Cache-Control', 'no-store'],
  ['Content-Security-Policy', POLICY],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Referrer-Policy', 'no-referrer'],
  ['X-Content-Type-Options', 'nosniff'],
])

/**
 * A native response, whatever the global one is: a `createServer` of the same process replaces
 * that, and the adapter would send one of its own once more.
 */
const ALREADY_SENT = RESPONSE_ALREADY_SENT.clone()

/**
 * The inspector's server: the page with its files, its stream and what it may do. The routes are
 * described in `protocol.ts`.
 */
export class PageServer {
  readonly server: Server
  readonly #content: PageContent
  readonly #sockets = new Set<Socket>()
  readonly #official: OfficialSockets
  /** What came behind the head of a request that asks for another protocol. */
  readonly #upgrades = new WeakMap<IncomingMessage, Buffer>()
  #streams = 0

  constructor(content: PageContent, token: string | undefined) {
    this.#content = content
    this.#official = new OfficialSockets(content.journal, content.definitionOf)
    // The globals stay: the process is the user's. A request without a Host, which HTTP/1.0 allows,
    // still needs a URL.
    const answer = getRequestListener(this.#routes(token).fetch, {
      overrideGlobalObjects: false,
      hostname: 'localhost',
      // Failures of routes are answered by them: this is a request that the adapter cannot read.
      errorHandler: (thrown) => new Response(`${toError(thrown).message}\n`, { status: 400, headers: TEXT }),
    })
    const listener = (request: IncomingMessage, response: ServerResponse): void => {
      const refusal = strictReading(request)
      if (refusal) respond(response, refusal)
      else {
        response.setHeaders(HEADERS)
        void answer(request, response)
      }
    }
    this.server = createServer(listener)
    collectAllHeaders(this.server)
    // A request like any other, by the same rules: until it is handed over it has a response.
    this.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      // Node leaves an upgraded socket's errors to its holder.
      socket.on('error', () => {})
      this.#upgrades.set(request, head)
      const response = new ServerResponse(request)
      response.shouldKeepAlive = false
      response.assignSocket(socket as Socket)
      response.once('finish', () => socket.end())
      listener(request, response)
    })
    this.server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
  }

  /** Closes every connection; the listener is closed by its opener. */
  destroyConnections(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** What a request passes, in this order. */
  #routes(token: string | undefined): Hono<OnNode> {
    const { report, journal, composition } = this.#content
    let chart: string | undefined
    let data: string | undefined
    const toPage: Handler = (c) => c.redirect(`inspector/${new URL(c.req.url).search}`, 303)
    const app = new Hono<OnNode>()
    app.onError((error, c) => this.#failed(toError(error), c))
    app.notFound((c) => problem(c, 404, `nothing here; the inspector is at ${PREFIX}`))
    app.use(this.#noSocketElsewhere)
    app.get('/', toPage).get('/inspector', toPage)

    const own = app.basePath(PREFIX)
    own.use(admission(token))
    own.get('/', welcome(token), files('index.html'))
    own.get('/official', welcome(token), (c) => c.html(BRIDGE_PAGE, 200, { 'Content-Security-Policy': `${POLICY}; ${BRIDGE_POLICY}` }))
    own.use(ownPagesOnly)
    for (const action of ['stop', 'drill'] as const) own.post(`/${action}`, jsonOnly, (c) => this.#act(c, action)).all(only('POST'))
    own.get('/events', this.#oneOfFew, (c) => this.#stream(c))
    own.get('/ws', this.#socketsOnly, this.#oneOfFew, (c) => this.#socket(c))
    own.get('/report', (c) => {
      const content = report()
      return content
        ? c.body(`${JSON.stringify(content, undefined, 2)}\n`, 200, { 'Content-Type': 'application/json' })
        : problem(c, 404, 'there is no report')
    })
    own.get('/journal', (c) => {
      const lines = journal.after(0).map(({ text }) => `${text}\n`)
      return c.body(lines.join(''), 200, {
        'Content-Type': 'application/x-ndjson',
        'Content-Disposition': 'attachment; filename="journal.ndjson"',
      })
    })
    own.get('/chart.svg', (c) => {
      chart ??= lifecycleSvg(composition())
      return c.body(chart, 200, { 'Content-Type': 'image/svg+xml; charset=utf-8' })
    })
    own.get('/chart.json', (c) => {
      data ??= JSON.stringify(lifecycleChart(composition()))
      return c.body(data, 200, { 'Content-Type': 'application/json' })
    })
    own.get('/official.css', (c) => c.body(BRIDGE_STYLE, 200, { 'Content-Type': 'text/css; charset=utf-8' }))
    own.get('/official.js', (c) => c.body(BRIDGE_SCRIPT, 200, { 'Content-Type': 'text/javascript; charset=utf-8' }))
    own.get('/*', files(), (c) => problem(c, 404, `${c.req.path.slice(PREFIX.length)}: not a file of the inspector`))
    own.all('/*', only('GET, HEAD'))
    return app
  }

  readonly #noSocketElsewhere: MiddlewareHandler<OnNode> = async (c, next) =>
    this.#upgrades.has(c.env.incoming) && c.req.path !== `${PREFIX}ws`
      ? problem(c, 404, `no socket here; the one for the official inspector is at ${PREFIX}ws`)
      : next()

  readonly #socketsOnly: MiddlewareHandler<OnNode> = async (c, next) =>
    this.#upgrades.has(c.env.incoming) ? next() : problem(c, 426, 'a WebSocket for the official inspector', { Upgrade: 'websocket' })

  readonly #oneOfFew: MiddlewareHandler<OnNode> = async (c, next) => {
    const { outgoing } = c.env
    // Node closes no response that was pipelined behind another when its client goes: it would be
    // counted, kept and waited for without end.
    if (!outgoing.socket) return problem(c, 503, 'a stream does not wait behind another answer of its connection')
    if (this.#streams >= STREAMS_MAX) return problem(c, 503, `${STREAMS_MAX} streams are open already`)
    this.#streams++
    outgoing.once('close', () => this.#streams--)
    return next()
  }

  #act(c: Context<OnNode>, action: 'stop' | 'drill'): Response {
    const act = this.#content.actions[action]
    if (!act) return problem(c, 403, `${action} is not allowed here`)
    act()
    return c.body(null, 202)
  }

  #stream(c: Context<OnNode>): Response {
    if (c.req.method === 'HEAD') return c.body(null, 200, { 'Content-Type': 'text/event-stream; charset=utf-8' })
    const resumeAfter = Number(c.req.header('Last-Event-ID') ?? c.req.query('after') ?? 0)
    const { journal, session } = this.#content
    new EventStream(c.env.outgoing as ServerResponse, journal, session(), Number.isInteger(resumeAfter) ? resumeAfter : 0).start()
    return ALREADY_SENT
  }

  async #socket(c: Context<OnNode>): Promise<Response> {
    const { incoming } = c.env
    try {
      await this.#official.accept(incoming, incoming.socket, this.#upgrades.get(incoming) ?? Buffer.alloc(0))
      return ALREADY_SENT
    } catch (thrown) {
      return problem(c, 501, toError(thrown).message)
    }
  }

  /** A stream that has failed half-way has no other end. */
  #failed({ message }: Error, c: Context<OnNode>): Response {
    if (!c.env.outgoing.headersSent) return problem(c, 500, message)
    c.env.outgoing.destroy()
    return ALREADY_SENT
  }
}

/**
 * A file of the page, or the one that the path names. They are a module, so that a program that was
 * bundled into one file has them too.
 */
const files =
  (file?: string): MiddlewareHandler<OnNode> =>
  async (c, next) => {
    const { default: all } = await import('#page')
    const name = file ?? c.req.path.slice(PREFIX.length)
    const text = Object.hasOwn(all, name) ? all[name] : undefined
    if (text === undefined || !['GET', 'HEAD'].includes(c.req.method)) return next()
    return c.body(text, 200, { 'Content-Type': MEDIA_TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream' })
  }

const only =
  (allowed: string): Handler<OnNode> =>
  (c) =>
    problem(c, 405, `got ${c.req.method}, allowed: ${allowed}`, { Allow: allowed })
