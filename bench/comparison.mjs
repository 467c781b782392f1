// @ts-check
// docs/comparison.md and its picture, from what `npm run bench:upstream` has measured and kept in results/upstream.json.
import { readFileSync } from 'node:fs'

/**
 * @typedef {import('./statistics.mjs').Summary} Summary
 * @typedef {Record<string, Summary>} ByServer
 * @typedef {object} Result
 * @property {string} date
 * @property {string} commit
 * @property {string} machine
 * @property {{ go: string, apiserver: string, node20: string, node24: string }} versions
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

/** @returns {Result} */
export const readResult = () => JSON.parse(readFileSync(new URL('results/upstream.json', import.meta.url), 'utf8'))

/**
 * What of Go's CPU is allowed: a row that serves a path is measured against the chain's target, all others against the one for resources.
 * @param {string} row @param {string} server
 */
const targetOf = (row, server) => (row.startsWith('GET of a path') ? (server.endsWith('24') ? 0.6 : 0.75) : 0.8)

/** A verdict is made of the interval: a target is met when all of it is below, missed when all of it is above. @param {Summary} ratio @param {number} target */
function verdict({ interval: [least, most] }, target) {
  if (most <= target) return 'met'
  return least > target ? 'missed' : 'open'
}

const us = (/** @type {Summary | undefined} */ summary) => (summary ? shortened(summary.median) : '')
const shortened = (/** @type {number} */ number) => (number < 20 ? number.toFixed(1) : number.toFixed(0))
const ratio = (/** @type {Summary | undefined} */ summary) =>
  summary ? `${summary.median.toFixed(2)} (${summary.interval.map((bound) => bound.toFixed(2)).join(' to ')})` : ''

/** @param {Result} result */
export function comparisonMarkdown(result) {
  const rows = Object.entries(result.cpuUs)
  const table = rows.map(([row, byServer]) => {
    const ratios = result.ratios[row] ?? {}
    const ours = NODES.flatMap((name) => {
      const one = ratios[name]
      return [us(byServer[name]), ratio(one), one ? `${targetOf(row, name)}: ${verdict(one, targetOf(row, name))}` : '']
    })
    return `| ${[row, us(byServer[GO]), ratio(ratios[GO_AGAIN]), ...ours, us(byServer[ALONE]), ratio(ratios[ALONE])].join(' | ')} |`
  })
  const [, go] = /go(\d\S*)/.exec(result.versions.go) ?? []
  const names = [GO, ...NODES]
  return `# Beside the generic API server of Kubernetes

<!-- Generated from bench/results/upstream.json by npm run generate; do not edit. -->

This page compares what a request costs in \`@quiesce/apiserver\` and in \`k8s.io/apiserver\`, the library in Go that it is modelled on. \`npm run bench:upstream\` in a checkout of the repository repeats the measurement; it needs Go, and takes a quarter of an hour on an idle machine. The numbers are of ${result.date}, at commit ${result.commit}:
${result.machine}, k8s.io/apiserver ${result.versions.apiserver} built with Go ${go}, Node ${result.versions.node20.slice(1)} and ${result.versions.node24.slice(1)}.

- **Both servers** use HTTPS with the same certificate, read the user's token from a file, call an authorizer that checks one group, and keep the resource \`flunders\` of upstream's sample server in memory. In rows marked *audited*, each request writes two audit events of level Metadata, in batches of 400. All other settings are defaults.
- **Upstream's resource** uses its generic registry and its watch cache over a map, without disk and without etcd. It stores managed fields in every object, which this server does not have, so its answers are longer: a list of 500 is ${result.listBytes[GO]} bytes there and ${result.listBytes[NODES[1]]} here.
- **CPU** is the CPU time of the whole process as the kernel counts it, with all threads and garbage collection. The servers run on one core and the clients on the other. There are ${result.rounds} rounds; each asks every server, in a different order. The tables show medians.
- **Ratios** to Go are computed in each round. The brackets hold the 95 % confidence interval of the median ratio. *Go again* is a second process of the same Go program, so its difference from 1 is noise.
- **Node alone** is an HTTPS server of node without any library, which only writes the same answers and events: what no server on node can be below.
- **Targets** are met when the whole interval is below the target, missed when the whole interval is above it, and open otherwise.

![CPU per request, as a ratio to Go](images/upstream.svg)

## CPU, in microseconds

| | Go | Go again | Node 20 | of Go | target | Node 24 | of Go | target | Node 24 alone | of Go |
|---|---|---|---|---|---|---|---|---|---|---|
${table.join('\n')}

## Memory, start and end

| | memory once started | and after the load | start to ready | SIGTERM to exit |
|---|---|---|---|---|
${names
  .map((name) => {
    const memory = result.memoryMiB[name]
    return `| ${[name, `${memory?.started.toFixed(0)} MiB`, `${memory?.worked.toFixed(0)} MiB`, `${result.readyMs[name]?.median.toFixed(0)} ms`, `${result.endMs[name]?.median.toFixed(0)} ms`].join(' | ')} |`
  })
  .join('\n')}

Go's server closes idle connections at once when it stops. This server keeps its listener open for a moment longer, the last call, so that connections in the accept queue are answered ([decision 18](https://github.com/quiesce/quiesce/blob/main/docs/decisions/0018-the-last-call.md)).
`
}

/** @param {Result} result */
export async function comparisonSvg(result) {
  const { init } = await import('echarts')
  const rows = Object.keys(result.ratios).reverse()
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: 860, height: 90 + rows.length * 34 })
  chart.setOption({
    animation: false,
    backgroundColor: '#ffffff',
    legend: { top: 8, left: 8, itemGap: 40 },
    grid: { left: 290, right: 30, top: 44, bottom: 40 },
    xAxis: { type: 'value', name: 'CPU, Go is 1', nameLocation: 'middle', nameGap: 26, min: 0 },
    yAxis: { type: 'category', data: rows, axisTick: { show: false } },
    series: NODES.map((name, index) => ({
      name,
      type: 'bar',
      color: ['#9dc3f0', '#1f6feb'][index],
      data: rows.map((row) => Number((result.ratios[row]?.[name]?.median ?? 0).toFixed(3))),
      ...(index === 0 && {
        markLine: {
          symbol: 'none',
          silent: true,
          lineStyle: { color: '#c2410c', type: 'dashed' },
          label: { formatter: 'Go' },
          data: [{ xAxis: 1 }],
        },
      }),
    })),
  })
  const svg = chart.renderToSVGString()
  chart.dispose()
  return `${svg}\n`
}
