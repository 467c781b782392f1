// @ts-check
// `npm run test:clients`, with Go and a JDK on the machine for their clients (CI runs some of them): what clients of several kinds, as they are, lose at a stop: each asks with some lanes, and pauses of up to 40 ms,
// until its server, which got a real SIGTERM, is gone. Beside quiesce, what node's own `server.close()` costs.
//
//   --ends 10              of each client, server, protocol and delay
//   --client go,curl       some of them
//   --protocol h2          some protocols
//   --delay 0              some delays from SIGTERM to the close, in milliseconds
//   --server quiesce,go    some of quiesce, server.close() and go, which is Go's net/http
//   --method GET           one method
//   --jobs 1               ends at a time
//   --write                keeps the results in scripts/clients/results.json, of which the tables of the documents are made
//   --at-most 0            fails when the clients of quiesce have lost more requests than that
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { keepResults } from './clients/tables.mjs'
import { givenArguments, refuseUsage, wholeNumber } from './usage.mjs'

const { values } = givenArguments({
  options: {
    ends: { type: 'string', default: '10' },
    client: { type: 'string' },
    protocol: { type: 'string' },
    delay: { type: 'string', default: '0,500' },
    server: { type: 'string', default: 'quiesce,server.close()' },
    method: { type: 'string', default: 'GET,POST' },
    jobs: { type: 'string', default: '1' },
    write: { type: 'boolean' },
    'at-most': { type: 'string' },
  },
})
const endsOfEach = wholeNumber('--ends', values.ends, 1)
const jobs = wholeNumber('--jobs', values.jobs, 1)

