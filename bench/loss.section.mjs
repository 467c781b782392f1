// @ts-check
// What clients lose when a server leaves.
import { fact, rowOf, tableOf } from './verdict.mjs'

/** @typedef {import('./loss.mjs').LossResult} LossResult @typedef {import('./loss.mjs').CellResult} CellResult */

const OURS = 'quiesce, defaults'
const LABELS = { 'HTTP/1.1': 'HTTP/1.1', HTTPS: 'HTTPS', h2: 'HTTP/2' }
const WORKS = {
  GET: 'GET',
  POST: 'POST',
  upload: 'upload of 5 MB',
  events: 'event stream, resumed',
  stream: 'answer of a model, 6 s',
  websocket: 'WebSocket echo',
}

/** Clients with a loss at each link. @param {readonly CellResult[]} cells */
const losersText = (cells) =>
  cells.length === 0
    ? ''
    : [...cells]
        .sort((a, b) => a.link - b.link)
        .map(({ losers }) => losers)
        .join(' · ')

/** @param {readonly CellResult[]} cells @param {string} protocol @param {(server: string) => string} [exit] */
function tableFor(cells, protocol, exit) {
  const of = cells.filter((cell) => cell.protocol === protocol)
  const works = Object.entries(WORKS).filter(([work]) => of.some((cell) => cell.work === work))
  const rows = [...new Set(of.map(({ server }) => server))]
    .sort(byOurs)
    .map((server) => [
      server,
      ...works.map(([work]) => losersText(of.filter((cell) => cell.server === server && cell.work === work))),
      ...(exit ? [exit(server)] : []),
    ])
  return tableOf(['', ...works.map(([, label]) => label), ...(exit ? ['longest end of GET and POST, of the rest'] : [])], rows)
}

/** @param {string} a @param {string} b */
const byOurs = (a, b) => Number(b.startsWith('quiesce')) - Number(a.startsWith('quiesce')) || a.localeCompare(b)

/** @param {readonly CellResult[]} cells @param {'crossed' | 'broken' | 'again' | 'refusedUntold' | 'neverAccepted'} what */
function whoseText(cells, what) {
  const sums = [...new Set(cells.map(({ server }) => server))]
    .sort(byOurs)
    .map((server) => [server, cells.filter((cell) => cell.server === server).reduce((sum, cell) => sum + cell[what], 0)])
  return (
    sums
      .filter(([, sum]) => sum !== 0)
      .map(([server, sum]) => `${server} ${sum}`)
      .join('; ') || 'none'
  )
}

