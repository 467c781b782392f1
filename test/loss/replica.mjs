// One of the two servers of a loss run, on dist/ and ended by a real SIGTERM. On descriptor 3 it
// says line by line where it listens and which connections it accepted, by the client's port: only
// the server can know which ones were reset before it ever saw them. No IPC channel: a process that
// has one ends differently. Argument: the options of replicas.mjs as
// JSON; with TRACE it says everything that it does to its connections.
import { subscribe } from 'node:diagnostics_channel'
import { setMaxListeners } from 'node:events'
import { writeSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttp2Server, createSecureServer } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { EVENT_STREAM, listenerOf, PEERS } from '../../bench/peers.mjs'
import { systemHost } from '../../build/src/actors/host.js'
import { attachLifecycleOn } from '../../build/src/attach.js'
import { createServerOn } from '../../build/src/create-server.js'
import { shutdownSignalOf } from '../../build/src/http/shutdown-signal.js'
import { selfSigned } from '../../build/src/tls/self-signed.js'
import { generator } from '../support/random.mjs'
import { answerForObject } from './echoes.mjs'
import { wallTime } from './link.mjs'
import { isEncrypted, isHttp2 } from './protocols.mjs'
import { DEFAULTS } from './replicas.mjs'
import { answerOfModel, echoSockets, eventsAfter } from './works.mjs'

const { server: kind, protocol, seed, delay, mode, busy, lastCall, graceMs, port = 0 } = JSON.parse(process.argv[2])
const say = (what) => writeSync(3, `${JSON.stringify(what)}\n`)
subscribe('net.server.socket', ({ socket }) => say({ accepted: socket.remotePort }))

/** What quiesce leaves to chance, the choice of connections that are told early, is the seed's. */
const random = generator(seed)
const host = { ...systemHost, random }

function block(ms) {
  const end = performance.now() + ms
  while (performance.now() < end);
}

/** A loop that is blocked for 20 to 60 ms, 50 to 100 ms after the last time. */
function keepBusy(dice) {
  setTimeout(
    () => {
      block(20 + 40 * dice())
      keepBusy(dice)
    },
    50 + 50 * dice(),
  ).unref()
}
if (busy) keepBusy(generator(seed + 1))

/** How many turns of the loop what has just closed is given to be gone. */
const TURNS = 20
process.on('SIGUSR2', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  for (let turn = 0; turn < TURNS; turn++) await sleep(10)
  collect()
  const resources = {}
  for (const what of process.getActiveResourcesInfo()) resources[what] = (resources[what] ?? 0) + 1
  const { heapUsed: heapBytes, rss: residentBytes } = process.memoryUsage()
  say({ weight: { heapBytes, residentBytes, resources } })
})

/** Of a server that has no way to tell a handler of its end: the application does it, as a careful one would. */
const leaving = new AbortController()
// Each event stream listens.
setMaxListeners(0, leaving.signal)
const endOf = (request) => (kind in PEERS || kind === 'bare' ? leaving.signal : shutdownSignalOf(request))

/**
 * `/echo?n=7&ms=3` answers 7 after 3 ms, and a body by its length; `/block?ms=300` blocks the event
 * loop once it has said so; `/events` and `/stream` are those of works.mjs.
 */
async function answer(request) {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost')
  if (pathname === '/events') return eventsAfter(request, endOf(request))
  if (pathname === '/stream') return answerOfModel()
  const ms = Number(searchParams.get('ms'))
  if (pathname === '/block') {
    say({ blocked: true })
    block(ms)
  }
  let bytes = 0
  for await (const chunk of request) bytes += chunk.length
  if (pathname === '/echo' && ms > 0) await sleep(ms)
  return `${searchParams.get('n')} ${bytes}`
}

const pair = isEncrypted(protocol) ? selfSigned(['localhost'], Date.now()) : undefined
const KEEP_ALIVE = { keepAliveTimeout: 75_000 }
const NODE_SERVERS = {
  'HTTP/1.1': (onRequest) => createHttpServer(KEEP_ALIVE, onRequest),
  HTTPS: (onRequest) => createHttpsServer({ ...KEEP_ALIVE, ...pair }, onRequest),
  h2: (onRequest) => createSecureServer(pair, onRequest),
  h2c: (onRequest) => createHttp2Server(onRequest),
}

const listener = listenerOf(answer)

/** The replica that stays has the objects of the other one, too. */
async function listenerOfBoth(request, response) {
  const { pathname } = new URL(request.url, 'http://localhost')
  if (!pathname.startsWith('/apis/')) return listener(request, response)
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  const { status, ms, body } = answerForObject(pathname, text)
  if (ms > 0) await sleep(ms)
  response.writeHead(status)
  response.end(body)
}
/** What each server with WebSockets tells them at its end, where nobody else does. */
const goodbyes = []
const options = {
  shutdownDelay: delay,
  deadline: '20s',
  whileDraining: mode,
  logger: false,
  reportFile: process.env.REPORT_FILE,
  ...(lastCall && { lastCall }),
}

