// @ts-check
// Serving: CPU and latency of requests, with and without something that tracks them.
import { COLOURS } from './chart.mjs'
import { rowsTable } from './document.mjs'
import { AGAIN, OURS, PROTOCOLS, ROUTES, SUBJECTS, TRACKING } from './serving.mjs'
import { measuredText, rowsOf, tableOf } from './verdict.mjs'

/** @typedef {import('./serving.mjs').Serving} Serving */
/** @typedef {import('./serving.mjs').Route} Route */

/** Of the throughput of the same server alone. @type {Record<string, number>} */
const THROUGHPUT_MIN = { 'HTTP/1.1': 0.97, HTTPS: 0.96 }
const routes = /** @type {Route[]} */ (Object.keys(ROUTES))

/** @param {Serving} result @param {string} protocol @param {Route} route @param {string} subject */
const cellAt = ({ cells }, protocol, route, subject) => cells[protocol]?.[route]?.[subject]

/** @param {Serving} result */
function rows(result) {
  const ofNode = PROTOCOLS.flatMap((protocol) =>
    routes.flatMap((route) => {
      const [ours, again] = [OURS, AGAIN].map((subject) => cellAt(result, protocol, route, subject)?.throughput)
      const title = `${protocol}, ${ROUTES[route].title}`
      const target = { atLeast: THROUGHPUT_MIN[protocol] ?? 1 }
      return [
        ...rowsOf(`${title}: throughput, as a share of node alone`, ours, { target, digits: 3 }),
        ...rowsOf(`${title}: A/A`, again, { digits: 3 }),
      ]
    }),
  )
  const ofPeers = PROTOCOLS.flatMap((protocol) =>
    TRACKING.flatMap((subject) => {
      const share = cellAt(result, protocol, 'trivial', subject)?.ofOurs
      return rowsOf(`${protocol}, ${ROUTES.trivial.title}: CPU, as a share of ${subject}'s`, share, { target: { atMost: 1 }, digits: 3 })
    }),
  )
  return [...ofNode, ...ofPeers]
}

/** @param {import('./statistics.mjs').Summary | undefined} summary */
const ms = (summary) => (summary ? measuredText(summary, 2) : '')

/** @param {Serving} result @param {string} protocol */
const table = (result, protocol) =>
  tableOf(
    [protocol, 'CPU, µs for each', 'throughput of node alone', 'p50, ms', 'p99, ms', 'p99.9, ms'],
    routes.flatMap((route) =>
      SUBJECTS.map((subject) => {
        const cell = cellAt(result, protocol, route, subject)
        const { p50, p99, p999 } = cell?.latencyMs ?? {}
        const share = cell?.throughput ? measuredText(cell.throughput, 3) : '1'
        return [`${ROUTES[route].title}, ${subject}`, cell ? measuredText(cell.cpuUs, 1) : '', share, ms(p50), ms(p99), ms(p999)]
      }),
    ),
  )

/** @param {Serving} result */
function markdown(result) {
  const sent = routes.map((route) => `${result.counts[route]} requests for ${ROUTES[route].title} at ${result.rates[route]} a second`)
  return `One listener of node, alone, attached to quiesce with its health paths, and with each library that tracks requests.

- **Open loop**: ${result.connections} kept connections; when each request is due is drawn before the first is sent (exponential gaps, the same for all servers), and its latency counts from then, whether or not a connection was free. The clients' process sent its latest request ${measuredText(result.latestMs, 1)} ms late by its own fault.
- **CPU** is that of the server's process for each request. Throughput is the inverse: the CPU of node alone as a share of the server's own.
- **${result.generations} generation${result.generations === 1 ? '' : 's'}** of processes, each with ${sent.join(', ')}, in ${result.rounds} rounds in which each server has its turn; a generation gives one measurement, since a process keeps the luck of where its memory lies. Servers run on one core, clients on the other. Each server holds some 7 MB of objects, as an application does. Without them node alone would have less than 8 MB of heap, and V8 then does not collect it because of what lies outside of it, such as the chunks of an upload. The C library keeps what they free (\`MALLOC_TRIM_THRESHOLD_\`): whether it would give memory back to the kernel after each upload is luck, too, and would make one in three processes spend half as much again on uploads.

${rowsTable('', rows(result))}

![CPU of a request to a trivial route](images/serving.svg)

${PROTOCOLS.map((protocol) => table(result, protocol)).join('\n\n')}`
}

/** @param {Serving} result @returns {Record<string, import('./chart.mjs').Picture>} */
const pictures = (result) => ({
  serving: {
    width: 860,
    height: 370,
    option: {
      legend: { top: 8, left: 8, itemGap: 30 },
      grid: { left: 210, right: 60, top: 44, bottom: 40 },
      xAxis: { type: 'value', name: 'CPU of a request to a trivial route, µs', nameLocation: 'middle', nameGap: 26, min: 0 },
      yAxis: { type: 'category', data: [...SUBJECTS].reverse(), axisTick: { show: false } },
      series: PROTOCOLS.map((protocol, index) => ({
        name: protocol,
        type: 'bar',
        color: [COLOURS.ours, COLOURS.second][index] ?? '',
        label: { show: true, position: 'right' },
        data: [...SUBJECTS].reverse().map((subject) => Number(cellAt(result, protocol, 'trivial', subject)?.cpuUs.median.toFixed(1))),
      })),
    },
  },
})

/** @type {import('./sections.mjs').Section<Serving>} */
export const section = {
  name: 'serving',
  title: 'Serving',
  minutes: 16,
  packages: ['stoppable', '@godaddy/terminus', 'http-graceful-shutdown'],
  run: async (how) => (await import('./serving.mjs')).measureServing(how),
  rows,
  markdown,
  pictures,
}
