// @ts-check
// What serving costs with something that tracks requests, beside the same server without it.
import { Child } from './child.mjs'
import { shuffled } from './in-turns.mjs'
import { summarize } from './statistics.mjs'

export const ALONE = 'node alone'
export const AGAIN = 'node alone, a second one (A/A)'
export const OURS = 'quiesce, attached'
/** These count what is in flight. http-terminator does not: it keeps connections only, until it ends a server. */
export const TRACKING = ['stoppable', '@godaddy/terminus', 'http-graceful-shutdown']
export const SUBJECTS = [ALONE, AGAIN, OURS, ...TRACKING]
export const PROTOCOLS = /** @type {const} */ (['HTTP/1.1', 'HTTPS'])
/** So many requests, at so many in a second. */
export const ROUTES = /** @type {const} */ ({
  trivial: { title: 'a trivial route', rate: 4000, count: 1500 },
  stream: { title: 'a stream of 1 MiB', rate: 100, count: 30 },
  upload: { title: 'an upload of 1 MiB', rate: 100, count: 30 },
})
/** The 99.9th percentile of fewer is their maximum. */
const FOR_P999_MIN = 2000
const CONNECTIONS = 32
/**
 * Many short ones: all servers have their turn within a few seconds, so that what else the machine
 * does then is shared by all of them.
 */
const ROUNDS = 6
/**
 * What is freed at the top of its heap the C library gives back to the kernel, and takes it again
 * for the next body: or not, as it happens to lie. In one process in three, whatever it serves with,
 * an upload costs half as much again because of that. None of these gives anything back [glibc].
 */
const KEEPS_MEMORY = { MALLOC_TRIM_THRESHOLD_: String(2 ** 28), MALLOC_TOP_PAD_: String(2 ** 26), MALLOC_MMAP_THRESHOLD_: String(2 ** 25) }
/** V8 compiles and recompiles parts of node during the first 30 000 requests. */
const WARM_UP = { trivial: 30_000, stream: 100, upload: 100 }

/** @typedef {keyof typeof ROUTES} Route */
/** @typedef {'p50' | 'p99' | 'p999'} Percentile */
/** @typedef {{ cpuUs: number, latencies: number[] }} Part of one round */
/** @typedef {import('./statistics.mjs').Summary} Summary */
/**
 * @typedef {object} Cell
 * @property {Summary} cpuUs for each request
 * @property {Summary} [throughput] of the same server alone: its CPU as a share of this one's
 * @property {Summary} [ofOurs] CPU of quiesce as a share of this one's
 * @property {Partial<Record<Percentile, Summary>>} latencyMs
 * @typedef {Record<string, Record<Route, Record<string, Cell>>>} Cells by protocol, route and subject
 * @typedef {{ generations: number, rounds: number, rates: Record<Route, number>, counts: Record<Route, number>, connections: number, latestMs: Summary, cells: Cells }} Serving
 */

const routes = /** @type {Route[]} */ (Object.keys(ROUTES))
const roundsOf = (/** @type {boolean} */ quick) => (quick ? 2 : ROUNDS)
const scaled = (/** @type {number} */ count, /** @type {boolean} */ quick) => (quick ? Math.ceil(count / 10) : count)

/**
 * One generation: new processes, since where memory lies is luck that a process keeps.
 * @param {boolean} isEncrypted @param {boolean} quick
 */
async function generation(isEncrypted, quick) {
  const load = new Child('open-loop.mjs', {}, 1)
  const servers = SUBJECTS.map((subject) => ({
    subject,
    child: new Child('serving-server.mjs', { subject: subject === AGAIN ? ALONE : subject, isEncrypted }, 0, KEEPS_MEMORY),
    port: 0,
    /** @type {Record<Route, Part[]>} */
    parts: { trivial: [], stream: [], upload: [] },
  }))
  for (const server of servers) server.port = (await server.child.ask({ what: 'port' })).port
  let latestMs = 0
  /** @param {typeof servers[number]} server @param {() => Promise<void>} work */
  const connected = async ({ port }, work) => {
    await load.ask({ what: 'open', port, isEncrypted, count: CONNECTIONS })
    await work()
    await load.ask({ what: 'close' })
  }
  for (const server of servers)
    await connected(server, async () => {
      for (const kind of routes) await load.ask({ what: 'send', kind, rate: 0, seed: 1, count: scaled(WARM_UP[kind], quick) })
    })
  for (let round = 0; round < roundsOf(quick); round++)
    for (const server of shuffled(servers))
      await connected(server, async () => {
        for (const kind of routes) {
          const { rate, count } = ROUTES[kind]
          const requests = scaled(count, quick)
          // The first requests of new connections are not those of kept ones.
          await load.ask({ what: 'send', kind, rate: 0, seed: 1, count: CONNECTIONS })
          await server.child.ask({ what: 'begin' })
          const sent = await load.ask({ what: 'send', kind, rate, seed: round + 1, count: requests })
          const { cpuUs } = await server.child.ask({ what: 'end' })
          server.parts[kind].push({ cpuUs: cpuUs / requests, latencies: sent.latencies })
          latestMs = Math.max(latestMs, sent.latestMs)
        }
      })
  for (const child of [...servers.map((server) => server.child), load]) child.end()
  return { latestMs, parts: new Map(servers.map(({ subject, parts }) => [subject, parts])) }
}

