// One of the two servers of a loss run, on dist/ and ended by a real SIGTERM. Over IPC it says where it listens and which connections it
// accepted, by the client's port: only the server can know which ones were reset before it ever saw them.
// Argument: { "server", "seed", "delayMs", "whileDraining" } as JSON.
import { subscribe } from 'node:diagnostics_channel'
import { createServer as createHttpServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemHost } from '../../dist/actors/host.js'
import { attachLifecycleOn } from '../../dist/attach.js'
import { createServerOn } from '../../dist/create-server.js'
import { generator } from '../support/random.mjs'

const { server: kind, seed, delayMs, whileDraining } = JSON.parse(process.argv[2])
subscribe('net.server.socket', ({ socket }) => process.send({ accepted: socket.remotePort }))

/** What quiesce leaves to chance, the choice of connections that are told early, is the seed's. */
const host = { ...systemHost, random: generator(seed) }

/** `/echo?n=7&ms=3` answers 7 after 3 ms, and a body by its length. */
async function answer(request) {
  const { searchParams } = new URL(request.url, 'http://localhost')
  let bytes = 0
  for await (const chunk of request) bytes += chunk.length
  const ms = Number(searchParams.get('ms'))
  if (ms > 0) await sleep(ms)
  return `${searchParams.get('n')} ${bytes}`
}

const listener = async (request, response) => response.end(await answer(request))
const options = { shutdownDelay: delayMs, deadline: '20s', whileDraining, logger: false, reportFile: process.env.REPORT_FILE }

function listen(server) {
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
  return server
}

const SERVERS = {
  /** Waits as long as quiesce does and then closes, as most servers in use do. */
  bare() {
    const server = listen(createHttpServer({ keepAliveTimeout: 75_000 }, listener))
    process.once('SIGTERM', async () => {
      await sleep(delayMs)
      server.close(() => process.disconnect())
    })
  },

  'attached to node:http': () => attachLifecycleOn(host, listen(createHttpServer({ keepAliveTimeout: 75_000 }, listener)), options).run(),

  async 'attached to Express'() {
    const { default: express } = await import('express')
    const app = express().use(async (request, response) => void response.send(await answer(request)))
    return attachLifecycleOn(host, listen(createHttpServer({ keepAliveTimeout: 75_000 }, app)), options).run()
  },

  async 'created for Hono'() {
    const { Hono } = await import('hono')
    const app = new Hono().all('/echo', async (context) => context.text(await answer(context.env.incoming)))
    const life = createServerOn(host, app, { ...options, host: '127.0.0.1', port: 0 })
    life.events$.subscribe((event) => event.type === 'listening' && process.send({ port: event.port }))
    return life.run()
  },
}

await SERVERS[kind]()
if (kind !== 'bare') process.disconnect()
