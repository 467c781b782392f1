// @ts-check
// The tables of what clients as they are have lost, from the results that are kept in results.json.
// `npm run test:clients -- --write` keeps new ones; test/tidy/clients-tables.test.ts holds that the
// documents show these tables.
import { readFileSync, writeFileSync } from 'node:fs'

const FILE = new URL('results.json', import.meta.url)

/**
 * @typedef {{ protocol: string, client: string, method: string, delay: number, server: string }} Cell
 * @typedef {Cell & { ends: number, lost: number, endsWithLoss: number }} Result
 */

/** @returns {Result[]} */
export const keptResults = () => JSON.parse(readFileSync(FILE, 'utf8'))

const keyOf = (/** @type {Cell} */ { protocol, client, method, delay, server }) => [protocol, client, method, delay, server].join(' | ')

/** Keeps these results in place of those of the same cells. @param {readonly Result[]} results */
export function keepResults(results) {
  const byKey = new Map([...keptResults(), ...results].map((result) => [keyOf(result), result]))
  writeFileSync(FILE, `${JSON.stringify([...byKey.values()], undefined, 2)}\n`)
}

/** The rows of docs/performance.md. */
const LEDGER = /** @type {const} */ ([
  ["HTTP/1.1, node's agent, 10", 'HTTP/1.1', 'agent, 10', 'GET'],
  ['HTTP/1.1, Go 1.26, 10', 'HTTP/1.1', 'go, 10', 'GET'],
  ["HTTPS, node's agent, 10", 'HTTPS', 'agent, 10', 'GET'],
  ['HTTPS, Go, 10', 'HTTPS', 'go, 10', 'GET'],
  ['HTTP/2, a session of node, 1', 'h2', 'session, 1', 'GET'],
  ['HTTP/2, a session of node, 10', 'h2', 'session, 10', 'GET'],
  ['HTTP/2, the same without a pause', 'h2', 'session, 10 without a pause', 'GET'],
  ['HTTP/2, `fetch` of Node 26, 10', 'h2', 'fetch 26, 10', 'GET'],
  ['HTTP/2, undici 7, 1', 'h2', 'undici, 1', 'GET'],
  ['HTTP/2, undici 7, 10, two connections', 'h2', 'undici, 10', 'GET'],
  ['HTTP/2, Go, 10 (POST, too)', 'h2', 'go, 10', 'GET'],
  ['HTTP/2, curl 7.88, 2', 'h2', 'curl, 2', 'GET'],
  ['HTTP/2, curl 7.88, 2, POST', 'h2', 'curl, 2', 'POST'],
  ['HTTP/2, JDK 17, 10', 'h2', 'java, 10', 'GET'],
])
/** The rows of docs/http2.md. */
const HTTP2 = /** @type {const} */ ([
  ['`fetch` of Node 26, 10', 'fetch 26, 10', 'GET'],
  ['Go, 10', 'go, 10', 'GET'],
  ['a session of node, 1', 'session, 1', 'GET'],
  ['a session of node, 10', 'session, 10', 'GET'],
  ['undici 7, 1', 'undici, 1', 'GET'],
  ['undici 7, 10', 'undici, 10', 'GET'],
  ['JDK 17, 10', 'java, 10', 'GET'],
  ['curl 7.88, 2, POST', 'curl, 2', 'POST'],
])
/** The rows of the README: each of one client or two. */
const SHORT = /** @type {const} */ ([
  ["HTTPS, node's agent", 'HTTPS', ['agent, 10']],
  ['HTTP/2, `fetch` of Node 26 and Go', 'h2', ['fetch 26, 10', 'go, 10']],
  ["HTTP/2, node's client, 1 and 10 at a time", 'h2', ['session, 1', 'session, 10']],
  ['HTTP/2, undici 7 and JDK 17', 'h2', ['undici, 10', 'java, 10']],
])
const WORDS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']

/** @param {readonly Result[]} results @returns {(cell: Cell) => Result | undefined} */
const finder = (results) => (cell) => results.find((result) => keyOf(result) === keyOf(cell))
const row = (/** @type {readonly string[]} */ squares) => `| ${squares.join(' | ')} |`

/** @param {readonly Result[]} results */
export function ledgerRows(results) {
  const find = finder(results)
  const square = (/** @type {Cell} */ cell) => {
    const { lost, endsWithLoss } = find(cell) ?? {}
    return lost === undefined ? 'not measured' : lost === 0 ? '0' : `${lost} (${endsWithLoss})`
  }
  return LEDGER.map(([name, protocol, client, method]) =>
    row([
      name,
      ...['quiesce', 'server.close()'].flatMap((server) => [0, 500].map((delay) => square({ protocol, client, method, delay, server }))),
    ]),
  )
}

/** @param {readonly Result[]} results */
export function http2Rows(results) {
  const find = finder(results)
  const square = (/** @type {Cell} */ cell) => {
    const { lost, ends } = find(cell) ?? {}
    return lost === undefined ? 'not measured' : ends === 10 ? String(lost) : `${lost} of ${ends} ends`
  }
  return HTTP2.map(([name, client, method]) =>
    row([name, ...['quiesce', 'server.close()', 'go'].map((server) => square({ protocol: 'h2', client, method, delay: 0, server }))]),
  )
}

/** @param {readonly Result[]} results */
export function shortRows(results) {
  const find = finder(results)
  return SHORT.map(([name, protocol, clients]) => {
    const of = (/** @type {string} */ server) =>
      clients.map((client) => find({ protocol, client, method: 'GET', delay: 0, server })).filter((result) => result !== undefined)
    const counts = (/** @type {string} */ server) => {
      const lost = of(server).map((result) => result.lost)
      return `${(lost.every((count) => count === 0) ? [0] : lost).join(' and ')} requests`
    }
    const ends = of('quiesce')[0]?.ends ?? 0
    return row([`${name}, in ${WORDS[ends] ?? ends} ends`, counts('quiesce'), `\`server.close()\`: ${counts('server.close()')}`])
  })
}
