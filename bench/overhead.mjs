// @ts-check
// `npm run bench:overhead`: what a life costs, per request and per process. Everything is compared
// with its bare twin in the same run, in turns, and the twin with a second copy of itself: what
// those two differ by is the noise. docs/performance.md explains the numbers. `-- --generations 40`
// for narrower intervals, `-- --only Hono`, `imports` or `filters` (of an API server, by name only)
// for a part; exit code 1 when a target is certainly missed.
import { spawnSync } from 'node:child_process'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { CHAIN_MAX, FILTER_MAX, measureFilters } from './filters.mjs'
import { measureInTurns, REQUESTS, ROUNDS, shuffled } from './in-turns.mjs'
import { median, summarize } from './statistics.mjs'

const { values } = parseArgs({
  options: { generations: { type: 'string', default: '12' }, only: { type: 'string' } },
})
const generations = Number(values.generations)
const IMPORT_ROUNDS = 40
const THROUGHPUT_MIN = 0.95
const IMPORT_MAX = 1.25

/** And what is spoken with each. @type {Readonly<Record<string, import('./load.mjs').Protocol>>} */
const APPLICATIONS = {
  'node:http': 'HTTP/1.1',
  Hono: 'HTTP/1.1',
  Express: 'HTTP/1.1',
  'node:https': 'HTTPS',
  'node:http2': 'h2c',
  'node:http2, TLS': 'h2',
}
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

const parts = [...Object.keys(APPLICATIONS), 'imports', 'filters']
if (values.only !== undefined && !parts.includes(values.only)) throw new Error(`--only: got ${values.only}, allowed: ${parts.join(', ')}`)

let missed = 0
/** @param {boolean} isMissed the whole interval is on the wrong side @param {boolean} isMet the whole interval is on the right side */
function judge(isMissed, isMet) {
  if (isMissed) missed++
  return isMissed ? 'missed' : isMet ? 'met' : 'undecided'
}

// --- per request ---------------------------------------------------------------------------------

/**
 * What one generation of processes has measured of one life.
 * @typedef {object} Measured
 * @property {number} cpu microseconds per request
 * @property {number} perSecond requests per second
 * @property {number} share the processor time of bare, as a share of this one's
 */

/**
 * Where memory lies and when code is compiled is luck that a process keeps, and larger than what is looked for: rounds of one process are
 * no independent measurements of its life. So each generation of processes gives one.
 * @param {string} application
 * @returns {Promise<readonly Measured[]>} in the order of LIVES
 */
async function measureGeneration(application) {
  const settings = LIVES.map((life) => ({ application, life: life === 'again' ? 'bare' : life }))
  const rounds = await measureInTurns(settings, { protocol: APPLICATIONS[application] })
  const [bare = [], again = []] = rounds.map(({ cpu }) => cpu)
  return rounds.map(({ cpu: own, perSecond }, index) => {
    // The second bare one is compared with the first, all others with both.
    const shares = own.map(
      (microseconds, round) => (LIVES[index] === 'again' ? (bare[round] ?? 0) : mean(bare[round], again[round])) / microseconds,
    )
    return { cpu: median(own), perSecond: median(perSecond), share: median(shares) }
  })
}

/** @param {string} application @param {readonly (readonly Measured[])[]} measured by generation */
function perRequest(application, measured) {
  return LIVES.map((life, index) => {
    const own = measured.map((generation) => /** @type {Measured} */ (generation[index]))
    const shown = [
      application,
      life === 'again' ? 'bare, a second one (A/A)' : life,
      median(own.map(({ cpu }) => cpu)).toFixed(2),
      Math.round(median(own.map(({ perSecond }) => perSecond))).toString(),
    ]
    if (life === 'bare') return [...shown, '1', '', '', '']
    // A request that costs more processor time leaves room for fewer: throughput is the inverse.
    const { median: middle, quartiles, interval } = summarize(own.map(({ share }) => share))
    const [low, high] = interval
    const verdict = life === 'again' ? '' : judge(high < THROUGHPUT_MIN, low >= THROUGHPUT_MIN)
    return [...shown, ratio(middle), range(quartiles), range(interval), verdict]
  })
}

/** @param {number | undefined} a @param {number | undefined} b */
const mean = (a = Number.NaN, b = Number.NaN) => (a + b) / 2

// --- per process ---------------------------------------------------------------------------------

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
  for (let round = -1; round < IMPORT_ROUNDS; round++) {
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
  `node ${process.versions.node}, ${process.platform} ${process.arch}, ${cpus().length} x ${cpu?.model}; ${generations} generations of processes, ${ROUNDS} rounds of ${REQUESTS} requests each\n`,
)
if (values.only === 'filters') {
  const { whole, each } = await measureFilters(generations, judge)
  console.log(`An API server; processor time as a multiple of bare Hono's, target of the whole chain: at most ${CHAIN_MAX}\n`)
  table(['Hono', 'CPU µs/request', 'times bare', 'median with 95 %', 'target'], whole)
  console.log(`Each filter; mean of both as a share of bare Hono's request, target: at most ${FILTER_MAX}\n`)
  table(['filter', 'µs, added to none', 'µs, taken from all', 'share', 'median with 95 %', 'target'], each)
} else if (values.only !== 'imports') {
  const applications = Object.keys(APPLICATIONS).filter((application) => !values.only || values.only === application)
  const measured = new Map(applications.map((application) => [application, /** @type {(readonly Measured[])[]} */ ([])]))
  for (let generation = 0; generation < generations; generation++) {
    for (const [application, its] of measured) its.push(await measureGeneration(application))
  }
  const rows = [...measured].flatMap(([application, its]) => perRequest(application, its))
  console.log(`Throughput by processor time, as a share of bare; target: at least ${THROUGHPUT_MIN}\n`)
  table(['application', 'life', 'CPU µs/request', 'requests/s', 'ratio', 'half of the generations', 'median with 95 %', 'target'], rows)
}
if (!values.only || values.only === 'imports') {
  console.log(`Import; ratio of the time to bare Hono's (hono and @hono/node-server), target: at most ${IMPORT_MAX}\n`)
  table(['import', 'ms', 'CPU ms', 'RSS +MiB', 'heap +MiB', 'ratio', 'half of the rounds', 'median with 95 %', 'target'], perProcess())
}
process.exitCode = missed > 0 ? 1 : 0
