// How fast the model checker explores, and what a state takes in memory. `npm run bench:model`
// builds first.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { assign, setup } from 'xstate'
import { explore } from '../build/packages/model/src/index.js'
import { RESERVES_DEFAULT_MS } from '../build/src/base/stop-profile.js'
import { exploreLifecycle } from '../build/src/model/life/lifecycle-model.js'
import { stopProfile } from '../build/src/options/budget.js'

/** Of each system; the best counts, because everything else only adds to it. */
const RUNS = 5
const MAX = 30

/**
 * A system with counters: requests and watches come and go in child machines, as many as `MAX` of
 * each, beside a phase that moves on.
 */
function counters() {
  const group = setup({
    guards: { room: ({ context }) => context.open < MAX, some: ({ context }) => context.open > 0 },
    actions: {
      more: assign({ open: ({ context }) => context.open + 1 }),
      less: assign({ open: ({ context }) => context.open - 1 }),
    },
  }).createMachine({
    id: 'group',
    context: { open: 0 },
    initial: 'open',
    states: {
      open: {
        after: { 10: { guard: 'room', target: 'closing', actions: 'more' }, 20: { guard: 'some', target: 'closing', actions: 'less' } },
      },
      closing: { after: { 1: 'open' } },
    },
  })
  return setup({ actors: { group } }).createMachine({
    id: 'counters',
    type: 'parallel',
    states: {
      requests: { invoke: { id: 'requests', src: 'group' } },
      watches: { invoke: { id: 'watches', src: 'group' } },
      listeners: { invoke: { id: 'listeners', src: 'group' } },
    },
  })
}

const profile = (delayMs, deadlineMs) => stopProfile({ delayMs, deadlineMs, watchGraceMs: deadlineMs / 3, reserves: RESERVES_DEFAULT_MS })
const profiles = {
  default: profile(5_000, 25_000),
  interactive: profile(0, 2_000),
  crash: profile(0, 5_000),
  startFailed: profile(0, 25_000),
}
const input = { profiles, notifyClients: 'gradual', connectionTimeoutMs: 60_000, preShutdownHooks: [], destroyFunctions: [] }

const SYSTEMS = {
  counters: () => explore(counters(), { statesMax: 2_000_000 }),
  'lifecycle, refuse': () => exploreLifecycle({ mode: 'refuse', input }),
  'lifecycle, retry-after': () => exploreLifecycle({ mode: 'retry-after', input }),
}

/** Two collections may find less than three; what stays the same is what is in use. */
async function heapUsed() {
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    await new Promise((resolve) => setImmediate(resolve))
    globalThis.gc?.()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    const now = heapUsed + arrayBuffers
    if (now >= before - 1024) return now
    before = now
  }
}

/**
 * In a process of its own: what one system leaves behind would be counted to the next, and what V8
 * has learnt would help it.
 */
async function measure(run) {
  const heap = await heapUsed()
  const found = await exploring(run)
  // Code, and what xstate keeps of machines: no part of any state.
  const left = (await heapUsed()) - heap
  return { ...found, bytes: found.heap - heap - left, left }
}

/** A function of its own, so that what was explored is let go when it returns. */
async function exploring(run) {
  const from = process.cpuUsage()
  const start = performance.now()
  const { graph, model } = run()
  const seconds = (performance.now() - start) / 1e3
  const cpu = process.cpuUsage(from).user / 1e6
  const heap = await heapUsed()
  return {
    cpu,
    seconds,
    heap,
    states: graph.stateCount,
    edges: graph.edgeCount,
    steps: model.steps.taken.length,
    computed: model.steps.computed,
  }
}

const best = (results) => results.reduce((one, other) => (other.cpu < one.cpu ? other : one))
const count = (value) => Math.round(value).toLocaleString('en')

const [only] = process.argv.slice(2)
if (only) process.stdout.write(JSON.stringify(await measure(SYSTEMS[only])))
else {
  console.log(`the best of ${RUNS} processes each, node ${process.versions.node}`)
  for (const name of Object.keys(SYSTEMS)) {
    const again = () =>
      JSON.parse(execFileSync(process.execPath, ['--expose-gc', fileURLToPath(import.meta.url), name], { encoding: 'utf8' }))
    const { states, edges, steps, computed, cpu, seconds, bytes, left } = best(Array.from({ length: RUNS }, again))
    console.log(
      `${name}: ${count(states)} states, ${count(edges)} edges, ${cpu.toFixed(2)} s of CPU (${count(states / cpu)} states/s), ${seconds.toFixed(2)} s, ` +
        `${computed} of ${count(steps)} steps computed by xstate, ${count(bytes / states)} bytes per state, ${count(left / 1024)} KiB of code and machines`,
    )
  }
}
