// @ts-check
// A whole life: what a server costs from its start to its exit.
import { barsOf, COLOURS } from './chart.mjs'
import { rowsTable } from './document.mjs'
import { ATTACHED, CONTROL, OURS, PLAIN, SECOND } from './end-subjects.mjs'
import { fact, measuredText, rowOf, rowsOf, tableOf } from './verdict.mjs'

/** @typedef {import('./life.mjs').Life} Life */

/** Milliseconds. */
const TARGETS = { longestStep: 5, afterResponse: 20, starting: 3 }
/** How far the ends in 100 ms may be from the ideal, as a share of it. */
const OFF_IDEAL_MAX = 0.1

/** @param {Life & { readonly pace?: import('./pace.mjs').Pace }} result */
function rows({ subjects, watches, kept, pace }) {
  const [ours, control, second] = [subjects[ATTACHED], subjects[CONTROL], subjects[SECOND]]
  const ms = (/** @type {number} */ atMost) => ({ unit: ' ms', digits: 1, target: { atMost }, pace })
  const withoutTarget = { unit: ' ms', digits: 1 }
  return [
    ...rowsOf('CPU of a whole life, attached, times that of `server.close()`', ours?.ofPlain),
    ...rowsOf('the same: A/A', control?.ofPlain),
    ...rowsOf('CPU of the end, attached', ours?.end, withoutTarget),
    ...rowsOf('longest step of the event loop in the end, attached', ours?.longestStep, ms(TARGETS.longestStep)),
    ...rowsOf('last response to exit, attached', ours?.afterResponse, ms(TARGETS.afterResponse)),
    ...rowsOf(`end with ${kept} idle connections, attached: signal to exit`, ours?.keptExit, withoutTarget),
    ...rowsOf('CPU of a second start in a process', second?.starting, ms(TARGETS.starting)),
    ...watches.flatMap(({ count, protocol, whole, offIdeal }) => [
      rowOf(`${count} watches, ${protocol}: ended whole, or closed with 1001`, fact(whole), { digits: 0, target: { atLeast: count } }),
      rowOf(`${count} watches, ${protocol}: ends in 100 ms, off the ideal line by a share of`, offIdeal, {
        target: { atMost: OFF_IDEAL_MAX },
      }),
    ]),
  ]
}

/** @param {Life} result */
function markdown(result) {
  const { subjects, watches, kept, idleS } = result
  return `Each server is started, idles for ${idleS} s and is ended by SIGTERM with one idle connection, in processes of its own: quiesce attached to a server and created with a Hono app, node's own \`server.close()\`, and [the other libraries](https://github.com/quiesce/quiesce/blob/main/bench/peers.mjs). *Second life* is a process that has ended a life before. CPU is the processor time of the whole process, its start with what it loads.

${rowsTable('', rows(result))}

![CPU of a whole life](images/life.svg)

${tableOf(
  ['ms of CPU', 'a whole life', 'times `server.close()`', 'its start', `${idleS} s of idling`, 'its end'],
  Object.entries(subjects).map(([name, { life, ofPlain, start, idle, end }]) => [
    name,
    measuredText(life, 0),
    name === PLAIN ? '1' : measuredText(ofPlain),
    measuredText(start, 0),
    measuredText(idle, 0),
    measuredText(end, 1),
  ]),
)}

How it ends: the longest step of the event loop, the time from the response to a request that is in flight at the signal to the exit, and an end with ${kept} idle connections. quiesce keeps idle connections for the last call, 300 ms, in which requests on their way get their answers.

${tableOf(
  ['ms', 'longest step', 'last response to exit', `CPU of the end with ${kept} idle connections`, 'signal to exit then'],
  Object.entries(subjects).map(([name, { longestStep, afterResponse, keptEnd, keptExit }]) => [
    name,
    longestStep ? measuredText(longestStep, 1) : '',
    measuredText(afterResponse, 1),
    measuredText(keptEnd, 1),
    measuredText(keptExit, 0),
  ]),
)}

### Watches

The crowd over HTTP/1.1 has four kinds of clients, a quarter of each: event streams, chunked watches, WebSockets of the package \`ws\`, and WebSockets whose handler writes its own frames. That over HTTP/2 has the first two, a hundred on each connection. The server tells them to end one after the other during the first half of the grace, so that they do not all come back to other servers at once. The numbers are from the clients' own record.

${tableOf(
  [
    'watches',
    'protocol',
    'grace',
    'ended whole',
    'last end',
    'ideal in 100 ms',
    'least and most in 100 ms, but the last',
    'memory open',
    'at most',
    'exit code',
  ],
  watches.map((one) => {
    const bins = one.endsPer100Ms.slice(0, -1)
    return [
      one.count,
      one.protocol,
      `${one.graceMs / 1000} s`,
      one.whole,
      `${(one.lastEndMs / 1000).toFixed(2)} s`,
      one.idealPer100Ms,
      `${Math.min(...bins)} to ${Math.max(...bins)}`,
      `${one.openMb.toFixed(0)} MB`,
      `${one.mostMb.toFixed(0)} MB`,
      one.exitCode,
    ].map(String)
  }),
)}

${watches.map((one) => `![${one.count} watches, ${one.protocol}: ends in each 100 ms](images/watches${suffixOf(watches, one)}.svg)`).join('\n\n')}`
}

