// How fast the model checker explores: states and edges per second, and memory per state. `npm run bench:model` builds first.
import { assign, setup } from 'xstate'
import { RESERVES_DEFAULT_MS, stopProfile } from '../dist/options/budget.js'
import { explore } from '../dist/testing/model/explore.js'
import { exploreLifecycle } from '../dist/testing/model/lifecycle-model.js'

const MAX = 30

/** A system with counters: requests and watches come and go in child machines, as many as `MAX` of each, beside a phase that moves on. */
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
const input = { profiles, tell: 'gradual', connectionTimeoutMs: 60_000, preShutdownHooks: [], destroyFunctions: [] }

const SYSTEMS = {
  counters: () => explore(counters(), { statesMax: 2_000_000 }),
  'lifecycle, refuse': () => exploreLifecycle({ mode: 'refuse', input }),
  'lifecycle, retry-after': () => exploreLifecycle({ mode: 'retry-after', input }),
}

/** What is still in use. A collection leaves what the last turn of the event loop held, so it takes two. */
async function heapUsed() {
  for (let i = 0; i < 2; i++) {
    await new Promise((resolve) => setImmediate(resolve))
    globalThis.gc?.()
  }
  return process.memoryUsage().heapUsed
}

/** A function of its own, so that nothing of one system is still held when the next begins. */
async function measure(name, run) {
  const heap = await heapUsed()
  const from = process.cpuUsage()
  const { graph, model } = run()
  const seconds = process.cpuUsage(from).user / 1e6
  const bytes = ((await heapUsed()) - heap) / graph.stateCount
  const rate = (count) => `${Math.round(count / seconds).toLocaleString('en')}/s`
  console.log(
    `${name}: ${graph.stateCount} states (${rate(graph.stateCount)}), ${graph.edgeCount} edges (${rate(graph.edgeCount)}), ` +
      `${model.steps.computed} of ${model.steps.taken.length} steps computed by xstate, ${seconds.toFixed(2)} s of CPU, ${Math.round(bytes)} bytes per state`,
  )
}

for (const [name, run] of Object.entries(SYSTEMS)) await measure(name, run)
