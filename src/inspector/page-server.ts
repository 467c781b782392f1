import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { toError } from '../base/errors.ts'
import { pathAsSent } from '../base/request-target.ts'
import { lifecycleSvg } from '../diagram/index.ts'
import type { Composition } from '../machines/lifecycle.ts'
import { Access, type Problem, queryOf } from './access.ts'
import { BRIDGE_PAGE, BRIDGE_POLICY, BRIDGE_SCRIPT, BRIDGE_STYLE } from './bridge.ts'
import { EventStream, type ReadableJournal } from './event-stream.ts'
import { OfficialSockets } from './official-socket.ts'
import type { Session } from './protocol.ts'
import { StaticFiles } from './static-files.ts'

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
/** Streams and sockets at the same time: each browser tab has one. */
const STREAMS_MAX = 16
const TOO_MANY: Problem = { status: 503, text: `${STREAMS_MAX} streams are open already` }

/** Nothing from anywhere else, nothing inline, and in no frame. */
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

const HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': POLICY,
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
}

/** The inspector's server: the page with its files, its stream and what it may do. The routes are described in `protocol.ts`. */
export class PageServer {
  readonly server: Server
  readonly #content: PageContent
  readonly #access: Access
  readonly #files = new StaticFiles(new URL('./page/', import.meta.url))
  readonly #sockets = new Set<Socket>()
  readonly #official: OfficialSockets
  #streams = 0
  #chart: string | undefined

