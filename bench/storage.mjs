// @ts-check
// `npm run bench:storage`: what a store costs, without a server in front. Creates of objects of 1 KB, 64 at once, each answered when it is durable; the
// longest step of the event loop meanwhile, in CPU of its thread, as other processes take turns with it; reads of one object, 64 at once; a list of
// 10 000; and what one change costs with 10 000 watches of the cache. Engines take turns in one run, with memory twice: what the two differ by is
// noise. CPU is that of the whole process, threads included. Where etcd and Go are there, etcd is asked by this and by its own client in Go.
// On a Node without SQLite it runs itself on one that has it. The result goes to results/storage.json, from which docs/comparison.md is written.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EtcdProcess, hasEtcd } from '../test/support/etcd-process.mjs'
import { median } from './statistics.mjs'

const isQuick = process.argv.includes('quick')
const LANES = 64
const CREATES = isQuick ? 2_000 : 10_000
const READS = CREATES
const ROUNDS = isQuick ? 1 : 5
const LISTS = 20
const WATCHES = 10_000
const CHANGES = 20
const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url))

/** @typedef {import('./storage-cell.mjs').Cell} Cell */

if (isBuiltin('node:sqlite')) await bench()
else {
  const command = ['-y', '-p', 'node@24', 'node', fileURLToPath(import.meta.url), ...process.argv.slice(2)]
  process.exitCode = spawnSync('npx', command, { stdio: 'inherit' }).status ?? 1
}

/** Etcd's own client; undefined where there is no Go. @param {string} folder */
function goClient(folder) {
  if (spawnSync('go', ['version']).status !== 0) return undefined
  const program = join(folder, 'etcd-client')
  execFileSync('go', ['build', '-o', program, './etcd'], { cwd: here('./upstream'), stdio: ['ignore', 'inherit', 'inherit'] })
  return program
}

/** @param {string} engine @param {string} at @returns {Cell} */
function cell(engine, at) {
  const asked = { engine, at, lanes: LANES, count: CREATES, size: 1_000, lists: LISTS, watches: WATCHES, changes: CHANGES }
  return JSON.parse(execFileSync(process.execPath, [here('./storage-cell.mjs'), JSON.stringify(asked)], { encoding: 'utf8' }))
}

async function bench() {
  const folder = mkdtempSync(join(tmpdir(), 'quiesce-bench-'))
  const client = hasEtcd ? goClient(folder) : undefined
  /** @type {Record<string, Cell[]>} */
  const found = {}
  for (let round = 0; round < ROUNDS; round++) {
    // One etcd for each, as it gets slower with what it has.
    const etcd = async (/** @type {(endpoint: string) => Cell} */ measure) => {
      const running = await EtcdProcess.start()
      try {
        return measure(running.endpoint)
      } finally {
        await running.dispose()
      }
    }
    /** @type {Record<string, () => Cell | Promise<Cell>>} */
    const cells = {
      memory: () => cell('memory', ''),
      'memory again': () => cell('memory', ''),
      file: () => cell('file', join(folder, `${round}.db`)),
      ...(hasEtcd && {
        etcd: () => etcd((endpoint) => cell('etcd', `etcd://${endpoint}/bench`)),
        'etcd, values alone': () => etcd((endpoint) => cell('values', `etcd://${endpoint}/bench`)),
      }),
      ...(client && {
        "etcd's client in Go": () =>
          etcd((endpoint) => JSON.parse(execFileSync(client, ['-endpoint', endpoint, '-count', String(READS)], { encoding: 'utf8' }))),
      }),
    }
    for (const [name, measure] of Object.entries(cells)) {
      found[name] ??= []
      found[name].push(await measure())
      process.stderr.write('.')
    }
  }
  rmSync(folder, { recursive: true, force: true })
  print(found)
}

/** @param {Record<string, Cell[]>} found */
function print(found) {
  const of = (/** @type {(number | undefined)[]} */ values, /** @type {number} */ digits = 0) =>
    values.every((value) => value !== undefined) ? median(/** @type {number[]} */ (values)).toFixed(digits) : ''
  console.log(`\nnode ${process.versions.node}, ${CREATES} objects of 1 KB, ${LANES} at once, median of ${ROUNDS}\n`)
  console.log(
    '| store | creates a second | CPU for each, µs | longest step of the event loop, ms | reads a second | CPU for each, µs | list of all, ms | beside writing its bytes | a watch, µs | an event of it, µs |',
  )
  console.log('|---|---|---|---|---|---|---|---|---|---|')
  for (const [name, cells] of Object.entries(found)) {
    const steps = cells.map(({ stepMs }) => stepMs)
    console.log(
      `| ${[
        name,
        of(cells.map(({ creates }) => creates.rate)),
        of(cells.map(({ creates }) => creates.cpuUs)),
        steps[0] === undefined ? '' : `${of(steps, 1)} (${Math.max(.../** @type {number[]} */ (steps)).toFixed(1)} at most)`,
        of(cells.map(({ reads }) => reads.rate)),
        of(cells.map(({ reads }) => reads.cpuUs)),
        of(
          cells.map(({ list }) => list?.ms),
          1,
        ),
        of(
          cells.map(({ list }) => list?.ratio),
          2,
        ),
        of(
          cells.map(({ watches }) => watches?.openedUs),
          1,
        ),
        of(
          cells.map(({ watches }) => watches?.eventUs),
          2,
        ),
      ].join(' | ')} |`,
    )
  }
}
