// @ts-check
// One server of the overhead benchmark: a trivial route, served in one of several ways. It says
// what processor time it used. Argument: { "application", "life": "bare" | "attached" | "created" |
// "inspected" | "apiserver" } as JSON; an API server has of its filters those that `chain` names.
import { createServer as createHttpServer } from 'node:http'

const { application, life, chain, audit } = JSON.parse(process.argv[2] ?? '')

/** @param {unknown} _ @param {any} response of HTTP/1.1 or HTTP/2, which have this in common */
function hello(_, response) {
  response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': 6 })
  response.end('hello\n')
}

async function newPair() {
  const { selfSigned } = await import('../build/src/tls/self-signed.js')
  return selfSigned(['localhost'], Date.now())
}

/**
 * Node's constants for names of headers are strings of their own, until one is used as a key. From
 * then on it refers to the string that all keys share, and the next collection of young objects puts
 * that in its place. In a process that computes something between the import and its first request
 * the constants are old by then: they stay references for good, and each answer misses two inline
 * caches [Node 20 to 24]. It is no difference between servers, so all of them use the names at once.
 */
async function importHttp2() {
  const http2 = await import('node:http2')
  Object.fromEntries(Object.values(http2.constants).map((name) => [name, true]))
  return http2
}

/**
 * What it takes to have the application as a node server and as a handler of quiesce; only what is
 * used is loaded.
 * @typedef {object} Application
 * @property {() => import('node:http').Server | import('node:https').Server | import('node:http2').Http2Server | import('node:http2').Http2SecureServer} server
 * @property {any} handler
 * @property {import('../dist/index.js').ServerOptions} [spoken] what a created one is told to speak; default: HTTP/1.1
 * @typedef {'node:http' | 'node:https' | 'node:http2' | 'node:http2, TLS' | 'Hono' | 'a Hono hop' | 'the least' | 'a middleware' | 'Express'} ApplicationName
 * @type {Record<ApplicationName, () => Promise<Application>>}
 */
const APPLICATIONS = {
  'node:http': async () => ({ server: () => createHttpServer(hello), handler: { listener: hello } }),
  'node:https': async () => {
    const [{ createServer }, pair] = await Promise.all([import('node:https'), newPair()])
    return { server: () => createServer(pair, hello), handler: { listener: hello }, spoken: { tls: pair, http2: false } }
  },
  'node:http2': async () => {
    const { createServer } = await importHttp2()
    return { server: () => createServer(hello), handler: { listener: hello }, spoken: { http2: true } }
  },
  'node:http2, TLS': async () => {
    const [{ createSecureServer }, pair] = await Promise.all([importHttp2(), newPair()])
    // As the created one has it.
    const options = { ...pair, allowHTTP1: true }
    return { server: () => createSecureServer(options, hello), handler: { listener: hello }, spoken: { tls: pair } }
  },
  Hono: async () => {
    const [{ Hono }, { createAdaptorServer }] = await Promise.all([import('hono'), import('@hono/node-server')])
    const app = new Hono().get('/', (context) => context.text('hello\n'))
    return { server: () => /** @type {import('node:http').Server} */ (createAdaptorServer({ fetch: app.fetch })), handler: app }
  },
  'a Hono hop': async () => {
    const [{ Hono }, { getRequestListener }, { RESPONSE_ALREADY_SENT }] = await Promise.all([
      import('hono'),
      import('@hono/node-server'),
      import('@hono/node-server/utils/response'),
    ])
    const app = new Hono().all('*', ({ env }) => {
      hello(/** @type {any} */ (env).incoming, /** @type {any} */ (env).outgoing)
      return RESPONSE_ALREADY_SENT
    })
    return { server: () => createHttpServer(getRequestListener(app.fetch)), handler: undefined }
  },
  'the least': async () => {
    const { leastListener } = await import('./by-hand.mjs')
    return { server: () => createHttpServer(leastListener()), handler: undefined }
  },
  'a middleware': async () => {
    const { middleware } = await import('./by-hand.mjs')
    return { server: () => createHttpServer(middleware()), handler: undefined }
  },
  Express: async () => {
    const { default: express } = await import('express')
    const app = express().get('/', (_, response) => void response.type('text/plain').send('hello\n'))
    return { server: () => createHttpServer(app), handler: { listener: app } }
  },
}

/** Where the inspector is, if there is one. */
let inspector = ''

/** The filters of the API server, if there is one. @type {readonly string[]} */
let filters = []

/** A fetch handler as the one handler of an API server, behind its filters. @param {any} app @returns {Promise<number>} the port */
async function serveBehindFilters(app) {
  const [{ getRequestListener }, { filtersOf }] = await Promise.all([import('@hono/node-server'), import('./api-server.mjs')])
  const built = await filtersOf(chain, audit)
  filters = built.filters
  built.server.handle('/', getRequestListener(app.fetch))
  const { life } = built.server.prepare()
  await life.start()
  return life.addresses[0]?.port ?? 0
}

/** @returns {Promise<number>} the port */
async function serve() {
  const { server, handler, spoken = {} } = await APPLICATIONS[/** @type {ApplicationName} */ (application)]()
  if (life === 'apiserver') return serveBehindFilters(handler)
  if (life === 'created' || life === 'inspected') {
    const { createServer } = await import('../dist/index.js')
    const created = createServer(handler, { port: 0, host: '127.0.0.1', logger: false, inspector: life === 'inspected', ...spoken })
    created.events$.subscribe((event) => {
      if (event.type === 'listening' && event.admin) inspector = event.url
    })
    await created.start()
    return created.addresses[0]?.port ?? 0
  }
  const own = server()
  await new Promise((resolve) => own.listen(0, '127.0.0.1', () => resolve(undefined)))
  if (life === 'attached') {
    const { attachLifecycle } = await import('../dist/index.js')
    await attachLifecycle(own, { health: true }).start()
  }
  return /** @type {import('node:net').AddressInfo} */ (own.address()).port
}

const port = await serve()
/** @type {NodeJS.CpuUsage} */
let since
process.on('message', ({ what }) => {
  if (what === 'port') process.send?.({ port, inspector })
  if (what === 'filters') process.send?.({ filters })
  if (what === 'begin') {
    globalThis.gc?.()
    since = process.cpuUsage()
    process.send?.({})
  }
  if (what === 'end') {
    const { user, system } = process.cpuUsage(since)
    process.send?.({ cpuMicroseconds: user + system })
  }
})
process.on('disconnect', () => process.exit())