/** @typedef {Awaited<ReturnType<typeof generation>>} Generation */

/** @param {readonly number[]} values @param {number} share */
const percentile = (values, share) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN

/**
 * What one generation says of a subject and a route: all its requests together, since a collection
 * of garbage is in some of its rounds and not in others.
 * @param {Generation} made @param {string} subject @param {Route} route
 */
function cpuOf(made, subject, route) {
  const parts = made.parts.get(subject)?.[route] ?? []
  return parts.reduce((sum, { cpuUs }) => sum + cpuUs, 0) / parts.length
}

/** @param {readonly Generation[]} made @param {string} subject @param {Route} route @returns {Cell} */
export function cellOf(made, subject, route) {
  const own = made.map((one) => cpuOf(one, subject, route))
  const latencies = made.map((one) => (one.parts.get(subject)?.[route] ?? []).flatMap((part) => part.latencies))
  const at = (/** @type {number} */ share) => summarize(latencies.map((values) => percentile(values, share)))
  /** The second one alone is compared with the first, all others with both. */
  const alone = made.map((one) => {
    const [first, second] = [cpuOf(one, ALONE, route), cpuOf(one, AGAIN, route)]
    return subject === AGAIN ? first : (first + second) / 2
  })
  const ratios = (/** @type {readonly number[]} */ of) => summarize(of.map((us, index) => us / (own[index] ?? Number.NaN)))
  return {
    cpuUs: summarize(own),
    ...(subject !== ALONE && { throughput: ratios(alone) }),
    ...(![ALONE, AGAIN, OURS].includes(subject) && { ofOurs: ratios(made.map((one) => cpuOf(one, OURS, route))) }),
    latencyMs: { p50: at(0.5), p99: at(0.99), ...((latencies[0]?.length ?? 0) >= FOR_P999_MIN && { p999: at(0.999) }) },
  }
}

/** @param {{ quick: boolean, say: (line: string) => void }} how @returns {Promise<Serving>} */
export async function measureServing({ quick, say }) {
  const generations = quick ? 1 : 9
  /** @type {Record<string, Generation[]>} */
  const made = Object.fromEntries(PROTOCOLS.map((protocol) => [protocol, []]))
  for (let index = 0; index < generations; index++)
    for (const protocol of PROTOCOLS) {
      say(`generation ${index + 1} of ${generations}, ${protocol}`)
      made[protocol]?.push(await generation(protocol === 'HTTPS', quick))
    }
  const byRoute = (/** @type {(route: Route) => number} */ of) =>
    /** @type {Record<Route, number>} */ (Object.fromEntries(routes.map((route) => [route, of(route)])))
  return {
    generations,
    rounds: roundsOf(quick),
    rates: byRoute((route) => ROUTES[route].rate),
    counts: byRoute((route) => scaled(ROUTES[route].count, quick) * roundsOf(quick)),
    connections: CONNECTIONS,
    latestMs: summarize(Object.values(made).flatMap((ones) => ones.map(({ latestMs }) => latestMs))),
    cells: Object.fromEntries(
      Object.entries(made).map(([protocol, ones]) => [
        protocol,
        /** @type {Record<Route, Record<string, Cell>>} */ (
          Object.fromEntries(
            routes.map((route) => [route, Object.fromEntries(SUBJECTS.map((subject) => [subject, cellOf(ones, subject, route)]))]),
          )
        ),
      ]),
    ),
  }
}
