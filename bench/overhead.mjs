// @ts-check
// `npm run bench:overhead`: what a life costs, per request and per process. Everything is compared with its bare twin in the same run, in
// turns, and the twin with a second copy of itself: what those two differ by is the noise. docs/performance.md explains the numbers.
// `-- --rounds 100` for narrower intervals, `-- --only Hono` or `imports` for a part; exit code 1 when a target is certainly missed.
import { spawnSync } from 'node:child_process'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Child } from './child.mjs'
import { median, summarize } from './statistics.mjs'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '40' }, requests: { type: 'string', default: '1500' }, only: { type: 'string' } },
})
const rounds = Number(values.rounds)
const requests = Number(values.requests)
const CONNECTIONS = 16
const ROUNDS_PER_PROCESS = 10
const WARM_UP_REQUESTS = 8000
const THROUGHPUT_MIN = 0.95
const IMPORT_MAX = 1.8

const APPLICATIONS = ['node:http', 'Hono', 'Express']
/** `bare` and `again` are the same. */
const LIVES = ['bare', 'again', 'attached', 'created']

/** @param {readonly string[]} header @param {readonly (readonly string[])[]} rows */
function table(header, rows) {
  const widths = header.map((title, column) => Math.max(...[header, ...rows].map((row) => (row[column] ?? '').length), title.length))
  const line = (/** @type {readonly string[]} */ row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  console.log([line(header), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...rows.map(line), ''].join('\n'))
}

/** @param {number} value */
const ratio = (value) => value.toFixed(3)
/** @param {readonly [number, number]} range */
const range = ([low, high]) => `${ratio(low)} to ${ratio(high)}`

/** @template T @param {readonly T[]} items @returns {T[]} in another order each time */
const shuffled = (items) =>
  items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)

let missed = 0
/** @param {boolean} isMissed the whole interval is on the wrong side @param {boolean} isMet the whole interval is on the right side */
function judge(isMissed, isMet) {
  if (isMissed) missed++
  return isMissed ? 'missed' : isMet ? 'met' : 'undecided'
}

// --- per request -----------------------------------------------------------------------------------------------------------------------

/**
 * @typedef {object} Measured
 * @property {number[]} cpu microseconds per request, by round
 * @property {number[]} perSecond requests per second, by round
 */

/** @param {string} application @returns {Promise<readonly Measured[]>} in the order of LIVES */
async function measure(application) {
  const measured = LIVES.map(() => /** @type {Measured} */ ({ cpu: [], perSecond: [] }))
  for (let round = 0; round < rounds; ) {
    // Where memory lies and when code is compiled is luck that a process keeps: after some rounds there are new ones.
    const load = new Child('load.mjs', {}, 1)
    const servers = LIVES.map((life) => new Child('server.mjs', { application, life: life === 'again' ? 'bare' : life }, 0))
    const ports = await Promise.all(servers.map(async (server) => (await server.ask({ what: 'port' })).port))
    for (const port of ports) await load.ask({ port, connections: CONNECTIONS, requests: WARM_UP_REQUESTS })
    for (const end = Math.min(rounds, round + ROUNDS_PER_PROCESS); round < end; round++) {
      for (const [index, server] of shuffled([...servers.entries()])) {
        await server.ask({ what: 'begin' })
        const { seconds } = await load.ask({ port: ports[index], connections: CONNECTIONS, requests })
        const { cpuMicroseconds } = await server.ask({ what: 'end' })
        measured[index]?.cpu.push(cpuMicroseconds / requests)
        measured[index]?.perSecond.push(requests / seconds)
      }
    }
    for (const child of [...servers, load]) child.end()
  }
  return measured
}

