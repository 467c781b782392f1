// @ts-check
// `npm run bench:overhead -- --only filters`: what each filter of an API server costs a request.
// The same Hono route bare, and behind the chain of an API server: without a filter, with each
// alone, with all, and with all but each. A bare server and a second copy of it run with every group
// of them, so that each is compared with what ran in the same minute. `npm run bench -- chain` has
// the whole chain beside what is written by hand.
import { Child } from './child.mjs'
import { measureInTurns, shuffled } from './in-turns.mjs'
import { median, summarize } from './statistics.mjs'

/** Bare servers are sent it, too. */
const TOKEN = 'of-the-benchmark'
/** Servers of one group, beside the two bare ones: more would be minutes apart. */
const GROUP = 12

/** Of one filter: a share of what a bare request costs. */
export const FILTER_MAX = 0.05

/** What allows knows who asks: one cannot be there without the other. */
const NEEDED = { authorization: 'authentication' }
/** @param {string} filter */
const neededBy = (filter) => (filter in NEEDED ? [NEEDED[/** @type {keyof typeof NEEDED} */ (filter)]] : [])
/** @param {string} filter */
const needing = (filter) => Object.keys(NEEDED).filter((one) => neededBy(one).includes(filter))

/**
 * One server: `chain` are the filters that it has; undefined: as many as there are.
 * @typedef {{ name: string, life: 'bare' | 'apiserver', chain?: readonly string[] | undefined }} Variant
 */

/** @returns {Promise<{ all: Variant[], filters: readonly string[] }>} */
async function variants() {
  const probe = new Child('server.mjs', { application: 'Hono', life: 'apiserver' }, 0)
  const { filters } = await probe.ask({ what: 'filters' })
  probe.end()
  const all = /** @type {readonly string[]} */ (filters)
  return {
    filters: all,
    all: [
      { name: 'no filter', life: 'apiserver', chain: [] },
      { name: 'the whole chain', life: 'apiserver' },
      ...all.flatMap((filter) => [
        /** @type {Variant} */ ({ name: `${filter} alone`, life: 'apiserver', chain: [...neededBy(filter), filter] }),
        /** @type {Variant} */ ({
          name: `all but ${filter}`,
          life: 'apiserver',
          chain: all.filter((one) => one !== filter && !needing(filter).includes(one)),
        }),
      ]),
    ],
  }
}

/** @typedef {{ cpu: number, times: number }} Measured microseconds per request, and as a multiple of bare's in the same rounds */

/** @param {readonly Variant[]} group @returns {Promise<ReadonlyMap<string, Measured>>} */
async function measureGroup(group) {
  /** @type {Variant[]} */
  const all = [{ name: 'bare', life: 'bare' }, { name: 'again', life: 'bare' }, ...group]
  const rounds = await measureInTurns(
    all.map(({ life, chain }) => ({ application: 'Hono', life, chain })),
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
 * A row for each filter: what it adds to an empty chain, and what the whole chain is without it.
 * @param {number} generations of processes: each gives one measurement
 * @param {(isMissed: boolean, isMet: boolean) => string} judge
 */
export async function measureFilters(generations, judge) {
  const { all, filters } = await variants()
  /** @type {Map<string, Measured[]>} */
  const measured = new Map()
  for (let generation = 0; generation < generations; generation++) {
    const order = shuffled(all)
    for (let at = 0; at < order.length; at += GROUP) {
      for (const [name, one] of await measureGroup(order.slice(at, at + GROUP))) measured.set(name, [...(measured.get(name) ?? []), one])
    }
  }
  const of = (/** @type {string} */ name) => measured.get(name) ?? []
  const cpuOf = (/** @type {string} */ name) => median(of(name).map(({ cpu }) => cpu))
  const bare = cpuOf('bare')
  const range = (/** @type {readonly [number, number]} */ [low, high]) => `${low.toFixed(3)} to ${high.toFixed(3)}`
  return filters.map((filter) => {
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
}

/** @param {readonly Measured[]} more @param {readonly Measured[]} less */
const differences = (more, less) => more.map(({ times }, at) => times - (less[at]?.times ?? Number.NaN))
