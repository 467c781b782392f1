// @ts-check
// `npm run bench:overhead -- --only filters`: what each filter of an API server costs a request.
// The same Hono route bare, and behind the chain of an API server: without a filter, with each
// alone, with all, and with all but each; and two programs without quiesce that do some of the same
// (`by-hand.mjs`). A bare server and a second copy of it run with every group of them, so that each
// is compared with what ran in the same minute.
import { Child } from './child.mjs'
import { measureInTurns, shuffled } from './in-turns.mjs'
import { median, summarize } from './statistics.mjs'

/** Bare servers are sent it, too. */
const TOKEN = 'of-the-benchmark'
/** Servers of one group, beside the two bare ones: more would be minutes apart. */
const GROUP = 12

/** Of the whole chain, and of one filter: shares of what a bare request costs. */
export const CHAIN_MAX = 1.2
export const FILTER_MAX = 0.05

/** What allows knows who asks: one cannot be there without the other. */
const NEEDED = { authorization: 'authentication' }
/** @param {string} filter */
const neededBy = (filter) => (filter in NEEDED ? [NEEDED[/** @type {keyof typeof NEEDED} */ (filter)]] : [])
/** @param {string} filter */
const needing = (filter) => Object.keys(NEEDED).filter((one) => neededBy(one).includes(filter))

/**
 * One server: `chain` are the filters that it has; undefined: as many as there are.
 * @typedef {{ name: string, life: 'bare' | 'created' | 'apiserver', application?: string, chain?: readonly string[] | undefined, audit?: string }} Variant
 */

/** @returns {Promise<{ whole: Variant[], single: Variant[], filters: readonly string[] }>} those with one filter, or without one, apart */
async function variants() {
  const probe = new Child('server.mjs', { application: 'Hono', life: 'apiserver' }, 0)
  const { filters } = await probe.ask({ what: 'filters' })
  probe.end()
  const all = /** @type {readonly string[]} */ (filters)
  return {
    filters: all,
    whole: [
      { name: 'created, without an API server', life: 'created' },
      { name: 'no filter', life: 'apiserver', chain: [] },
      { name: 'the whole chain', life: 'apiserver' },
      { name: 'the whole chain, audited when answered only', life: 'apiserver', audit: 'end' },
      { name: 'without quiesce: three headers and two lines of audit, no more', life: 'bare', application: 'the least' },
      { name: 'without quiesce: a middleware of Hono', life: 'bare', application: 'a middleware' },
    ],
    single: all.flatMap((filter) => [
      /** @type {Variant} */ ({ name: `${filter} alone`, life: 'apiserver', chain: [...neededBy(filter), filter] }),
      /** @type {Variant} */ ({
        name: `all but ${filter}`,
        life: 'apiserver',
        chain: all.filter((one) => one !== filter && !needing(filter).includes(one)),
      }),
    ]),
  }
}

/** @typedef {{ cpu: number, times: number }} Measured microseconds per request, and as a multiple of bare's in the same rounds */

/** @param {readonly Variant[]} group @returns {Promise<ReadonlyMap<string, Measured>>} */
async function measureGroup(group) {
  /** @type {Variant[]} */
  const all = [{ name: 'bare', life: 'bare' }, { name: 'again', life: 'bare' }, ...group]
  const rounds = await measureInTurns(
    all.map(({ life, application = 'Hono', chain, audit }) => ({ application, life, chain, audit })),
    { token: TOKEN },
  )
  const [bare = [], again = []] = rounds.map(({ cpu }) => cpu)
  return new Map(
    all.map(({ name }, index) => {
      const own = rounds[index]?.cpu ?? []
      const control = (/** @type {number} */ round) =>
        name === 'again' ? (bare[round] ?? Number.NaN) : ((bare[round] ?? Number.NaN) + (again[round] ?? Number.NaN)) / 2
      return [name, { cpu: median(own), times: median(own.map((microseconds, round) => microseconds / control(round))) }]
    }),
  )
}

/**
 * A row for each variant, and one for each filter: what it adds to an empty chain, and what the
 * whole chain is without it.
 * @param {number} generations of processes: each gives one measurement
 * @param {(isMissed: boolean, isMet: boolean) => string} judge
 */
export async function measureFilters(generations, judge) {
  const { whole: wholes, single, filters } = await variants()
  /** @type {Map<string, Measured[]>} */
  const measured = new Map()
  for (let generation = 0; generation < generations; generation++) {
    const order = shuffled([...wholes, ...single])
    for (let at = 0; at < order.length; at += GROUP) {
      for (const [name, one] of await measureGroup(order.slice(at, at + GROUP))) measured.set(name, [...(measured.get(name) ?? []), one])
    }
  }
  const of = (/** @type {string} */ name) => measured.get(name) ?? []
  const cpuOf = (/** @type {string} */ name) => median(of(name).map(({ cpu }) => cpu))
  const bare = cpuOf('bare')
  const range = (/** @type {readonly [number, number]} */ [low, high]) => `${low.toFixed(3)} to ${high.toFixed(3)}`
  const whole = ['again', ...wholes.map(({ name }) => name)].map((name) => {
    const { median: middle, interval } = summarize(of(name).map(({ times }) => times))
    const [low, high] = interval
    const verdict = name.startsWith('the whole chain') ? judge(low > CHAIN_MAX, high <= CHAIN_MAX) : ''
    return [name === 'again' ? 'bare, a second one (A/A)' : name, cpuOf(name).toFixed(2), middle.toFixed(3), range(interval), verdict]
  })
  const each = filters.map((filter) => {
    // Multiples of bare in one generation are of processes of that generation.
    const [needed] = neededBy(filter)
    const [dependent] = needing(filter)
    const added = differences(of(`${filter} alone`), of(needed === undefined ? 'no filter' : `${needed} alone`))
    const removed = differences(of(dependent === undefined ? 'the whole chain' : `all but ${dependent}`), of(`all but ${filter}`))
    const both = summarize(added.map((one, at) => (one + (removed[at] ?? Number.NaN)) / 2))
    const [low, high] = both.interval
    const micros = (/** @type {readonly number[]} */ shares) => (median(shares) * bare).toFixed(2)
    return [
      filter,
      micros(added),
      micros(removed),
      both.median.toFixed(3),
      range(both.interval),
      judge(low > FILTER_MAX, high <= FILTER_MAX),
    ]
  })
  return { whole: [['bare', bare.toFixed(2), '1', '', ''], ...whole], each }
}

/** @param {readonly Measured[]} more @param {readonly Measured[]} less */
const differences = (more, less) => more.map(({ times }, at) => times - (less[at]?.times ?? Number.NaN))
