// @ts-check
// What the whole chain of an API server costs a request: the same route of Hono bare, behind the
// chain, and behind programs without quiesce that do some of the same (`by-hand.mjs`).
import { measureInTurns } from './in-turns.mjs'
import { summarize } from './statistics.mjs'

/** @typedef {import('./statistics.mjs').Summary} Summary */
/** @typedef {{ cpuUs: Summary, ofBare: Summary, ofMiddleware: Summary }} OfServer CPU for each request, and as a share within each generation */
/** @typedef {{ generations: number, servers: Record<string, OfServer> }} Chain */

/** Bare servers are sent it, too. */
const TOKEN = 'of-the-benchmark'

export const BARE = 'bare Hono'
export const BARE_AGAIN = 'bare Hono, a second one (A/A)'
const MIDDLEWARE = 'a middleware of Hono, written by hand'
export const CHAIN = 'the whole chain'
/** What server.mjs is asked for. @type {Readonly<Record<string, object>>} */
const SERVERS = {
  [BARE]: { application: 'Hono', life: 'bare' },
  [BARE_AGAIN]: { application: 'Hono', life: 'bare' },
  [MIDDLEWARE]: { application: 'a middleware', life: 'bare' },
  [CHAIN]: { application: 'Hono', life: 'apiserver' },
  'the whole chain, audited when answered only': { application: 'Hono', life: 'apiserver', audit: 'end' },
  'the chain without a filter': { application: 'Hono', life: 'apiserver', chain: [] },
  'the least: an id, three headers, two constant lines': { application: 'the least', life: 'bare' },
}
const names = Object.keys(SERVERS)

/** @param {{ quick: boolean, say: (line: string) => void }} how @returns {Promise<Chain>} */
export async function measureChain({ quick, say }) {
  const generations = quick ? 1 : 9
  /** @type {Record<string, number>[]} by generation, then by server: microseconds */
  const made = []
  for (let generation = 0; generation < generations; generation++) {
    say(`generation ${generation + 1} of ${generations}`)
    const measured = await measureInTurns(
      Object.values(SERVERS),
      { token: TOKEN },
      quick ? { warmUpMs: 5_000, rounds: 2 } : { warmUpMs: 30_000 },
    )
    made.push(Object.fromEntries(names.map((name, index) => [name, mean(measured[index]?.cpu ?? [])])))
  }
  const of = (/** @type {string} */ name) => made.map((one) => one[name] ?? Number.NaN)
  const shares = (/** @type {string} */ name, /** @type {readonly number[]} */ others) =>
    summarize(of(name).map((us, generation) => us / (others[generation] ?? Number.NaN)))
  return {
    generations,
    servers: Object.fromEntries(
      names.map((name) => [
        name,
        { cpuUs: summarize(of(name)), ofBare: shares(name, of(BARE)), ofMiddleware: shares(name, of(MIDDLEWARE)) },
      ]),
    ),
  }
}

/** Of all rounds together: a collection of garbage is in some of them and not in others. @param {readonly number[]} values */
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length
