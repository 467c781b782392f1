// @ts-check
// A life for bench/page.mjs to look at: many hooks that start together, many requests in flight.
// Arguments: HOOKS REQUESTS [JOURNAL]. It says where its inspector is, and ends on SIGTERM.
import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer } from '../dist/index.js'

const [hooks = 0, requests = 0] = process.argv.slice(2, 4).map(Number)
const journal = process.argv[4]
const HOOK_MS = 2_000
const REQUEST_MS = 3_000

let release = () => {}
/** @type {Promise<void>} */
const released = new Promise((resolve) => {
  release = resolve
})
const listener = async (
  /** @type {import('node:http').IncomingMessage} */ _,
  /** @type {import('node:http').ServerResponse} */ response,
) => {
  await released
  await sleep(Math.random() * REQUEST_MS)
  response.end('done')
}
const life = createServer(
  { listener },
  {
    port: 0,
    host: '127.0.0.1',
    logger: false,
    platform: 'unknown',
    shutdownDelay: 0,
    deadline: '30s',
    hookTimeout: '10s',
    exit: 'natural',
    inspector: true,
    ...(journal && { journal }),
  },
)
for (let i = 0; i < hooks; i++) life.addPreShutdownHook(`hook-${i}`, () => sleep(HOOK_MS * Math.random()), { after: [] })
life.signal('StopRequested').addEventListener('abort', release)
const ended = life.run()
life.signal('PostStartHooksDone').addEventListener('abort', () => {
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY })
  for (let i = 0; i < requests; i++) get(life.addresses[0]?.url ?? '', { agent }, (response) => response.resume()).on('error', () => {})
})
await ended
process.exit(0)
