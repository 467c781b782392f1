// @ts-check
// `npm run bench:overhead`: what a life costs per request. Everything is compared
// with its bare twin in the same run, in turns, and the twin with a second copy of itself: what
// those two differ by is the noise. docs/performance.md explains the numbers. `-- --generations 40`
// for narrower intervals, `-- --only Hono` or `filters` (of an API server, by name only)
// for a part; exit code 1 when a target is certainly missed.
import { cpus } from 'node:os'
import { givenArguments, refuseUsage, wholeNumber } from '../scripts/usage.mjs'
import { FILTER_MAX, measureFilters } from './filters.mjs'
import { measureInTurns, REQUESTS, ROUNDS } from './in-turns.mjs'
import { median, summarize } from './statistics.mjs'

const { values } = givenArguments({
  options: { generations: { type: 'string', default: '12' }, only: { type: 'string' } },
})
const generations = wholeNumber('--generations', values.generations, 1)
const THROUGHPUT_MIN = 0.95

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

const parts = [...Object.keys(APPLICATIONS), 'filters']
if (values.only !== undefined && !parts.includes(values.only)) refuseUsage(`--only: got ${values.only}, allowed: ${parts.join(', ')}`)

let missed = 0
/** @param {boolean} isMissed the whole interval is on the wrong side @param {boolean} isMet the whole interval is on the right side */
function judge(isMissed, isMet) {
  if (isMissed) missed++
  return isMissed ? 'missed' : isMet ? 'met' : 'undecided'
}

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

const [cpu] = cpus()
console.log(
  `node ${process.versions.node}, ${process.platform} ${process.arch}, ${cpus().length} x ${cpu?.model}; ${generations} generations of processes, ${ROUNDS} rounds of ${REQUESTS} requests each\n`,
)
if (values.only === 'filters') {
  const each = await measureFilters(generations, judge)
  console.log(`Each filter; mean of both as a share of bare Hono's request, target: at most ${FILTER_MAX}\n`)
  table(['filter', 'µs, added to none', 'µs, taken from all', 'share', 'median with 95 %', 'target'], each)
} else {
  const applications = Object.keys(APPLICATIONS).filter((application) => !values.only || values.only === application)
  const measured = new Map(applications.map((application) => [application, /** @type {(readonly Measured[])[]} */ ([])]))
  for (let generation = 0; generation < generations; generation++) {
    for (const [application, its] of measured) its.push(await measureGeneration(application))
  }
  const rows = [...measured].flatMap(([application, its]) => perRequest(application, its))
  console.log(`Throughput by processor time, as a share of bare; target: at least ${THROUGHPUT_MIN}\n`)
  table(['application', 'life', 'CPU µs/request', 'requests/s', 'ratio', 'half of the generations', 'median with 95 %', 'target'], rows)
}
process.exitCode = missed > 0 ? 1 : 0
