// @ts-check
// One server of the section "serving": the same listener of node, alone or with something that
// tracks its requests. It says where it listens and what processor time it has used.
// Argument: { "subject", "isEncrypted" } as JSON.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createEncrypted } from 'node:https'

const { subject, isEncrypted } = /** @type {{ subject: string, isEncrypted: boolean }} */ (JSON.parse(process.argv[2] ?? ''))
const GRACE_MS = 4000
const CHUNK = Buffer.alloc(64 * 1024, 'x')
const CHUNKS = 16
/**
 * Some 7 MB that stay, as every application has them. Below 8 MB V8 does not collect a whole heap
 * because of what lies outside of it, such as the chunks of an upload. Node alone is below, node
 * with quiesce is not, and uploads would seem to cost half as much again because of quiesce.
 */
Reflect.set(
  globalThis,
  'held',
  Array.from({ length: 60_000 }, (_, id) => ({ id, name: `item ${id}`, tags: [id] })),
)

/** 1 MiB in chunks, as fast as its client reads. @param {import('node:http').ServerResponse} response */
async function stream(response) {
  response.writeHead(200, { 'Content-Type': 'application/octet-stream' })
  for (let sent = 0; sent < CHUNKS; sent++) if (!response.write(CHUNK)) await once(response, 'drain')
  response.end()
}

/** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
function listener(request, response) {
  if (request.url === '/stream') void stream(response)
  else request.resume().on('end', () => response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': 6 }).end('hello\n'))
}

/** @typedef {import('node:http').Server} Server */

/** As their documentation says; only what is used is loaded. @type {Record<string, (server: Server) => unknown>} */
const SUBJECTS = {
  'node alone': () => {},
  'quiesce, attached': async (server) => {
    const { attachLifecycle } = await import('../dist/index.js')
    await attachLifecycle(server, { health: true, logger: false }).start()
  },
  stoppable: async (server) => (await import('stoppable')).default(server, GRACE_MS),
  '@godaddy/terminus': async (server) =>
    (await import('@godaddy/terminus')).createTerminus(server, {
      signal: 'SIGTERM',
      timeout: GRACE_MS,
      healthChecks: { '/healthz': async () => {} },
    }),
  'http-graceful-shutdown': async (server) =>
    (await import('http-graceful-shutdown')).default(server, { signals: 'SIGTERM', timeout: GRACE_MS }),
}

async function newPair() {
  const { selfSigned } = await import('../build/src/tls/self-signed.js')
  return selfSigned(['localhost'], Date.now())
}

const server = isEncrypted ? createEncrypted(await newPair(), listener) : createServer(listener)
// Connections stay between two measurements.
server.keepAliveTimeout = 120_000
await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
const attach = SUBJECTS[subject]
if (!attach) throw new Error(`subject: got ${subject}, allowed: ${Object.keys(SUBJECTS).join(', ')}`)
await attach(server)

/** @type {NodeJS.CpuUsage} */
let since
process.on('message', (/** @type {{ what: string }} */ { what }) => {
  if (what === 'port') process.send?.({ port: /** @type {import('node:net').AddressInfo} */ (server.address()).port })
  if (what === 'begin') {
    since = process.cpuUsage()
    process.send?.({})
  }
  if (what === 'end') {
    const { user, system } = process.cpuUsage(since)
    process.send?.({ cpuUs: user + system })
  }
})
process.on('disconnect', () => process.exit())
