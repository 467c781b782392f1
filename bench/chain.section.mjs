// @ts-check
// What the whole chain of an API server costs, beside a middleware that is written by hand.
import { BARE, BARE_AGAIN, CHAIN } from './chain.mjs'
import { rowsTable } from './document.mjs'
import { rowsOf, tableOf } from './verdict.mjs'

/** @typedef {import('./chain.mjs').Chain} Chain */

/** Of the CPU of a middleware that does less. */
const OF_MIDDLEWARE_MAX = 0.85

/** @param {Chain} result */
const rows = ({ servers }) => [
  ...rowsOf('CPU of a request behind the whole chain, as a share of the middleware by hand', servers[CHAIN]?.ofMiddleware, {
    target: { atMost: OF_MIDDLEWARE_MAX },
  }),
  ...rowsOf('the same, times bare Hono', servers[CHAIN]?.ofBare),
  ...rowsOf('bare Hono: A/A', servers[BARE_AGAIN]?.ofBare),
]

/** @param {Chain} result */
function markdown(result) {
  const share = (/** @type {import('./statistics.mjs').Summary} */ { median, interval: [low, high] }) =>
    `${median.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`
  return `The same route of Hono over HTTP/1.1, with a bearer token in each request, served in several ways, in ${result.generations} generations of processes; each generation gives one measurement.

- **The whole chain** has users from a file of tokens, roles from a file, the limits, deadlines and headers, and an audit log of level Metadata: two events for each request, in batches of 400, to a file.
- **The middleware** is [what people write](../bench/by-hand.mjs): tokens in a \`Map\`, one group that may ask, the same headers, two lines of \`JSON.stringify\` to a file. It has no limits, deadlines, metrics or roles, and no drain.
- **The least** only has an id, three headers, and two lines of constant text: what no chain with two audit events can be below.

${rowsTable('', rows(result))}

${tableOf(
  ['', 'CPU, µs for each request', 'times bare Hono', 'of the middleware'],
  Object.entries(result.servers).map(([name, { cpuUs, ofBare, ofMiddleware }]) => [
    name,
    `${cpuUs.median.toFixed(1)} (${cpuUs.interval.map((bound) => bound.toFixed(1)).join(' to ')})`,
    name === BARE ? '1' : share(ofBare),
    share(ofMiddleware),
  ]),
)}`
}

/** @type {import('./sections.mjs').Section<Chain>} */
export const section = {
  name: 'chain',
  title: 'A filter chain, beside a middleware by hand',
  minutes: 12,
  packages: ['hono', '@hono/node-server'],
  run: async (how) => (await import('./chain.mjs')).measureChain(how),
  rows,
  markdown,
}
