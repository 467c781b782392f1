// @ts-check
// `npm run bench:inspector`: what the inspector costs a server at saturation: turned on without a reader
// there, and with the page's stream open. Everything is compared with a server without it in the
// same run, in turns, and that one with a second copy of itself: what those two differ by is the
// noise. `-- --rounds 100` for narrower intervals; exit code 1 when a target is certainly missed.
import { get } from 'node:http'
import { cpus } from 'node:os'
import { givenArguments, wholeNumber } from '../scripts/usage.mjs'
import { Child } from './child.mjs'
import { median, summarize } from './statistics.mjs'

const { values } = givenArguments({
  options: { rounds: { type: 'string', default: '40' }, requests: { type: 'string', default: '10000' } },
})
const rounds = wholeNumber('--rounds', values.rounds, 1)
// Many, because it is looked at four times per second: a median does not see what most rounds do
// not have.
const requests = wholeNumber('--requests', values.requests, 1)
const APPLICATION = 'Hono'
const CONNECTIONS = 16
const ROUNDS_PER_PROCESS = 10
const WARM_UP_REQUESTS = 8000
const WATCHED_MAX = 1.1

/** The first is what the others are compared with; the second is the same. */
const SERVERS = [
  { name: 'no inspector', life: 'created', watched: false },
  { name: 'no inspector, a second one (A/A)', life: 'created', watched: false },
  { name: 'on, without a reader', life: 'inspected', watched: false },
  { name: 'on, a stream open', life: 'inspected', watched: true },
]

/** @param {string} url reads the stream as a page does @returns {Promise<void>} when it has begun */
const watch = (url) =>
  new Promise((resolve, reject) => {
    get(`${url}/inspector/events`, (response) => response.on('data', () => resolve()).on('error', () => {})).on('error', reject)
  })

/** @typedef {{ cpu: number[], p99: number[] }} Measured microseconds per request and milliseconds, by round */

async function measure() {
  const measured = SERVERS.map(() => /** @type {Measured} */ ({ cpu: [], p99: [] }))
  for (let round = 0; round < rounds; ) {
    // Where memory lies and when code is compiled is luck that a process keeps: after some rounds
    // there are new ones.
    const load = new Child('load.mjs', {}, 1)
    const servers = SERVERS.map(({ life }) => new Child('server.mjs', { application: APPLICATION, life }, 0))
    const places = await Promise.all(servers.map((server) => server.ask({ what: 'port' })))
    for (const [index, { watched }] of SERVERS.entries()) if (watched) await watch(places[index].inspector)
    for (const { port } of places) await load.ask({ port, connections: CONNECTIONS, requests: WARM_UP_REQUESTS })
    for (const end = Math.min(rounds, round + ROUNDS_PER_PROCESS); round < end; round++) {
      // Each turn begins with another one, so that none always comes after the same.
      for (let turn = 0; turn < servers.length; turn++) {
        const index = (turn + round) % servers.length
        const server = /** @type {Child} */ (servers[index])
        await server.ask({ what: 'begin' })
        const { p99Ms } = await load.ask({ port: places[index].port, connections: CONNECTIONS, requests, timed: true })
        const { cpuMicroseconds } = await server.ask({ what: 'end' })
        measured[index]?.cpu.push(cpuMicroseconds / requests)
        measured[index]?.p99.push(p99Ms)
      }
    }
    for (const child of [...servers, load]) child.end()
  }
  return measured
}

/** @param {readonly [number, number]} range */
const range = ([low, high]) => `${low.toFixed(3)} to ${high.toFixed(3)}`

const measured = await measure()
const [base, again] = measured
/**
 * Times the first; all but its copy are compared with the two together.
 * @param {'cpu' | 'p99'} what @param {number} index
 */
const timesBase = (what, index) => {
  const other = index === 1 ? base : again
  const without = (/** @type {number} */ round) => ((base?.[what][round] ?? Number.NaN) + (other?.[what][round] ?? Number.NaN)) / 2
  return summarize((measured[index]?.[what] ?? []).map((value, round) => value / without(round)))
}
/**
 * How much one copy of the same server differs from another, which is how much a difference has to
 * be to mean anything.
 */
const noise = { cpu: timesBase('cpu', 1), p99: timesBase('p99', 1) }

let missed = 0
/** @param {'cpu' | 'p99'} what @param {number} index @param {boolean} watched */
function verdict(what, index, watched) {
  const { median: middle, interval } = timesBase(what, index)
  if (watched) {
    if (interval[0] > WATCHED_MAX) missed++
    return interval[0] > WATCHED_MAX ? 'missed' : interval[1] <= WATCHED_MAX ? 'met' : 'undecided'
  }
  const spread = noise[what].quartiles[1]
  if (interval[0] > spread) missed++
  return middle <= spread ? 'met' : interval[0] > spread ? 'missed' : 'undecided'
}

const [cpu] = cpus()
console.log(
  `node ${process.versions.node}, ${process.platform} ${process.arch}, ${cpus().length} x ${cpu?.model}; ${rounds} rounds of ${requests} requests to ${APPLICATION}`,
)
console.log(`Targets: with a stream open at most ${WATCHED_MAX} times; without a reader the median within half of the control's rounds\n`)
for (const [what, unit] of /** @type {const} */ ([
  ['cpu', 'CPU µs/request'],
  ['p99', 'p99 ms'],
])) {
  console.log(`| inspector | ${unit} | times | half of the rounds | median with 95 % | target |\n|---|---|---|---|---|---|`)
  for (const [index, { name, watched }] of SERVERS.entries()) {
    const own = median(measured[index]?.[what] ?? []).toFixed(2)
    const { median: middle, quartiles, interval } = timesBase(what, index)
    const compared = index === 0 ? ['1', '', ''] : [middle.toFixed(3), range(quartiles), range(interval)]
    const judged = measured[index] === base || measured[index] === again ? '' : verdict(what, index, watched)
    console.log(`| ${[name, own, ...compared, judged].join(' | ')} |`)
  }
  console.log('')
}
process.exit(missed > 0 ? 1 : 0)
