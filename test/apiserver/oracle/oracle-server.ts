import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import {
  ABORT_HANDLER,
  type ApiHandler,
  type ApiServer,
  type Authorizer,
  bearerTokenAuthenticator,
  completeConfig,
  createApiServer,
  emptyDelegate,
  notFoundDelegate,
  warn,
} from '#apiserver/index.ts'
import { queryTexts } from '#src/base/go-query.ts'
import type { Lifecycle } from '#src/lifecycle/lifecycle.ts'
import { Sink } from '../audit/sink.ts'
import type { Answer, RecordedCheck, RecordedEvent, RecordedRequest, Settings } from './recorded.ts'
import { recordedWidgets } from './recorded-widgets.ts'

/** The recorded server's, which stand in its build. */
const VERSION = {
  major: '1',
  minor: '37',
  emulationMajor: '1',
  emulationMinor: '37',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '36',
  gitVersion: 'v0.0.0-master+$Format:%H$',
  gitCommit: '$Format:%H$',
  gitTreeState: '',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'go1.26.8',
  compiler: 'gc',
  platform: 'linux/amd64',
}

/** Who has which bearer token. */
const USERS: Readonly<Record<string, readonly string[]>> = { admin: ['system:masters'], user: [], nobody: [] }

const TOKENS = bearerTokenAuthenticator({
  authenticateToken: (name) => {
    const groups = Object.hasOwn(USERS, name) ? USERS[name] : undefined
    return groups && { user: { name, groups, extra: {} } }
  },
})

/** One may do nothing, and who is not known may touch no resources. */
const RULES: Authorizer = {
  authorize: ({ user, isResourceRequest }) => {
    if (user?.name === 'nobody') return { decision: 'deny', reason: 'nobody may do nothing' }
    return { decision: isResourceRequest && user?.name === 'system:anonymous' ? 'no-opinion' : 'allow' }
  },
}

interface OracleServer {
  /** @param linesMax of a stream that goes on: then its client leaves */
  ask(request: RecordedRequest, linesMax?: number): Promise<Answer>
  /** What was audited, when the server has ended and nothing is added any more. */
  end(): Promise<readonly RecordedEvent[]>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * A server of ours with the settings and routes of the recorded one, serving. A setting that ours
 * does not know yet is left out; what is another answer for that stands in the list of differences.
 */
export async function oracleServer(settings: Settings): Promise<OracleServer> {
  const sink = new Sink()
  const config = completeConfig({
    ...(settings.audit && { audit: sink, auditPolicy: { rules: [{ level: 'Metadata' }] } }),
    platform: 'unknown',
    shutdownDelay: 0,
    port: 0,
    host: '127.0.0.1',
    logger: false,
    lastCall: 0,
    version: VERSION,
    enableProfiling: true,
    authorizer: { authorize: () => ({ decision: 'allow' }) },
    ...(settings.requestTimeout !== undefined && { requestTimeout: settings.requestTimeout }),
    ...(settings.maxBody !== undefined && { maxRequestBodyBytes: settings.maxBody }),
    ...(settings.hsts && { hstsDirectives: settings.hsts }),
    ...(settings.cors && { corsAllowedOrigins: settings.cors }),
    ...(settings.authenticate && { authenticators: [TOKENS], anonymousAuth: true, authorizer: RULES, authorizationAlwaysAllowPaths: [] }),
  })
  const servers: ApiServer[] = []
  for (let number = settings.delegates ?? 0; number >= 0; number--) {
    const delegate = servers.at(-1) ?? (settings.plainEmptyDelegate ? emptyDelegate() : notFoundDelegate())
    const server = createApiServer(config, { name: `server-${number}`, delegate })
    for (const { name, ms = 0, server: of = 0 } of settings.postStart ?? [])
      if (of === number) server.addPostStartHook(name, () => after(ms))
    const checks = (all: readonly RecordedCheck[] = []) => all.filter(({ server: of = 0 }) => of === number)
    for (const check of checks(settings.healthz)) server.addHealthCheck(check.name, runOf(check))
    for (const check of checks(settings.livez)) server.addLivezCheck(check.name, runOf(check))
    for (const check of checks(settings.readyz)) server.addReadyzCheck(check.name, runOf(check))
    if (number > 0) server.handle(`/delegate-${number}`, text(`/delegate-${number}`))
    servers.push(server)
  }
  const server = servers.at(-1) as ApiServer
  if (settings.widgets) server.installApiGroups(recordedWidgets())
  for (const [path, handler] of Object.entries(ROUTES))
    path.endsWith('/') ? server.handlePrefix(path, handler) : server.handle(path, handler)
  for (const { name, ms } of settings.mux ?? []) server.addMuxCompleteSignal(name, ms < 0 ? new Promise(() => {}) : after(ms))

  const life = server.prepare().life as Lifecycle
  await life.start()
  const { port } = life.addresses[0] as { readonly port: number }
  const isStarted = async (): Promise<boolean> => (await ask(port, { method: 'GET', path: '/healthz' })).status === 200
  while (!settings.postStart?.some(({ ms = 0 }) => ms > LONG_MS) && !(await isStarted())) await after(5)
  return {
    ask: (request, linesMax) => ask(port, request, linesMax),
    end: async () => {
      await life.stop('everything was asked')
      return sink.calls
        .flat()
        .map(({ stage, verb, requestURI, responseStatus }) => ({ stage, verb, uri: requestURI, code: responseStatus?.code ?? 0 }))
    },
    [Symbol.asyncDispose]: async () => void (await life.stop({ now: true })),
  }
}

/** Above the deadline of the group that has one. */
const BEYOND_DEADLINE_MS = 3_000

/** A post-start hook of so long is meant to go on while the server is asked. */
const LONG_MS = 5_000

const after = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref())

