// @ts-check
// What requests cost beside the generic API server of Kubernetes.
import { COLOURS, targetLine } from './chart.mjs'
import { fact, rowOf, tableOf, verdictOf } from './verdict.mjs'

/**
 * @typedef {import('./statistics.mjs').Summary} Summary
 * @typedef {Record<string, Summary>} ByServer
 * @typedef {object} Result
 * @property {number} rounds
 * @property {Record<string, ByServer>} cpuUs
 * @property {Record<string, ByServer>} ratios
 * @property {Record<string, number>} listBytes
 * @property {Record<string, { started: number, worked: number }>} memoryMiB
 * @property {ByServer} readyMs
 * @property {ByServer} endMs
 */

const GO = 'Go'
const GO_AGAIN = 'Go again'
const ALONE = 'Node 24 alone'
const NODES = /** @type {const} */ (['quiesce, Node 20', 'quiesce, Node 24'])

/**
 * What of Go's CPU is allowed: a row that serves a path is measured against the chain's target, all others against the one for resources.
 * @param {string} row @param {string} server
 */
const targetOf = (row, server) => (row.startsWith('GET of a path') ? (server.endsWith('24') ? 0.6 : 0.75) : 0.8)

/** Times that of Go's server. */
const MEMORY_MAX = 1.5

const us = (/** @type {Summary | undefined} */ summary) => (summary ? shortened(summary.median) : '')
const shortened = (/** @type {number} */ number) => (number < 20 ? number.toFixed(1) : number.toFixed(0))
const ratio = (/** @type {Summary | undefined} */ summary) =>
  summary ? `${summary.median.toFixed(2)} (${summary.interval.map((bound) => bound.toFixed(2)).join(' to ')})` : ''

/** @param {Result & { readonly pace?: import('./pace.mjs').Pace }} result */
function markdown(result) {
  const rows = Object.entries(result.cpuUs).map(([row, byServer]) => {
    const ratios = result.ratios[row] ?? {}
    const ours = NODES.flatMap((name) => {
      const one = ratios[name]
      const target = targetOf(row, name)
      return [us(byServer[name]), ratio(one), one ? `${target}: ${verdictOf(one, { atMost: target }, result.pace)}` : '']
    })
    return [row, us(byServer[GO]), ratio(ratios[GO_AGAIN]), ...ours, us(byServer[ALONE]), ratio(ratios[ALONE])]
  })
  const ms = (/** @type {Summary | undefined} */ summary) => `${summary?.median.toFixed(0)} ms`
  return `This is what a request costs in \`@quiesce/apiserver\` and in \`k8s.io/apiserver\`, the library in Go that it is modelled on. Measuring it takes Go.

- **Both servers** use HTTPS with the same certificate, read the user's token from a file, call an authorizer that checks one group, and keep the resource \`flunders\` of upstream's sample server in memory. In rows marked *audited*, each request writes two audit events of level Metadata, in batches of 400. All other settings are defaults.
- **Upstream's resource** uses its generic registry and its watch cache over a map, without disk and without etcd. It stores managed fields in every object, which this server does not have, so its answers are longer: a list of 500 is ${result.listBytes[GO]} bytes there and ${result.listBytes[NODES[1]]} here.
- **CPU** is the CPU time of the whole process as the kernel counts it, with all threads and garbage collection. The servers run on one core and the clients on the other. There are ${result.rounds} rounds; each asks every server, in a different order. The table shows medians.
- **Ratios** are to Go. *Go again* is a second process of the same Go program, so its difference from 1 is noise.
- **Node alone** is an HTTPS server of node without any library, which only writes the same answers and events: what no server on node can be below.

![CPU per request, as a ratio to Go](images/upstream.svg)

CPU, in microseconds:

${tableOf(['', GO, GO_AGAIN, 'Node 20', 'of Go', 'target', 'Node 24', 'of Go', 'target', ALONE, 'of Go'], rows)}

Memory, start and end:

${tableOf(
  ['', 'memory once started', 'and after the load', 'start to ready', 'SIGTERM to exit'],
  [GO, ...NODES].map((name) => {
    const memory = result.memoryMiB[name]
    return [name, `${memory?.started.toFixed(0)} MiB`, `${memory?.worked.toFixed(0)} MiB`, ms(result.readyMs[name]), ms(result.endMs[name])]
  }),
)}

Go's server closes idle connections at once when it stops. This server keeps its listener open for a moment longer, the last call, so that connections in the accept queue are answered ([decision 18](https://github.com/quiesce/quiesce/blob/main/docs/decisions/0018-the-last-call.md)).`
}

/** @param {Result} result */
function memoryRows({ memoryMiB }) {
  const [, name] = NODES
  const [own, go] = [memoryMiB[name], memoryMiB[GO]]
  if (!own || !go) return []
  const times = (/** @type {'started' | 'worked'} */ when) => fact(own[when] / go[when])
  return [
    rowOf(`memory once started, ${name}, of Go's`, times('started'), { target: { atMost: MEMORY_MAX } }),
    rowOf(`memory after the load, ${name}, of Go's`, times('worked'), { target: { atMost: MEMORY_MAX } }),
  ]
}

/** @param {Result} result @returns {Record<string, import('./chart.mjs').Picture>} */
function pictures(result) {
  const rows = Object.keys(result.ratios).reverse()
  return {
    upstream: {
      width: 860,
      height: 90 + rows.length * 34,
      option: {
        legend: { top: 8, left: 8, itemGap: 40 },
        grid: { left: 290, right: 30, top: 44, bottom: 40 },
        xAxis: { type: 'value', name: 'CPU, Go is 1', nameLocation: 'middle', nameGap: 26, min: 0 },
        yAxis: { type: 'category', data: rows, axisTick: { show: false } },
        series: NODES.map((name, index) => ({
          name,
          type: 'bar',
          color: [COLOURS.second, COLOURS.ours][index] ?? '',
          data: rows.map((row) => Number((result.ratios[row]?.[name]?.median ?? 0).toFixed(3))),
          ...(index === 0 && { markLine: targetLine(1, GO) }),
        })),
      },
    },
  }
}

/** @type {import('./sections.mjs').Section<Result>} */
export const section = {
  name: 'upstream',
  title: 'Beside the generic API server of Kubernetes',
  minutes: 23,
  run: async (how) => (await import('./upstream.mjs')).measureUpstream(how),
  rows: (result) => [
    ...Object.entries(result.ratios).flatMap(([row, ratios]) => {
      const [, name] = NODES
      const one = ratios[name]
      return one ? [rowOf(`${row}, ${name}, of Go's CPU`, one, { target: { atMost: targetOf(row, name) }, pace: result.pace })] : []
    }),
    ...memoryRows(result),
  ],
  markdown,
  pictures,
}