function listen(onRequest) {
  const server = NODE_SERVERS[protocol](onRequest)
  if (!isHttp2(protocol)) goodbyes.push(echoSockets(server))
  return server.listen(port, '127.0.0.1', () => say({ port: server.address().port }))
}

function attach(onRequest, given = options) {
  const server = listen(onRequest)
  const life = attachLifecycleOn(host, server, given)
  trace(life)
  return life.run()
}

const SERVERS = {
  /** Also the replica that stays. */
  bare: () => listen(listenerOfBoth),

  'attached node:http': () => attach(listener),

  /** Nothing is given that a user would not have to give. */
  [DEFAULTS]: () =>
    attach(listener, {
      logger: false,
      reportFile: process.env.REPORT_FILE,
      ...(delay > 0 && { shutdownDelay: delay }),
      // Behind a proxy.
      ...(port > 0 && { health: true }),
    }),

  async 'attached Express'() {
    const { default: express } = await import('express')
    const app = express().use(async (request, response) => {
      const body = await answer(request)
      if (typeof body === 'string') response.send(body)
      else listenerOf(() => body)(request, response)
    })
    return attach(app)
  },

  async 'created Hono'() {
    const { Hono } = await import('hono')
    const { upgradeWebSocket } = await import('@hono/node-server')
    const { WebSocketServer } = await import('ws')
    const app = new Hono()
    app.get(
      '/ws',
      upgradeWebSocket(() => ({ onMessage: (event, socket) => socket.send(String(event.data)) })),
    )
    app.all('*', async (context) => {
      const body = await answer(context.env.incoming)
      return typeof body === 'string' ? context.text(body) : context.body(Readable.toWeb(body), 200, EVENT_STREAM)
    })
    const life = createServerOn(host, app, {
      ...options,
      host: '127.0.0.1',
      port: 0,
      websocket: { server: new WebSocketServer({ noServer: true }) },
      // Over TLS it speaks both, each to those who ask for it.
      ...(pair ? { tls: pair } : { http2: isHttp2(protocol) }),
    })
    life.events$.subscribe((event) => event.type === 'listening' && !event.admin && say({ port: event.port }))
    trace(life)
    return life.run()
  },

  'API server': () => runApiServer(),
  'API server, resources': () => runApiServer(),
}

async function runApiServer() {
  const { apiServer } = await import('./api-server.mjs')
  const life = await apiServer(
    host,
    {
      ...options,
      host: '127.0.0.1',
      port: 0,
      ...(pair ? { tls: pair } : { http2: isHttp2(protocol) }),
    },
    listener,
  )
  life.events$.subscribe((event) => event.type === 'listening' && !event.admin && say({ port: event.port }))
  trace(life)
  return life.run()
}

/**
 * For the inquiry into a loss: what the life says, and what becomes of each connection, to be
 * compared with the client's own history.
 */
function trace(life) {
  if (!process.env.TRACE) return
  const note = (what) => say({ trace: `${wallTime()} ${what}` })
  life.events$.subscribe(({ at: _, type, ...rest }) => note(`${type} ${JSON.stringify(rest).slice(0, 200)}`))
  subscribe('net.server.socket', ({ socket }) => {
    const { remotePort } = socket
    note(`accepted :${remotePort}`)
    socket.on('end', () => note(`heard the end :${remotePort}`))
    socket.on('finish', () => note(`ended :${remotePort}`))
    socket.on('error', (error) => note(`${error.code} :${remotePort}`))
    socket.on('close', () => note(`closed :${remotePort} after ${socket.bytesRead} in, ${socket.bytesWritten} out`))
  })
  subscribe('http.server.request.start', ({ request, socket }) => note(`${request.method} ${request.url} :${socket.remotePort}`))
  subscribe('http.server.response.finish', ({ request, response }) =>
    note(`${response.statusCode} ${response.shouldKeepAlive ? '' : '(close) '}to ${request.url} :${request.socket.remotePort}`),
  )
}

async function runPeer() {
  process.once('SIGTERM', async () => {
    if (delay > 0) await sleep(delay)
    leaving.abort()
    for (const goodbye of goodbyes) goodbye()
  })
  const made = (server) => !isHttp2(protocol) && goodbyes.push(echoSockets(server))
  say({ port: await PEERS[kind](answer, { delayMs: delay, graceMs, port, tls: pair, isHttp2: isHttp2(protocol), made }) })
}

await (kind in PEERS ? runPeer() : SERVERS[kind]())