  constructor(content: PageContent, token: string | undefined) {
    this.#content = content
    this.#access = new Access(token)
    this.#official = new OfficialSockets(content.journal, content.definitionOf)
    this.server = createServer((request, response) => {
      this.#answer(request, response).then(
        (answer) => answer && send(response, answer),
        (thrown: unknown) => send(response, refusal({ status: 500, text: toError(thrown).message })),
      )
    })
    this.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => void this.#upgrade(request, socket, head))
    this.server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
  }

  /** Closes every connection; the listener is closed by its opener. */
  destroyConnections(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // Node leaves an upgraded socket's errors to its holder.
    socket.on('error', () => {})
    const refuse = ({ status, text }: Problem): void => {
      socket.end(
        `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${text}\n`,
      )
    }
    const isHere = pathAsSent(request.url ?? '/') === `${PREFIX}ws`
    const problem = isHere
      ? (this.#access.refusal(request) ?? this.#access.foreignRefusal(request))
      : { status: 404, text: `no socket here; the one for the official inspector is at ${PREFIX}ws` }
    if (problem) return refuse(problem)
    if (this.#streams >= STREAMS_MAX) return refuse(TOO_MANY)
    this.#streams++
    socket.once('close', () => this.#streams--)
    await this.#official.accept(request, socket, head).catch((thrown: unknown) => refuse({ status: 501, text: toError(thrown).message }))
  }

  /** undefined when the response is a stream, which answers by itself. */
  async #answer(request: IncomingMessage, response: ServerResponse): Promise<Answer | undefined> {
    const path = pathAsSent(request.url ?? '/')
    if (path === '/' || path === '/inspector') return redirection(`inspector/${searchOf(request)}`)
    if (!path.startsWith(PREFIX)) return refusal({ status: 404, text: `nothing here; the inspector is at ${PREFIX}` })
    const route = path.slice(PREFIX.length)
    const problem = this.#access.refusal(request)
    if (problem) return refusal(problem)
    if (route === 'stop' || route === 'drill') return this.#act(route, request)
    if (request.method !== 'GET' && request.method !== 'HEAD') return notAllowed(request, 'GET, HEAD')
    if (route === '' || route === 'official') return this.#page(route, request)
    const foreign = this.#access.foreignRefusal(request)
    if (foreign) return refusal(foreign)
    return route === 'events' ? this.#stream(request, response) : this.#data(route)
  }

  /** A page to be opened, which links may lead to. */
  #page(route: '' | 'official', request: IncomingMessage): Promise<Answer> | Answer {
    const cookie = this.#access.welcome(request)
    if (cookie === undefined)
      return route === ''
        ? this.#file('index.html')
        : ok('text/html; charset=utf-8', BRIDGE_PAGE, { 'Content-Security-Policy': `${POLICY}; ${BRIDGE_POLICY}` })
    // From here on the cookie has the token, and neither the address bar nor the history.
    const { status, headers, body } = redirection(`./${route}`)
    return { status, headers: { ...headers, 'Set-Cookie': cookie }, body }
  }

  async #data(route: string): Promise<Answer> {
    const { journal, report, composition } = this.#content
    switch (route) {
      case 'report': {
        const content = report()
        return content
          ? ok('application/json', `${JSON.stringify(content, undefined, 2)}\n`)
          : refusal({ status: 404, text: 'there is no report' })
      }
      case 'journal': {
        const lines = journal.after(0).map(({ text }) => `${text}\n`)
        return ok('application/x-ndjson', lines.join(''), { 'Content-Disposition': 'attachment; filename="journal.ndjson"' })
      }
      case 'chart.svg':
        this.#chart ??= lifecycleSvg(composition())
        return ok('image/svg+xml; charset=utf-8', this.#chart)
      case 'official.css':
        return ok('text/css; charset=utf-8', BRIDGE_STYLE)
      case 'official.js':
        return ok('text/javascript; charset=utf-8', BRIDGE_SCRIPT)
      case 'ws':
        return refusal({ status: 426, text: 'a WebSocket for the official inspector' }, { Upgrade: 'websocket' })
      default:
        return this.#file(route)
    }
  }

  async #file(path: string): Promise<Answer> {
    const file = await this.#files.get(path)
    return file ? ok(file.contentType, file.content) : refusal({ status: 404, text: `${path}: not a file of the inspector` })
  }

  #stream(request: IncomingMessage, response: ServerResponse): Answer | undefined {
    if (request.method === 'HEAD') return ok('text/event-stream; charset=utf-8', '')
    if (this.#streams >= STREAMS_MAX) return refusal(TOO_MANY)
    this.#streams++
    response.once('close', () => this.#streams--)
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value)
    const resumeAfter = Number(request.headers['last-event-id'] ?? queryOf(request).get('after') ?? 0)
    new EventStream(response, this.#content.journal, this.#content.session(), Number.isInteger(resumeAfter) ? resumeAfter : 0).start()
    return undefined
  }

  #act(action: 'stop' | 'drill', request: IncomingMessage): Answer {
    // Its body says nothing, but has to be read for the connection to be used again.
    request.resume()
    if (request.method !== 'POST') return notAllowed(request, 'POST')
    const act = this.#content.actions[action]
    if (!act) return refusal({ status: 403, text: `${action} is not allowed here` })
    const problem = this.#access.actionRefusal(request)
    if (problem) return refusal(problem)
    act()
    return { status: 202, headers: {}, body: '' }
  }
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer
}

const ok = (contentType: string, body: string | Buffer, headers: Answer['headers'] = {}): Answer => ({
  status: 200,
  headers: { ...headers, 'Content-Type': contentType },
  body,
})
const redirection = (location: string): Answer => ({ status: 303, headers: { Location: location }, body: '' })
const refusal = ({ status, text }: Problem, headers: Answer['headers'] = {}): Answer => ({
  status,
  headers: { ...headers, 'Content-Type': 'text/plain; charset=utf-8' },
  body: `${text}\n`,
})
const notAllowed = ({ method }: IncomingMessage, allowed: string): Answer =>
  refusal({ status: 405, text: `got ${method}, allowed: ${allowed}` }, { Allow: allowed })

const searchOf = ({ url = '' }: IncomingMessage): string => (url.includes('?') ? url.slice(url.indexOf('?')) : '')

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  // A stream that has failed half-way.
  if (response.headersSent) response.destroy()
  else response.writeHead(status, { ...HEADERS, ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body)
}