/** The first crowd has the plain name; both protocols may have a crowd of one size. @param {Life['watches']} watches @param {Life['watches'][number]} one */
const suffixOf = (watches, one) => (watches[0] === one ? '' : `-${one.count}-${one.protocol === 'HTTP/2' ? 'http2' : 'http1'}`)

/** @param {import('./mixed-watches.mjs').Watches} watches @returns {import('./chart.mjs').Picture} */
const endsPicture = ({ count, protocol, endsPer100Ms, idealPer100Ms }) => ({
  width: 860,
  height: 280,
  option: {
    title: {
      text: `${count} watches over ${protocol}: ends in each 100 ms, by their clients`,
      left: 8,
      top: 8,
      textStyle: { fontSize: 14 },
    },
    grid: { left: 60, right: 60, top: 44, bottom: 44 },
    xAxis: {
      type: 'category',
      name: 'seconds since the first end',
      nameLocation: 'middle',
      nameGap: 28,
      data: endsPer100Ms.map((_, index) => (index / 10).toFixed(1)),
    },
    yAxis: { type: 'value' },
    series: [
      {
        type: 'bar',
        color: COLOURS.ours,
        data: [...endsPer100Ms],
        markLine: {
          symbol: 'none',
          lineStyle: { color: COLOURS.target, type: 'dashed' },
          label: { formatter: 'ideal' },
          data: [{ yAxis: idealPer100Ms }],
        },
      },
    ],
  },
})

/** @param {Life} result @returns {Record<string, import('./chart.mjs').Picture>} */
const pictures = ({ subjects, watches, idleS }) => ({
  life: barsOf({
    title: `CPU of a whole life, with ${idleS} s of idling`,
    unit: 'ms',
    bars: Object.entries(subjects).map(([name, { life }]) => ({
      name,
      value: life.median,
      interval: life.interval,
      colour: OURS.includes(name) ? COLOURS.ours : name === CONTROL ? COLOURS.control : COLOURS.others,
    })),
  }),
  ...Object.fromEntries(watches.map((one) => [`watches${suffixOf(watches, one)}`, endsPicture(one)])),
})

/** @type {import('./sections.mjs').Section<Life>} */
export const section = {
  name: 'life',
  title: 'A whole life',
  minutes: 9,
  packages: [
    'http-terminator',
    '@godaddy/terminus',
    'lightship',
    'stoppable',
    'http-graceful-shutdown',
    'fastify',
    'close-with-grace',
    'hono',
    '@hono/node-server',
  ],
  run: async (how) => (await import('./life.mjs')).measureLife(how),
  rows,
  markdown,
  pictures,
}
