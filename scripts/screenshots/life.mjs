// @ts-check
// A life with something of everything in it, for the pictures of the inspector: a check that is
// ready late, hooks of which one fails, slow requests, one that hangs, watches, a phase of its own.
// Arguments: MODE JOURNAL.
import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer, shutdownSignalOf } from '../../dist/index.js'

const [whileDraining, journal] = process.argv.slice(2)
const SERVING_MS = 3_000
const CLIENT_MS = 40

/** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
async function listener(request, response) {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  if (pathname === '/watch') {
    response.write('begun\n')
    shutdownSignalOf(request).addEventListener('abort', () => setTimeout(() => response.end('ended\n'), 400))
    return
  }
  if (pathname === '/hang') await new Promise(() => {})
  await sleep(Number(searchParams.get('ms') ?? 0))
  response.end('done')
}

let isUp = false
const life = createServer(
  { listener },
  {
    host: '127.0.0.1',
    port: 0,
    logger: false,
    platform: 'unknown',
    exit: 'natural',
    shutdownDelay: '2s',
    deadline: '12s',
    hookTimeout: '3s',
    longRunning: ({ url = '' }) => url.startsWith('/watch'),
    ...(whileDraining === 'retry-after' && { whileDraining }),
    ...(journal !== undefined && { journal }),
  },
)
life.addReadyzCheck('database', () => isUp)
life.addPostStartHook('warm-caches', () => sleep(300))
life.addPreShutdownHook('leave-consul', async () => {
  await sleep(900)
  throw new Error('consul-1 did not answer: 503')
})
life.addPreShutdownHook('flush-metrics', () => sleep(400), { after: [] })
life.addPhase('flush-queue', () => sleep(500), { after: ['RequestsDrained'] })
life.addDestroy('pool', () => sleep(200))

const ended = life.run()
life.signal('PostStartHooksDone').addEventListener('abort', () => void load(life.addresses[0]?.url ?? ''))
await ended
process.exit(0)

/** @param {string} url */
async function load(url) {
  const agent = new Agent({ keepAlive: true })
  const ask = (/** @type {string} */ path) =>
    new Promise((resolve) => {
      get(url + path, { agent }, (response) => response.resume().once('close', resolve)).once('error', resolve)
    })
  await ask('/readyz')
  await sleep(500)
  isUp = true
  await ask('/readyz')
  for (const ms of [3_000, 4_500, 6_000, 7_000]) void ask(`/slow?ms=${ms}`)
  void ask('/hang')
  for (let watch = 0; watch < 3; watch++) void ask('/watch')
  setTimeout(() => process.kill(process.pid, 'SIGTERM'), SERVING_MS)
  for (;;) {
    await ask('/echo')
    await sleep(CLIENT_MS)
  }
}
