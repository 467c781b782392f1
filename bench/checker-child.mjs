// Explores one system in a process of its own, and says what it took as one line of JSON: what one
// system leaves behind would be counted to the next, and what V8 has learnt would help it.
//
//   node --expose-gc bench/checker-child.mjs counters
//   node --expose-gc bench/checker-child.mjs one-machine
//   node --expose-gc bench/checker-child.mjs one-machine-xstate
//   node --expose-gc bench/checker-child.mjs post-start 2 [FILE.pml] [--check]
import { writeFileSync } from 'node:fs'
import { assign, sendTo, setup } from 'xstate'
import { getAdjacencyMap } from 'xstate/graph'
import { storeMachine } from '../build/packages/apiserver/src/store/store-machine.js'
import { explore, promela } from '../build/packages/model/src/index.js'
import { createServer } from '../build/src/index.js'
import { exploreLifecycle, invariantsOf, planOf, verdictsOf } from '../build/src/model/life/lifecycle-model.js'
import { withRepresentatives } from '../build/src/model/life/representatives.js'
import { STORE } from '../scripts/mutation/beside-checks.mjs'

const MAX = 30

/** Three groups whose members come and go, as many as `MAX` of each. */
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
  const states = Object.fromEntries(['requests', 'watches', 'listeners'].map((id) => [id, { invoke: { id, src: 'group' } }]))
  return { machine: setup({ actors: { group } }).createMachine({ id: 'counters', type: 'parallel', states }) }
}

const COUNTED_MAX = 20

/** The same in one machine, with events instead of timers: what xstate's graph module can explore, too. */
function oneMachine() {
  const groups = ['requests', 'watches', 'listeners']
  const context = Object.fromEntries(groups.map((group) => [group, 0]))
  const changed = (group, by) => assign({ [group]: ({ context }) => context[group] + by })
  const more = (group) => ({ guard: ({ context }) => context[group] < COUNTED_MAX, target: 'closing', actions: changed(group, 1) })
  const less = (group) => ({ guard: ({ context }) => context[group] > 0, target: 'closing', actions: changed(group, -1) })
  const open = (group) => ({ on: { [`${group}.more`]: more(group), [`${group}.less`]: less(group) } })
  const states = (group) => ({ open: open(group), closing: { on: { [`${group}.closed`]: 'open' } } })
  const regions = Object.fromEntries(groups.map((group) => [group, { initial: 'open', states: states(group) }]))
  const machine = setup({}).createMachine({ id: 'counted', context, type: 'parallel', states: regions })
  const events = groups.flatMap((group) => ['more', 'less', 'closed'].map((change) => ({ type: `${group}.${change}` })))
  return { machine, options: { events } }
}

/** What xstate finds, in the form of an exploration. */
function adjacency({ machine, options: { events } }) {
  const states = Object.values(getAdjacencyMap(machine, { events }))
  return { kept: states, graph: { stateCount: states.length, edgeCount: states.length * events.length } }
}

/** What becomes of a store that is open. */
const CHANGES = ['recovered', 'degraded', 'lost']

/** Stores of an API server side by side, which are opened and closed together, and lost one by one. */
function stores(count) {
  const names = Array.from({ length: count }, (_, i) => `store-${i}`)
  const told = (to, type) => ({ actions: to.map((name) => sendTo(name, { type })) })
  const changes = names.flatMap((name) => CHANGES.map((type) => [`${name} ${type}`, told([name], type)]))
  const on = { open: told(names, 'open'), close: told(names, 'close'), ...Object.fromEntries(changes) }
  const machine = setup({ actors: { store: storeMachine } }).createMachine({
    id: 'stores',
    type: 'parallel',
    on,
    states: Object.fromEntries(names.map((id) => [id, { invoke: { id, src: 'store' } }])),
  })
  const events = Object.keys(on).map((type) => ({ type }))
  return { machine, options: { events, children: STORE.options.children } }
}

/** What a life may have more of. */
const ADDS = {
  'post-start': (server, name) => server.addPostStartHook(name, () => {}),
  'pre-shutdown': (server, name) => server.addPreShutdownHook(name, () => {}),
  'pre-shutdown, side by side': (server, name) => server.addPreShutdownHook(name, () => {}, { after: [] }),
  destroy: (server, name) => server.addDestroy(name, () => {}),
  mux: (server, name) => server.addMuxCompleteSignal(name, new Promise(() => {})),
  phase: (server, name) => server.addPhase(name, () => {}, { after: ['RequestsDrained'], before: ['destroy'] }),
}

function lifeWith(what, count) {
  const server = createServer({ listener: () => {} }, { logger: false, platform: 'kubernetes' })
  for (let i = 0; i < count && ADDS[what]; i++) ADDS[what](server, `n${i}`)
  return withRepresentatives(planOf(server, 'refuse'))
}

const [what, count, file] = process.argv.slice(2).filter((argument) => argument !== '--check')
const isChecked = process.argv.includes('--check')
/** What is made before the measurement; what is none of these is a life. */
const system = { counters, stores, 'one-machine': oneMachine, 'one-machine-xstate': oneMachine }[what]?.(Number(count))
const plan = system ? undefined : lifeWith(what, Number(count))
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
const heap = await heapUsed()
const [from, start] = [process.cpuUsage(), performance.now()]
const exploration =
  what === 'one-machine-xstate'
    ? adjacency(system)
    : system
      ? explore(system.machine, { ...system.options, statesMax: 2_000_000 })
      : exploreLifecycle(plan)
const seconds = (performance.now() - start) / 1e3
const cpu = process.cpuUsage(from).user / 1e6
const bytes = (await heapUsed()) - heap
if (file !== undefined) writeFileSync(file, promela(exploration))
const { stateCount: states, edgeCount: edges } = exploration.graph
/** Every property of a life is checked, as `quiesce check` does. */
function checkedCpu() {
  const before = process.cpuUsage()
  const wrong = verdictsOf(exploration, invariantsOf(plan), ['start', 'stop']).filter(({ holds }) => !holds)
  if (wrong.length > 0) throw new Error(`does not hold: ${wrong.map(({ id }) => id).join(', ')}`)
  return process.cpuUsage(before).user / 1e6
}
process.stdout.write(JSON.stringify({ states, edges, cpu, seconds, bytes, ...(isChecked && plan && { checkedCpu: checkedCpu() }) }))
