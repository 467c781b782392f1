// @ts-check
// A life with many of one thing, for the pictures of the inspector: 5000 event streams that a hook
// keeps waiting, or 100 hooks of which the 27th hangs. Arguments: watches|hooks JOURNAL.
import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer, shutdownSignalOf } from '../../dist/index.js'

const [many, journal] = process.argv.slice(2)
const WATCHES = many === 'watches' ? 5_000 : 6
const HOOKS = many === 'hooks' ? 100 : 2
const HANGING = many === 'hooks' ? 26 : 1
const SLOW = 6
const OPENED_AT_ONCE = 100

/** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
async function listener(request, response) {
  if (request.url === '/slow') {
    await sleep(4_000)
    response.end('done')
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write('data: begun\n\n')
  shutdownSignalOf(request).addEventListener('abort', () => setTimeout(() => response.end('data: ended\n\n'), 300))
}

const life = createServer(
  { listener },
  {
    host: '127.0.0.1',
    port: 0,
    logger: false,
    platform: 'unknown',
    exit: 'natural',
    shutdownDelay: '1s',
    deadline: '15s',
    hookTimeout: '12s',
    ...(journal !== undefined && { journal }),
  },
)
for (let hook = 0; hook < HOOKS; hook++)
  life.addPreShutdownHook(`leave-service-${hook}`, () => (hook === HANGING ? new Promise(() => {}) : sleep(20)))
const ended = life.run()
life.signal('PostStartHooksDone').addEventListener('abort', () => void load(life.addresses[0]?.url ?? ''))
await ended
process.exit(0)

/** @param {string} url */
async function load(url) {
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY })
  const open = (/** @type {string} */ path) =>
    new Promise((resolve) => {
      get(url + path, { agent }, (response) => resolve(response.resume().on('error', () => {}))).on('error', resolve)
    })
  for (let watch = 0; watch < WATCHES; watch += OPENED_AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(OPENED_AT_ONCE, WATCHES - watch) }, (_, i) => open(`/events/${watch + i}`)))
  for (let slow = 0; slow < SLOW; slow++) void open('/slow')
  await sleep(1_000)
  process.kill(process.pid, 'SIGTERM')
}
