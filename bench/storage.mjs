// @ts-check
// What a store costs, without a server in front: the measurement of storage.section.mjs. Engines take turns in one run, each in a process of its own,
// with memory twice: what the two differ by is noise. Where etcd and Go are there, etcd is asked by its engine and by its own client in Go.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EtcdProcess, hasEtcd } from '../test/support/etcd-process.mjs'
import { shuffled } from './in-turns.mjs'
import { summarize } from './statistics.mjs'

/** @typedef {import('./storage-cell.mjs').Cell} Cell */

const LANES = 64
const LISTS = 20
const WATCHES = 10_000
const CHANGES = 20
const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url))

/** A Node that has SQLite. */
const nodeOf = () =>
  isBuiltin('node:sqlite')
    ? process.execPath
    : execFileSync('npx', ['-y', '-p', 'node@24', '--', 'node', '-p', 'process.execPath'], { encoding: 'utf8' }).trim()

/** Etcd's own client; undefined where there is no Go. @param {string} folder */
function goClient(folder) {
  if (spawnSync('go', ['version']).status !== 0) return undefined
  const program = join(folder, 'etcd-client')
  execFileSync('go', ['build', '-o', program, './etcd'], { cwd: here('./upstream'), stdio: ['ignore', 'inherit', 'inherit'] })
  return program
}

/** One etcd for each, as it gets slower with what it has. @param {(endpoint: string) => Cell} measure */
async function withEtcd(measure) {
  const running = await EtcdProcess.start()
  try {
    return measure(running.endpoint)
  } finally {
    await running.dispose()
  }
}

/** @param {{ quick: boolean, say: (line: string) => void }} how @returns {Promise<import('./storage.section.mjs').Result & { versions: Record<string, string> }>} */
export async function measureStores({ quick, say }) {
  const [rounds, count] = quick ? [1, 2_000] : [6, 10_000]
  const folder = mkdtempSync(join(tmpdir(), 'quiesce-bench-'))
  const node = nodeOf()
  const client = hasEtcd ? goClient(folder) : undefined
  if (client === undefined) say(`without ${hasEtcd ? "etcd's client, which takes Go" : 'etcd, which is not on this machine'}`)
  const cell = (/** @type {string} */ engine, /** @type {string} */ at) => {
    const asked = { engine, at, lanes: LANES, count, size: 1_000, lists: LISTS, watches: WATCHES, changes: CHANGES }
    return /** @type {Cell} */ (JSON.parse(execFileSync(node, [here('./storage-cell.mjs'), JSON.stringify(asked)], { encoding: 'utf8' })))
  }
  /** @type {Record<string, Cell[]>} */
  const found = { memory: [], 'memory again': [], file: [] }
  if (hasEtcd) Object.assign(found, { etcd: [], [VALUES]: [] })
  if (client) found[GO] = []
  for (let round = 0; round < rounds; round++) {
    /** @type {Record<string, () => Cell | Promise<Cell>>} */
    const measure = {
      memory: () => cell('memory', ''),
      'memory again': () => cell('memory', ''),
      file: () => cell('file', join(folder, `${round}.db`)),
      etcd: () => withEtcd((endpoint) => cell('etcd', `etcd://${endpoint}/bench`)),
      [VALUES]: () => withEtcd((endpoint) => cell('values', `etcd://${endpoint}/bench`)),
      [GO]: () =>
        withEtcd((endpoint) =>
          JSON.parse(execFileSync(/** @type {string} */ (client), ['-endpoint', endpoint, '-count', String(count)], { encoding: 'utf8' })),
        ),
    }
    for (const name of shuffled(Object.keys(found))) {
      const one = await measure[name]?.()
      if (one) found[name]?.push(one)
    }
    say(`round ${round + 1} of ${rounds}`)
  }
  rmSync(folder, { recursive: true, force: true })
  const ratio = (/** @type {string} */ of, /** @type {string} */ to, /** @type {(cell: Cell) => number} */ value) =>
    summarize((found[of] ?? []).map((one, round) => value(one) / value(/** @type {Cell} */ (found[to]?.[round]))))
  const versionOfNode = execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim()
  return {
    versions: { Node: versionOfNode, ...(hasEtcd && { etcd: etcdVersion() }) },
    rounds,
    objects: count,
    lanes: LANES,
    watches: WATCHES,
    stores: Object.fromEntries(Object.entries(found).map(([name, cells]) => [name, summaryOf(cells)])),
    ratios: {
      'memory again, CPU of a create beside memory': ratio('memory again', 'memory', ({ creates }) => creates.cpuUs),
      ...(client && {
        "etcd, CPU of a put beside etcd's client in Go": ratio(VALUES, GO, ({ creates }) => creates.cpuUs),
        "etcd, puts a second beside etcd's client in Go": ratio(VALUES, GO, ({ creates }) => creates.rate),
      }),
    },
  }
}

const VALUES = 'etcd, values alone'
const GO = "etcd's client in Go"

const etcdVersion = () => /etcd Version: (\S+)/.exec(execFileSync('etcd', ['--version'], { encoding: 'utf8' }))?.[1] ?? 'unknown'

/** @param {readonly Cell[]} cells */
function summaryOf(cells) {
  /** @type {Record<string, (cell: Cell) => number | undefined>} */
  const columns = {
    createRate: ({ creates }) => creates.rate,
    createUs: ({ creates }) => creates.cpuUs,
    stepMs: ({ stepMs }) => stepMs,
    readRate: ({ reads }) => reads.rate,
    readUs: ({ reads }) => reads.cpuUs,
    listMs: ({ list }) => list?.ms,
    listRatio: ({ list }) => list?.ratio,
    watchUs: ({ watches }) => watches?.openedUs,
    eventUs: ({ watches }) => watches?.eventUs,
  }
  return Object.fromEntries(
    Object.entries(columns).flatMap(([name, of]) => {
      const values = cells.map(of).filter((value) => value !== undefined)
      return values.length === 0 ? [] : [[name, summarize(values)]]
    }),
  )
}
