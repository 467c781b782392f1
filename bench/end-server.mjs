// @ts-check
// One server of the benchmark of ends. It says by IPC where it listens and what its start took, and
// at its exit what the end took. Argument: { "subject": name, "steps": boolean } as JSON.
import { writeSync } from 'node:fs'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { PEERS } from './peers.mjs'

/** How long a request to /slow takes: it is in flight when the signal comes. */
const SLOW_MS = 200

const { subject, steps } = /** @type {{ subject: string, steps: boolean }} */ (JSON.parse(process.argv[2] ?? ''))

/** @param {{ url?: string | undefined }} request @returns {Promise<string>} */
const answer = async ({ url }) => {
  if (url === '/slow') await sleep(SLOW_MS)
  return 'hello\n'
}

/** @typedef {{ cpuMs: number, wallMs: number }} Took */

/** @param {NodeJS.CpuUsage} since */
const cpuMs = (since) => {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1000
}

/** @template T @param {() => Promise<T>} work @returns {Promise<readonly [T, Took]>} */
async function timed(work) {
  const [cpu, begun] = [process.cpuUsage(), performance.now()]
  const result = await work()
  return [result, { cpuMs: cpuMs(cpu), wallMs: performance.now() - begun }]
}

const listening = async () => {
  const server = createServer(async (request, response) => void response.end(await answer(request)))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  return server
}

/** What quiesce is loaded for is not what a start takes. @type {Record<string, () => Promise<{ port: number, start: Took }>>} */
const OURS = {
  'quiesce, attached': async () => {
    const { attachLifecycle } = await import('../dist/index.js')
    const server = await listening()
    const [, start] = await timed(async () => {
      const life = attachLifecycle(server, { logger: false })
      void life.run()
      await life.start()
    })
    return { port: /** @type {import('node:net').AddressInfo} */ (server.address()).port, start }
  },
  'quiesce, created Hono': async () => {
    const [{ Hono }, { createServer: create }] = await Promise.all([import('hono'), import('../dist/index.js')])
    /** @type {import('hono').Hono<{ Bindings: import('@hono/node-server').HttpBindings }>} */
    const app = new Hono()
    app.all('*', async (context) => context.text(await answer(context.env.incoming)))
    const [life, start] = await timed(async () => {
      const life = create(app, { port: 0, host: '127.0.0.1', logger: false })
      void life.run()
      await life.start()
      return life
    })
    return { port: life.addresses[0]?.port ?? 0, start }
  },
  /** The second life of a process, whose end is that of the process. */
  'quiesce, attached, second life': async () => {
    const { attachLifecycle } = await import('../dist/index.js')
    const first = attachLifecycle(await listening(), { logger: false })
    await first.start()
    await first.stop()
    return /** @type {() => Promise<{ port: number, start: Took }>} */ (OURS['quiesce, attached'])()
  },
}

/** Since the process began. @type {number | undefined} */
let cpuAtReady
/** @type {NodeJS.CpuUsage | undefined} */
let cpuAtSignal
let signalledAt = 0
let longestStepMs = 0
let turnedAt = 0
let idleMs = 0

/** A turn of the event loop without the time that it waited for something to do. */
const noteStep = () => {
  const [now, idle] = [performance.now(), performance.nodeTiming.idleTime]
  longestStepMs = Math.max(longestStepMs, now - turnedAt - (idle - idleMs))
  turnedAt = now
  idleMs = idle
}

// Before any of the subjects: their listeners are called after this one.
process.on('SIGTERM', () => {
  if (cpuAtSignal) return
  cpuAtSignal = process.cpuUsage()
  signalledAt = performance.now()
  if (!steps) return
  turnedAt = signalledAt
  idleMs = performance.nodeTiming.idleTime
  const turn = () => {
    noteStep()
    setImmediate(turn).unref()
  }
  setImmediate(turn).unref()
})
process.on('exit', () => {
  const wallMs = performance.now() - signalledAt
  // What ends the process is a step like any other.
  noteStep()
  const total = process.cpuUsage()
  const endMs = cpuAtSignal ? cpuMs(cpuAtSignal) : Number.NaN
  const totalMs = (total.user + total.system) / 1000
  const startMs = cpuAtReady ?? Number.NaN
  writeSync(1, JSON.stringify({ startMs, idleMs: totalMs - startMs - endMs, cpuMs: endMs, totalMs, wallMs, longestStepMs }))
})

const ours = OURS[subject]
const peer = PEERS[/** @type {import('./peers.mjs').Peer} */ (subject)]
const ready = ours ? await ours() : { port: await peer(answer, { delayMs: 0 }) }
cpuAtReady = cpuMs({ user: 0, system: 0 })
process.send?.(ready)
process.disconnect?.()
