// @ts-check
// One engine of bench/storage.mjs, in a process of its own, which says what it has measured as JSON.
import { createStore, etcdEngine, fileEngine, memoryEngine, storageOver } from '../packages/apiserver/dist/index.js'

/** @typedef {{ rate: number, cpuUs: number }} Measured */
/**
 * @typedef {object} Cell what is known of an engine
 * @property {Measured} creates
 * @property {Measured} reads
 * @property {number} [stepMs] the longest step of the event loop while it creates, in CPU
 * @property {{ ms: number, ratio: number }} [list] of all, and beside writing its bytes
 * @property {{ openedUs: number, eventUs: number }} [watches] for each
 */
/** @typedef {{ engine: string, at: string, lanes: number, count: number, size: number, lists: number, watches: number, changes: number }} Asked */

const asked = /** @type {Asked} */ (JSON.parse(process.argv[2] ?? '{}'))
const { lanes, count, size, lists, watches, changes, at } = asked

const cpuMs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

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
  return () => {
    isOver = true
    turn()
    return longest
  }
}

/**
 * One thing so many times, in lanes. One that waits for nothing holds no turn of the event loop, as between requests.
 * @param {(at: number) => unknown} one @returns {Promise<Measured>}
 */
async function measure(one) {
  let next = 0
  const lane = async () => {
    while (next < count) {
      await one(next++)
      if (asked.engine === 'memory') await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const [begun, cpu] = [performance.now(), cpuMs()]
  await Promise.all(Array.from({ length: lanes }, lane))
  return { rate: (count / (performance.now() - begun)) * 1_000, cpuUs: ((cpuMs() - cpu) / count) * 1_000 }
}

const engineOf = () => (asked.engine === 'file' ? fileEngine({ path: at }) : asked.engine === 'memory' ? memoryEngine() : etcdEngine(at))

/** Values without a meaning, as etcd's own client in Go puts them. @returns {Promise<Cell>} */
async function values() {
  const store = await engineOf().open({ signal: new AbortController().signal, onCondition: () => {} })
  const value = new Uint8Array(Buffer.from('x'.repeat(size)))
  const key = (/** @type {number} */ of) => `/w-${String(of).padStart(6, '0')}`
  const creates = await measure((of) => store.put({ key: key(of), value, expected: 0 }))
  const reads = await measure((of) => store.get(key(of)))
  await store.close()
  return { creates, reads }
}

/** @returns {Promise<Cell>} */
async function objects() {
  const store = createStore(engineOf())
  const storage = storageOver(store, { group: 'bench.example', plural: 'widgets' })
  while (!(await storage.ready().catch(() => false))) await new Promise((resolve) => setTimeout(resolve, 10))
  const spec = { size: 1, color: 'green', note: 'x'.repeat(size - 200) }
  const key = (/** @type {number} */ of) => ({ namespace: 'default', name: `w-${String(of).padStart(6, '0')}` })
  const object = (/** @type {number} */ of) => ({
    kind: 'Widget',
    apiVersion: 'bench.example/v1',
    metadata: { ...key(of), uid: `uid-${of}`, creationTimestamp: '2026-11-27T00:00:00Z' },
    spec,
  })
  const longestStep = followSteps()
  const creates = await measure((of) => storage.create(object(of)))
  const stepMs = longestStep()
  const reads = await measure((of) => storage.get(key(of)))

  const query = { namespace: '', matches: () => true, limit: undefined, at: undefined, start: '' }
  let bytes = ''
  const listing = cpuMs()
  for (let of = 0; of < lists; of++) bytes = JSON.stringify((await storage.list(query)).items)
  const listed = (cpuMs() - listing) / lists
  const { items, resourceVersion } = await storage.list(query)
  const writing = cpuMs()
  for (let of = 0; of < lists; of++) bytes = JSON.stringify(items)
  const written = (cpuMs() - writing) / lists
  if (bytes.length < count) throw new Error('nothing was listed')

  const opening = cpuMs()
  let told = 0
  /** @type {() => void} */
  let allTold = () => {}
  const listener = () => void (++told % watches === 0 && allTold())
  for (let of = 0; of < watches; of++) await storage.watch(resourceVersion, listener, () => {})
  const opened = cpuMs() - opening
  const changing = cpuMs()
  for (let of = 0; of < changes; of++) {
    const told = new Promise((resolve) => (allTold = () => resolve(undefined)))
    await storage.create({ ...object(of), metadata: { ...object(of).metadata, name: `more-${of}` } })
    await told
  }
  const changed = cpuMs() - changing
  if (told !== watches * changes) throw new Error(`${told} events were told of ${watches * changes}`)
  await store.close()
  return {
    creates,
    reads,
    stepMs,
    list: { ms: listed, ratio: listed / written },
    watches: { openedUs: (opened / watches) * 1_000, eventUs: (changed / changes / watches) * 1_000 },
  }
}

console.log(JSON.stringify(await (asked.engine === 'values' ? values() : objects())))
