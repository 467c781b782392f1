// @ts-check
// What a store costs: `npm run bench:storage`. Creates of objects of 1 KB, 64 at once, each answered when it is durable; the longest step of the
// event loop meanwhile, in CPU of its thread, as other processes take turns with it; and a list of 10 000. Engines take turns in one run; CPU is that
// of the whole process, threads included. On a Node without SQLite it runs itself on one that has it.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const LANES = 64
const CREATES = 10_000
const ROUNDS = 3
const LISTS = 20

if (isBuiltin('node:sqlite')) await bench()
else process.exitCode = spawnSync('npx', ['-y', '-p', 'node@24', 'node', fileURLToPath(import.meta.url)], { stdio: 'inherit' }).status ?? 1

/** Follows the turns of the event loop, by the CPU that its thread has used. */
function followSteps() {
  const used = () => {
    // Of a Node that has it, which the types of the oldest one do not know.
    const { user, system } = /** @type {{ threadCpuUsage(): NodeJS.CpuUsage }} */ (/** @type {unknown} */ (process)).threadCpuUsage()
    return (user + system) / 1_000
  }
  let [longest, last, isOver] = [0, used(), false]
  const turn = () => {
    const now = used()
    longest = Math.max(longest, now - last)
    last = now
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  return {
    longestMs: () => {
      isOver = true
      turn()
      return longest
    },
  }
}

async function bench() {
  const { createStore, fileEngine, memoryEngine, storageOver } = await import('../packages/apiserver/dist/index.js')
  const folder = mkdtempSync(join(tmpdir(), 'quiesce-bench-'))
  /** @type {Record<string, (round: number) => import('../packages/apiserver/dist/index.js').StoreEngine>} */
  const engines = { memory: () => memoryEngine(), file: (round) => fileEngine({ path: join(folder, `${round}.db`) }) }
  const spec = { size: 1, color: 'green', note: 'x'.repeat(800) }
  const object = (/** @type {number} */ at) => ({
    kind: 'Widget',
    apiVersion: 'bench.example/v1',
    metadata: {
      name: `w-${String(at).padStart(6, '0')}`,
      namespace: 'default',
      uid: `uid-${at}`,
      creationTimestamp: '2026-11-27T00:00:00Z',
    },
    spec,
  })
  const cpuMs = () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000
  }
  /** @type {Record<string, { rate: number[], cpuUs: number[], stepMs: number[], listMs: number[], ratio: number[] }>} */
  const found = {}
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, engine] of Object.entries(engines)) {
      const results = found[name] ?? { rate: [], cpuUs: [], stepMs: [], listMs: [], ratio: [] }
      found[name] = results
      const store = createStore(engine(round))
      const storage = storageOver(store, { group: 'bench.example', plural: 'widgets' })
      while (!(await storage.ready().catch(() => false))) await new Promise((resolve) => setTimeout(resolve, 10))
      let next = 0
      const lane = async () => {
        while (next < CREATES) {
          await storage.create(object(next++))
          // As between requests: one that waits for nothing holds no turn of the event loop.
          if (name === 'memory' && next % LANES === 0) await new Promise((resolve) => setImmediate(resolve))
        }
      }
      const steps = followSteps()
      const [begun, cpu] = [performance.now(), cpuMs()]
      await Promise.all(Array.from({ length: LANES }, lane))
      results.rate.push((CREATES / (performance.now() - begun)) * 1_000)
      results.cpuUs.push(((cpuMs() - cpu) / CREATES) * 1_000)
      results.stepMs.push(steps.longestMs())
      let bytes = ''
      const query = { namespace: '', matches: () => true, limit: undefined, at: undefined, start: '' }
      const listing = cpuMs()
      for (let at = 0; at < LISTS; at++) bytes = JSON.stringify((await storage.list(query)).items)
      const listed = (cpuMs() - listing) / LISTS
      const { items } = await storage.list(query)
      const writing = cpuMs()
      for (let at = 0; at < LISTS; at++) bytes = JSON.stringify(items)
      const written = (cpuMs() - writing) / LISTS
      if (bytes.length < CREATES) throw new Error('nothing was listed')
      results.listMs.push(listed)
      results.ratio.push(listed / written)
      await store.close()
    }
  rmSync(folder, { recursive: true, force: true })
  const median = (/** @type {number[]} */ all) => [...all].sort((a, b) => a - b)[all.length >> 1] ?? 0
  console.log(`node ${process.versions.node}, ${CREATES} creates of 1 KB, ${LANES} at once, median of ${ROUNDS}\n`)
  console.log('| engine | creates a second | CPU for each | longest step of the event loop | list of 10 000 | beside writing its bytes |')
  console.log('|---|---|---|---|---|---|')
  for (const [name, { rate, cpuUs, stepMs, listMs, ratio }] of Object.entries(found))
    console.log(
      `| ${name} | ${median(rate).toFixed(0)} | ${median(cpuUs).toFixed(0)} µs | ${median(stepMs).toFixed(1)} ms (${Math.max(...stepMs).toFixed(1)} at most) | ${median(listMs).toFixed(1)} ms | ${median(ratio).toFixed(2)} |`,
    )
}