const folder = mkdtempSync(join(tmpdir(), 'quiesce-clients-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const pathOf = (/** @type {string} */ name) => fileURLToPath(new URL(`clients/${name}`, import.meta.url))
const nodeClient = (/** @type {string} */ kind, { node = process.execPath, pauseMs = 40 } = {}) => [
  node,
  pathOf('node-client.mjs'),
  kind,
  String(pauseMs),
]
const HTTP1 = ['HTTP/1.1', 'HTTPS']

/** @type {Record<string, { lanes: number, protocols: readonly string[], command: () => string[] }>} */
const CLIENTS = {
  'agent, 10': { lanes: 10, protocols: HTTP1, command: () => nodeClient('agent') },
  'undici, 1': { lanes: 1, protocols: ['h2'], command: () => nodeClient('undici') },
  'undici, 10': { lanes: 10, protocols: [...HTTP1, 'h2'], command: () => nodeClient('undici') },
  'session, 1': { lanes: 1, protocols: ['h2'], command: () => nodeClient('session') },
  'session, 10': { lanes: 10, protocols: ['h2'], command: () => nodeClient('session') },
  'session, 10 without a pause': { lanes: 10, protocols: ['h2'], command: () => nodeClient('session', { pauseMs: 0 }) },
  'fetch 26, 10': { lanes: 10, protocols: [...HTTP1, 'h2'], command: () => nodeClient('fetch', { node: node26() }) },
  'go, 10': { lanes: 10, protocols: [...HTTP1, 'h2'], command: () => [goClient()] },
  'java, 10': { lanes: 10, protocols: [...HTTP1, 'h2'], command: () => ['java', '-cp', javaClient(), 'Client'] },
  'curl, 2': { lanes: 2, protocols: [...HTTP1, 'h2'], command: () => [process.execPath, pathOf('curl.mjs')] },
}

/** @param {() => string} make */
function lazily(make) {
  /** @type {string | undefined} */
  let made
  return () => (made ??= make())
}
/** @param {string} program @param {readonly string[]} args */
function run(program, args) {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`)
  return stdout.trim()
}
const node26 = lazily(() => run('npx', ['-y', '-p', 'node@26', '--', 'node', '-p', 'process.execPath']))
const built = (/** @type {string[]} */ ...sources) => {
  const binary = join(folder, (sources[0] ?? '').replace('.', '-'))
  run(spawnSync('go', ['version']).status === 0 ? 'go' : '/usr/local/go/bin/go', ['build', '-o', binary, ...sources.map(pathOf)])
  return binary
}
const goClient = lazily(() => built('client.go'))
const goServer = lazily(() => built('server.go', 'works.go'))
const javaClient = lazily(() => {
  run('javac', ['-d', folder, pathOf('Client.java')])
  return folder
})

/** @param {string | undefined} text @param {readonly string[]} all */
const chosen = (text, all) => (text === undefined ? all : all.filter((name) => text.split(',').some((part) => name.startsWith(part))))
const BEFORE_MS = 500
const env = { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' }

/** @param {{ client: string, server: string, protocol: string, delay: number, method: string }} cell */
async function end({ client, server: who, protocol, delay, method }) {
  const [own = '', ...ownArgs] = who === 'go' ? [goServer()] : [process.execPath, pathOf('server.mjs')]
  const server = spawn(own, [...ownArgs, JSON.stringify({ who, protocol, delay })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const over = once(server, 'exit')
  const [port] = await once(createInterface(server.stdout), 'line')
  const url = `${protocol === 'HTTP/1.1' ? 'http' : 'https'}://127.0.0.1:${port}/`
  const { lanes, command } = /** @type {(typeof CLIENTS)[string]} */ (CLIENTS[client])
  const [program = '', ...args] = command()
  const asking = spawn(program, [...args, url, String(lanes), method], { stdio: ['ignore', 'pipe', 'inherit'], env })
  const lines = createInterface(asking.stdout)
  await once(lines, 'line')
  await new Promise((resolve) => setTimeout(resolve, BEFORE_MS))
  const begun = performance.now()
  server.kill('SIGTERM')
  const last = once(lines, 'line')
  const [code, signal] = await over
  const ms = Math.round(performance.now() - begun) - delay
  const [line] = await last
  asking.kill()
  return { exit: code ?? signal, ms, .../** @type {{ asked: number, lost: Record<string, number> }} */ (JSON.parse(line)) }
}

const cells = chosen(values.protocol, ['HTTP/1.1', 'HTTPS', 'h2']).flatMap((protocol) =>
  chosen(values.client, Object.keys(CLIENTS))
    .filter((client) => CLIENTS[client]?.protocols.includes(protocol))
    .flatMap((client) =>
      values.method.split(',').flatMap((method) =>
        values.delay
          .split(',')
          .map(Number)
          .flatMap((delay) => values.server.split(',').map((server) => ({ protocol, client, method, delay, server }))),
      ),
    ),
)
if (cells.length === 0)
  refuseUsage(
    `--client, --protocol: got what names no client that speaks it, allowed: ${Object.keys(CLIENTS).join(', ')}; HTTP/1.1, HTTPS, h2`,
  )
const queue = [...cells]
let lostByQuiesce = 0
/** @type {import('./clients/tables.mjs').Result[]} */
const results = []
async function work() {
  for (let cell = queue.shift(); cell; cell = queue.shift()) {
    const ends = []
    for (let count = 0; count < endsOfEach; count++) ends.push(await end(cell))
    const counts = ends.map(({ lost }) => Object.values(lost).reduce((sum, n) => sum + n, 0))
    if (cell.server === 'quiesce') lostByQuiesce += counts.reduce((sum, n) => sum + n, 0)
    results.push({
      ...cell,
      ends: ends.length,
      lost: counts.reduce((sum, n) => sum + n, 0),
      endsWithLoss: counts.filter((n) => n > 0).length,
    })
    const whys = new Set(ends.flatMap(({ lost }) => Object.keys(lost)))
    const times = ends.map(({ ms }) => ms).sort((a, b) => a - b)
    console.log(
      `${cell.protocol}, ${cell.client}, ${cell.method}, ${cell.delay} ms, ${cell.server}: lost ${counts.join(' ')} of ${ends.reduce((sum, { asked }) => sum + asked, 0)}; exits ${[...new Set(ends.map(({ exit }) => exit))].join()}; ${times[times.length >> 1]} ms; ${[...whys].join('; ')}`,
    )
  }
}
await Promise.all(Array.from({ length: jobs }, work))
if (values.write) keepResults(results)
const atMost = values['at-most']
if (atMost !== undefined) {
  const holds = cells.length > 0 && lostByQuiesce <= Number(atMost)
  console.log(`${lostByQuiesce} requests lost by clients of quiesce, at most ${atMost}: ${holds ? 'passed' : 'FAILED'}`)
  if (!holds) process.exitCode = 1
}