/** @param {string} application */
async function perRequest(application) {
  const measured = await measure(application)
  const [bare, again] = measured
  return measured.map(({ cpu, perSecond }, index) => {
    const life = LIVES[index] ?? ''
    const shown = [
      application,
      life === 'again' ? 'bare, a second one (A/A)' : life,
      median(cpu).toFixed(2),
      Math.round(median(perSecond)).toString(),
    ]
    if (life === 'bare') return [...shown, '1', '', '', '']
    // A request that costs more processor time leaves room for fewer: throughput is the inverse.
    const base = (/** @type {number} */ round) =>
      life === 'again' ? (bare?.cpu[round] ?? Number.NaN) : mean(bare?.cpu[round], again?.cpu[round])
    const { median: middle, quartiles, interval } = summarize(cpu.map((microseconds, round) => base(round) / microseconds))
    const [low, high] = interval
    const verdict = life === 'again' ? '' : judge(high < THROUGHPUT_MIN, low >= THROUGHPUT_MIN)
    return [...shown, ratio(middle), range(quartiles), range(interval), verdict]
  })
}

/** @param {number | undefined} a @param {number | undefined} b */
const mean = (a = Number.NaN, b = Number.NaN) => (a + b) / 2

// --- per process -----------------------------------------------------------------------------------------------------------------------

const IMPORTS = [
  'nothing',
  'bare Hono',
  'bare Hono, again',
  'attachLifecycle',
  'attachLifecycle, attached and started',
  'hono',
  'xstate',
  'Express',
]

/** @typedef {{ ms: number, cpuMs: number, rss: number, heapUsed: number }} Cost */

function perProcess() {
  const file = fileURLToPath(new URL('import-cost.mjs', import.meta.url))
  const costs = new Map(IMPORTS.map((name) => [name, /** @type {Cost[]} */ ([])]))
  for (let round = -1; round < rounds; round++) {
    for (const name of shuffled(IMPORTS)) {
      const { stdout, status } = spawnSync(process.execPath, ['--expose-gc', file, name.replace(', again', '')], { encoding: 'utf8' })
      if (status !== 0) throw new Error(`importing ${name} failed`)
      // The first round is the disk's.
      if (round >= 0) costs.get(name)?.push(JSON.parse(stdout))
    }
  }
  const of = (/** @type {string} */ name) => costs.get(name) ?? []
  const nothing = of('nothing')
  const mebibytes = (/** @type {readonly number[]} */ bytes) => (median(bytes) / 2 ** 20).toFixed(1)
  return IMPORTS.map((name) => {
    const own = of(name)
    const summary = summarize(own.map(({ ms }, round) => ms / (of('bare Hono')[round]?.ms ?? Number.NaN)))
    const [low, high] = summary.interval
    return [
      name,
      median(own.map(({ ms }) => ms)).toFixed(1),
      median(own.map(({ cpuMs }) => cpuMs)).toFixed(1),
      mebibytes(own.map(({ rss }, round) => rss - (nothing[round]?.rss ?? 0))),
      mebibytes(own.map(({ heapUsed }, round) => heapUsed - (nothing[round]?.heapUsed ?? 0))),
      ...(name === 'nothing' || name === 'bare Hono'
        ? ['', '', '']
        : [ratio(summary.median), range(summary.quartiles), range(summary.interval)]),
      name === 'attachLifecycle' ? judge(low > IMPORT_MAX, high <= IMPORT_MAX) : '',
    ]
  })
}

const [cpu] = cpus()
console.log(
  `node ${process.versions.node}, ${process.platform} ${process.arch}, ${cpus().length} x ${cpu?.model}; ${rounds} rounds of ${requests} requests\n`,
)
if (values.only !== 'imports') {
  const rows = []
  for (const application of APPLICATIONS) if (!values.only || values.only === application) rows.push(...(await perRequest(application)))
  console.log(`Throughput by processor time, as a share of bare; target: at least ${THROUGHPUT_MIN}\n`)
  table(['application', 'life', 'CPU µs/request', 'requests/s', 'ratio', 'half of the rounds', 'median with 95 %', 'target'], rows)
}
if (!values.only || values.only === 'imports') {
  console.log(`Import; ratio of the time to bare Hono's (hono and @hono/node-server), target: at most ${IMPORT_MAX}\n`)
  table(['import', 'ms', 'CPU ms', 'RSS +MiB', 'heap +MiB', 'ratio', 'half of the rounds', 'median with 95 %', 'target'], perProcess())
}
process.exitCode = missed > 0 ? 1 : 0
