// @ts-check
// A server behind a proxy: it answers requests, streams events and echoes WebSocket messages until
// a real SIGTERM. Argument: { "port", "shutdownDelay", "mode", "server", "inner", "pair" } as JSON.
// It says one line on standard output when it listens, and its exit code is its word on how it
// ended.

import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttp2Server, createSecureServer } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocketServer } from 'ws'
import { attachLifecycle, shutdownSignalOf } from '../../dist/index.js'

const EVENT_EVERY_MS = 50
const PATIENCE_MS = 5_000

const { port, shutdownDelay, mode, server: kind, inner, pair } = JSON.parse(process.argv[2] ?? '')

/** Of a server that ends itself. */
const ended = new AbortController()

/** @typedef {import('node:http').Server} Server @typedef {import('node:http').RequestListener} RequestListener */

/** With a pair, TLS, and whichever of both protocols the proxy chooses. @param {RequestListener} listener */
function made(listener) {
  if (inner === 'h2c')
    return /** @type {Server} */ (/** @type {unknown} */ (createHttp2Server().on('request', /** @type {never} */ (listener))))
  if (pair === undefined) return createHttpServer(listener)
  const text = readFileSync(pair)
  const options = { key: text, cert: text, allowHTTP1: true }
  return /** @type {Server} */ (/** @type {unknown} */ (createSecureServer(options).on('request', listener)))
}
const server = made(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
  if (pathname === '/readyz') return response.end('ok')
  if (pathname === '/events') return events(request, response)
  let bytes = 0
  for await (const chunk of request) bytes += chunk.length
  const ms = Number(searchParams.get('ms'))
  if (ms > 0) await sleep(ms)
  response.end(`${searchParams.get('n')} ${bytes}`)
})

/** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
async function events(request, response) {
  const signal = kind === 'quiesce' ? shutdownSignalOf(request) : ended.signal
  response.writeHead(200, { 'Content-Type': 'text/event-stream' })
  let hasLeft = false
  response.on('close', () => (hasLeft = true))
  for (let id = 0; !signal.aborted && !hasLeft; id++) {
    response.write(`id: ${id}\ndata: tick\n\n`)
    await sleep(EVENT_EVERY_MS, undefined, { signal }).catch(() => undefined)
  }
  response.end('event: end\ndata: bye\n\n')
}

const sockets = new WebSocketServer({ server, path: '/ws' })
sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(String(data))))

const listen = () => server.listen(port, '127.0.0.1', () => process.stdout.write('listening\n'))

if (kind === 'server.close()') {
  process.on('SIGTERM', () => {
    ended.abort()
    for (const socket of sockets.clients) socket.close(1001)
    server.close(() => process.exit(0))
    // Connections that are used again and again would keep it for ever.
    setTimeout(() => process.exit(1), PATIENCE_MS)
  })
  listen()
} else {
  const life = attachLifecycle(server, {
    shutdownDelay,
    whileDraining: mode,
    deadline: '20s',
    watchGrace: '2s',
    logger: false,
    health: true,
  })
  listen()
  await life.run()
}