const runOf = ({ until, reason }: RecordedCheck) => {
  if (until !== undefined && until >= 0) throw new Error('not a recorded setting: a check that begins to pass')
  return () => {
    if (until !== undefined) throw new Error(reason)
  }
}

const TEXT = 'text/plain; charset=utf-8'

const text =
  (body: string): ApiHandler =>
  (_request, response) =>
    sendText(response, body)

/** Go's server looks at the first bytes to say what they are. */
function sendText(response: ServerResponse, body: string): void {
  if (body !== '') response.setHeader('Content-Type', body.startsWith('<html>') ? 'text/html; charset=utf-8' : TEXT)
  response.setHeader('Content-Length', Buffer.byteLength(body))
  response.end(body)
}

const queryOf = ({ url = '/' }: IncomingMessage): URLSearchParams => new URL(url, 'http://x').searchParams

/** The recorder's. */
const ROUTES: Readonly<Record<string, ApiHandler>> = {
  '/echo': (request, response) => sendText(response, queryTexts(request.url ?? '', 'message')[0] ?? ''),
  '/slow': async (request, response) => {
    await after(Number(queryOf(request).get('ms')))
    sendText(response, 'done')
  },
  '/panic': (request, response) => {
    const query = queryOf(request)
    const failure = query.has('abort') ? ABORT_HANDLER : new Error('the route /panic')
    const sent = query.get('after')
    if (sent !== null) response.setHeader('Content-Type', TEXT)
    // What is written in the step of the failure does not leave, as what Go has not flushed.
    if (sent === 'write') response.write('half')
    if (sent !== 'flush') throw failure
    // An answer to HEAD has nothing to write: its head goes by itself.
    response.flushHeaders()
    return new Promise((_, fail) => response.write('half', () => fail(failure)))
  },
  '/partial': async (_request, response) => {
    response.setHeader('Content-Type', TEXT)
    response.write('first')
    await after(BEYOND_DEADLINE_MS)
    response.end()
  },
  '/warn': (request, response) => {
    warn(request, '', 'this endpoint is deprecated')
    warn(request, 'agent', 'with "quotes" and ünïcode')
    sendText(response, 'warned')
  },
  '/upload': (request, response) => {
    request.resume()
    sendText(response, 'uploaded')
  },
  '/hijack': text('hijacked'),
  '/prefix/': (request, response) => sendText(response, (request.url ?? '').replace(/\?.*/, '')),
  '/apis/oracle.example/v1/ticks': (_request, response) => {
    response.setHeader('Content-Type', 'application/json')
    response.write('<ticks>\n')
    response.end()
  },
}

/** Headers that say how the connection goes on: connections are the engine's. */
const OF_THE_CONNECTION = ['connection', 'keep-alive']

/** Of a body that was recorded in part: as many bytes as it had. */
const whole = (body: string): string => {
  const [, bytes] = /… \((\d+) bytes\)$/.exec(body) ?? []
  return bytes === undefined ? body : 'x'.repeat(Number(bytes))
}

/** On a connection of its own; never rejects. */
function ask(port: number, { method, path, headers, body }: RecordedRequest, linesMax = Number.POSITIVE_INFINITY): Promise<Answer> {
  return new Promise((resolve) => {
    const request = httpRequest({ host: '127.0.0.1', port, method, path, headers: { ...headers }, agent: false }, (response) => {
      const chunks: Buffer[] = []
      const end = (cut?: string) => {
        const head = Object.fromEntries(
          Object.entries(response.headers)
            .filter(([name]) => !OF_THE_CONNECTION.includes(name))
            .map(([name, value]) => [name, [value].flat().join(', ')]),
        )
        resolve({ status: response.statusCode as number, headers: head, body: Buffer.concat(chunks).toString(), ...(cut && { cut }) })
      }
      let lines = 0
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        lines += chunk.toString().split('\n').length - 1
        if (lines >= linesMax) leave()
      })
      const leave = (): void => {
        end()
        request.destroy()
      }
      if (linesMax < Number.POSITIVE_INFINITY) request.setTimeout(BEYOND_DEADLINE_MS, leave)
      response.on('end', () => end())
      response.on('error', () => end('end'))
    })
    request.on('error', () => resolve({ error: 'closed' }))
    const sent = body === undefined ? undefined : whole(body)
    if (sent !== undefined) request.setHeader('Content-Length', Buffer.byteLength(sent))
    request.end(sent)
  })
}