/** @param {LossResult} result */
function markdown(result) {
  const { absent, cells, clientsPerLink, ends, late, rolled, rounds, spoiled } = result
  const exit = (/** @type {string} */ protocol) => (/** @type {string} */ server) =>
    ends
      .filter((end) => end.server === server && end.protocol === protocol)
      .sort((a, b) => a.works.localeCompare(b.works))
      .map(({ exits, longestMs }) => `${(longestMs / 1000).toFixed(1)} s${'SIGKILL' in exits ? ', killed' : ''}`)
      .join(', ')
  const missing = Object.entries(absent).map(([name, why]) => `${name}: ${why.split('\n')[0]}`)
  return `A server gets a real SIGTERM while clients that never retry go on; then three servers behind HAProxy are replaced one after the other. Only the clients' own record counts.

- **Numbers** are clients with at least one loss, over links of 1 · 15 · 50 ms each way. Each number is of ${clientsPerLink * rounds} clients${rounds > 1 ? ` in ${rounds} rounds` : ''}, so that the three make about ${Math.round((clientsPerLink * 3) / 10) * 10} at a time. A 0 of three hundred would say less than 1 % (95 %), and one of ${clientsPerLink * rounds} less than ${Math.ceil(100 * (1 - 0.05 ** (1 / (clientsPerLink * rounds))))} %.
- **GET, POST, upload**: a request is lost if the server had accepted its connection and did not answer it in full. A 503 counts as lost, too, unless the server had asked that client to close its connection before. A connection that the server refuses is no loss. Over HTTP/2 a server can say that it has done nothing about a request; such a request is to be sent again, and is counted apart.
- **Event stream**: an event that never came, or came twice, after the client went on elsewhere with \`Last-Event-ID\`. A stream that was broken off and resumed whole is no loss.
- **Answer of a model**: an event stream that ends by itself and did not come whole.
- **WebSocket echo**: a message that was sent before the client had heard of a close as going away (1001, or 1012), and has no echo; or an upgrade that was not answered with 101. Messages that crossed the close on the wire count.
- **Uploads over HTTP/2**: node lets a client send 64 KiB before it has to hear that they were read, so that 5 MB over a link of 50 ms take it about as long as all of these servers have; what a deadline cuts is lost.
- **Servers**: quiesce with its defaults on \`node:http\`, \`node:https\` and \`node:http2\`. [The other libraries](../bench/peers.mjs) and Go's \`Server.Shutdown\` have 8 s, as quiesce has by default, and their applications end their event streams and WebSockets themselves. uvicorn ends with \`--timeout-graceful-shutdown 8\`, and gives an application no way to end its event streams. What does not claim HTTP/2 is not measured over it.
- **The end** is the longest from SIGTERM to the exit. Clients leave a server that goes on for as long as it is used after 2 s (GET and POST) or 9 s (the rest); so a server that keeps its connections loses nothing, and does not end either.

${Object.entries(LABELS)
  .filter(([protocol]) => cells.some((cell) => cell.protocol === protocol))
  .map(([protocol, label]) => `**${label}**, clients with a loss at 1 · 15 · 50 ms:\n\n${tableFor(cells, protocol, exit(protocol))}`)
  .join('\n\n')}

- Of the lost requests, those on connections that the server never accepted: ${whoseText(cells, 'neverAccepted')}. Go and uvicorn do not say which they accepted.
- Of the lost requests, those that a server refused (503) without having asked their clients to close before: ${whoseText(cells, 'refusedUntold')}.
- Of the lost messages, those that were on their way when the server closed their WebSocket as going away: ${whoseText(cells, 'crossed')}.
- Event streams that were broken off, and resumed: ${whoseText(cells, 'broken')}.
- Requests to be sent again: ${whoseText(cells, 'again')}.

${
  rolled.length === 0
    ? ''
    : `**Three behind HAProxy, replaced one after the other**, HTTP/1.1, clients with a loss at 1 · 15 · 50 ms, each of ${rolled[0]?.clients}:

${tableFor(rolled, 'HTTP/1.1')}

HAProxy asks for \`/readyz\` every 100 ms. The row with a \`shutdownDelay\` follows [the page on proxies](proxies.md). Event streams that were broken off, and resumed: ${whoseText(rolled, 'broken')}.`
}

${spoiled} rounds in which the process of the clients was over 100 ms late were played again; ${late} of those that count were late all the same.${missing.length > 0 ? ` Not measured: ${missing.join('; ')}.` : ''} Many more rounds of plain requests, with other clients, delays and loads: [what is lost](performance.md#what-is-lost). A longer run of this one: \`LOSS_CLIENTS=40 LOSS_ROUNDS=3 npm run bench -- loss\`.`
}

/** @type {import('./sections.mjs').Section<LossResult>} */
export const section = {
  name: 'loss',
  title: 'What clients lose',
  minutes: 13,
  packages: [
    'http-terminator',
    '@godaddy/terminus',
    'lightship',
    'stoppable',
    'http-graceful-shutdown',
    'close-with-grace',
    'fastify',
    'ws',
  ],
  run: async (how) => (await import('./loss.mjs')).measureLoss(how),
  rows: ({ cells }) =>
    Object.entries(LABELS).flatMap(([protocol, label]) =>
      Object.entries(WORKS).flatMap(([work, what]) => {
        const of = cells.filter((cell) => cell.server === OURS && cell.protocol === protocol && cell.work === work)
        const sum = (/** @type {'losers' | 'clients'} */ count) => of.reduce((total, cell) => total + cell[count], 0)
        const target = { atMost: 0 }
        return of.length === 0
          ? []
          : [rowOf(`${label}, ${what}, clients of ${sum('clients')} with a loss`, fact(sum('losers')), { target, digits: 0 })]
      }),
    ),
  markdown,
}
