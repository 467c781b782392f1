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
    return `| ${[row, us(byServer[GO]), ratio(ratios[GO_AGAIN]), ...ours].join(' | ')} |`
  })
  const [, go] = /go(\d\S*)/.exec(result.versions.go) ?? []
  const names = [GO, ...NODES]
  return `# Beside the generic API server of Kubernetes

<!-- Generated from bench/results/upstream.json by npm run generate; do not edit. -->

What a request costs the server's process, here and in the library that this one is modelled on. In a checkout of the repository \`npm run bench:upstream\` repeats it: it needs Go, and a quarter of an hour on a machine that does nothing else. Measured on ${result.date} at commit ${result.commit}:
${result.machine}, k8s.io/apiserver ${result.versions.apiserver} built with Go ${go}, Node ${result.versions.node20.slice(1)} and ${result.versions.node24.slice(1)}.

- **Both servers** speak HTTPS with one certificate, know their user by a token from a file, ask an authorizer that looks for one group, and have the resource \`flunders\` of upstream's sample server in memory. Where it says *audited*, each request makes two events of level Metadata, which are written in batches of 400. Everything else is a default of either.
- **Upstream's resource** is its generic registry over its watch cache over a map: no disk and no etcd. It keeps managed fields of every object, which this server does not: a list of 500 is ${result.listBytes[GO]} bytes there and ${result.listBytes[NODES[1]]} here.
- **CPU** is what the kernel counts for the whole process, all threads and the collection of garbage included. Each server has one core, the clients the other. The servers are asked in turns, ${result.rounds} rounds in another order each; the tables have medians.
- **A ratio** is made in each round. In brackets is where the median of as many rounds as one likes lies, with 95 % confidence. *Go again* is a second process of the same program: what it differs by is noise.
- **A target** is met when all of that interval is below it, missed when all of it is above, and open otherwise.

![CPU per request, as a ratio to Go](images/upstream.svg)

## CPU, in microseconds

| | Go | Go again | Node 20 | of Go | target | Node 24 | of Go | target |
|---|---|---|---|---|---|---|---|---|
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

The end of Go's server closes idle connections at once; this one keeps its listener for a last call, so that connections in the accept queue are answered ([decision 18](https://github.com/quiesce/quiesce/blob/main/docs/decisions/0018-the-last-call.md)).
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
