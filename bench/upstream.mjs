// @ts-check
// `npm run bench:upstream`: what requests cost this API server beside the generic API server of Kubernetes itself (upstream/main.go, which needs Go):
// the same paths over HTTPS, a token, an authorizer, an audit log in batches, and one resource in memory, under upstream's own watch cache there.
// Each server is a process, they are asked in turns and in another order each round, and one of each kind runs twice: what those two differ by is
// noise. An HTTPS server of node without any library (upstream/node.mjs) shows what of it is node's own. CPU is the kernel's count for the whole
// process. The result goes to results/upstream.json, from which docs/comparison.md is written.
// `-- quick` for a look: two rounds of a tenth.
import { execFileSync, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { comparisonSvg } from './comparison.mjs'
import { shuffled } from './in-turns.mjs'
import { summarize } from './statistics.mjs'
import { collection, flunder, TOKEN, TOKENS_CSV } from './upstream/setting.mjs'

const isQuick = process.argv.includes('quick')
const ROUNDS = isQuick ? 2 : 6
const scaled = (/** @type {number} */ count) => (isQuick ? Math.ceil(count / 10) : count)
const OBJECTS = 500
const WATCHERS = scaled(500)
const WRITES = 40
const KEPT = 'kept'
const MADE = 'made'
const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'quiesce-upstream-'))
const [cert, key, tokens] = [join(folder, 'cert.pem'), join(folder, 'key.pem'), join(folder, 'tokens.csv')]

/** @typedef {{ name: string, kind: 'go' | 'node' | 'alone', command: readonly string[], isAudited: boolean }} Kind */
/** @typedef {import('./upstream/load.mjs').Requests} Requests */

/** A server in a process of its own. */
class Server {
  /** @param {Kind} kind @param {number} port @param {number} spawnedAt @param {import('node:child_process').ChildProcess} child */
  constructor(kind, port, spawnedAt, child) {
    this.kind = kind
    this.port = port
    this.child = child
    this.spawnedAt = spawnedAt
    this.readyMs = Number.NaN
  }

  /** @param {Kind} kind */
  static async start(kind) {
    const port = await freePort()
    const audit = kind.isAudited ? join(folder, `audit-${port}.log`) : ''
    const setting = { port, cert, key, tokens, audit }
    const args =
      kind.kind === 'go' ? Object.entries(setting).flatMap(([name, value]) => [`-${name}`, String(value)]) : [JSON.stringify(setting)]
    const spawnedAt = performance.now()
    const [program = '', ...rest] = ['taskset', '-c', '0', ...kind.command, ...args]
    const child = spawn(program, rest, { stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    child.stderr.on('data', (text) => {
      said = (said + text).slice(-5000)
    })
    child.on('exit', (code, signal) => {
      if (code !== 0 && signal !== 'SIGKILL') console.error(`${kind.name} ended with ${code ?? signal}:\n${said}`)
    })
    const server = new Server(kind, port, spawnedAt, child)
    while ((await server.ask('GET', '/readyz').catch(() => 0)) !== 200) {
      if (child.exitCode !== null) throw new Error(`${kind.name} did not start`)
      await sleep(5)
    }
    server.readyMs = performance.now() - spawnedAt
    return server
  }

  /** One request, for what is not measured. @param {string} method @param {string} path @param {object} [body] @returns {Promise<number | undefined>} */
  async ask(method, path, body) {
    return (await this.answer(method, path, body)).status
  }

  /** @param {string} method @param {string} path @param {object} [body] @returns {Promise<{ status: number | undefined, text: string }>} */
  answer(method, path, body) {
    return new Promise((resolve, reject) => {
      const headers = { Authorization: `Bearer ${TOKEN}`, ...(body && { 'Content-Type': 'application/json' }) }
      const asked = request(
        { port: this.port, host: '127.0.0.1', method, path, rejectUnauthorized: false, agent: false, headers },
        (answer) => {
          let text = ''
          answer.setEncoding('utf8').on('data', (chunk) => (text += chunk))
          answer.on('end', () => resolve({ status: answer.statusCode, text }))
          answer.on('error', reject)
        },
      )
      asked.on('error', reject).end(body && JSON.stringify(body))
    })
  }

  /** Microseconds of CPU so far, of all threads, in steps of 10 ms. */
  cpuUs() {
    const stat = readFileSync(`/proc/${this.child.pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10_000
  }

  /** Mebibytes in memory. */
  rss() {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.child.pid}/status`, 'latin1'))?.[1]) / 1024
  }

  /** Milliseconds from SIGTERM to the exit. */
  async end() {
    const begun = performance.now()
    this.child.kill('SIGTERM')
    await once(this.child, 'exit')
    return performance.now() - begun
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  server.close()
  return port
}

const load = fork(here('upstream/load.mjs'), [], { execPath: 'taskset', execArgv: ['-c', '1', process.execPath] })
/** @param {object} question @returns {Promise<any>} */
async function clients(question) {
  const answered = once(load, 'message')
  load.send(question)
  const [answer] = await answered
  if (answer.error) throw new Error(answer.error)
  return answer
}

const made = (/** @type {string} */ name) => JSON.stringify(flunder(name, 'one'))

let taken = 0
/** So many numbers that nothing else has, by the first of them. @param {number} count */
function numbers(count) {
  taken += count
  return taken - count
}

/**
 * What is measured: each gives the microseconds of CPU for one. Where it is given, `after` is not counted.
 * @type {readonly { name: string, audited: boolean, count: number, ask: (count: number) => Omit<Requests, 'what' | 'port' | 'protocol'>, after?: (server: Server) => Promise<unknown> }[]}
 */
const ROWS = [
  { name: 'GET of a path', audited: false, count: 10_000, ask: (count) => ({ method: 'GET', path: '/hello', count, status: 200 }) },
  { name: 'GET of a path, audited', audited: true, count: 10_000, ask: (count) => ({ method: 'GET', path: '/hello', count, status: 200 }) },
  {
    name: 'get',
    audited: false,
    count: 8_000,
    ask: (count) => ({ method: 'GET', path: `${collection(KEPT)}/f{}`, of: OBJECTS, count, status: 200 }),
  },
  {
    name: `list of ${OBJECTS}`,
    audited: false,
    count: 200,
    ask: (count) => ({ method: 'GET', path: collection(KEPT), count, status: 200 }),
  },
  {
    name: 'create',
    audited: false,
    count: 3_000,
    ask: (count) => ({
      method: 'POST',
      path: collection(MADE),
      body: made('m{n}'),
      type: 'application/json',
      from: numbers(count),
      count,
      status: 201,
    }),
    after: (server) => server.ask('DELETE', collection(MADE)),
  },
  {
    name: 'merge patch',
    audited: false,
    count: 4_000,
    ask: (count) => ({
      method: 'PATCH',
      path: `${collection(KEPT)}/f{}`,
      of: OBJECTS,
      body: '{"spec":{"reference":"r{n}"}}',
      type: 'application/merge-patch+json',
      from: numbers(count),
      count,
      status: 200,
    }),
  },
]
const PROTOCOLS = /** @type {const} */ (['HTTP/1.1', 'HTTP/2'])
const WATCH_ROW = `event, for each of ${WATCHERS} watches`

async function prepare(/** @type {Server} */ server) {
  await clients({
    what: 'requests',
    port: server.port,
    protocol: 'HTTP/1.1',
    method: 'POST',
    path: collection(KEPT),
    body: made('f{}'),
    type: 'application/json',
    count: OBJECTS,
    status: 201,
  })
}

/** Microseconds of CPU for each. @param {Server} server @param {typeof ROWS[number]} row @param {'HTTP/1.1' | 'HTTP/2'} protocol @param {number} count */
async function measure(server, row, protocol, count) {
  const before = server.cpuUs()
  await clients({ what: 'requests', port: server.port, protocol, ...row.ask(count) })
  const us = (server.cpuUs() - before) / count
  await row.after?.(server)
  return us
}

/** Microseconds of CPU for an event and a watch. @param {Server} server @param {'HTTP/1.1' | 'HTTP/2'} protocol */
async function measureWatches(server, protocol) {
  const list = JSON.parse((await server.answer('GET', `${collection(KEPT)}?limit=1`)).text)
  await clients({
    what: 'watch',
    port: server.port,
    protocol,
    path: collection(KEPT),
    version: list.metadata.resourceVersion,
    count: WATCHERS,
  })
  await sleep(200)
  const before = server.cpuUs()
  // One after the other: each write is an event for all watches.
  for (let write = 0; write < WRITES; write++) {
    const one = { method: 'PATCH', path: `${collection(KEPT)}/f2`, body: `{"spec":{"reference":"w${numbers(1)}"}}`, status: 200, count: 1 }
    await clients({ what: 'requests', port: server.port, protocol: 'HTTP/1.1', type: 'application/merge-patch+json', ...one })
  }
  await clients({ what: 'heard', events: WRITES * WATCHERS })
  const us = (server.cpuUs() - before) / WRITES / WATCHERS
  await clients({ what: 'leave' })
  return us
}

execFileSync(
  'openssl',
  [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-keyout',
    key,
    '-out',
    cert,
    '-days',
    '2',
    '-subj',
    '/CN=localhost',
    '-addext',
    'subjectAltName=DNS:localhost,IP:127.0.0.1',
  ],
  { stdio: 'pipe' },
)
writeFileSync(tokens, TOKENS_CSV)
const go = join(folder, 'server')
console.error('building upstream’s server')
execFileSync('go', ['build', '-o', go, '.'], { cwd: here('upstream'), stdio: 'inherit' })
const node24 = execFileSync('npx', ['-y', '-p', 'node@24', 'which', 'node'], { encoding: 'utf8' }).trim()

const quiesce = here('upstream/quiesce.mjs')
/** @type {readonly Omit<Kind, 'isAudited'>[]} */
const KINDS = [
  { name: 'Go', kind: 'go', command: [go] },
  { name: 'Go again', kind: 'go', command: [go] },
  { name: 'quiesce, Node 20', kind: 'node', command: [process.execPath, quiesce] },
  { name: 'quiesce, Node 24', kind: 'node', command: [node24, quiesce] },
  { name: 'quiesce, Node 24 again', kind: 'node', command: [node24, quiesce] },
  { name: 'Node 24 alone', kind: 'alone', command: [node24, here('upstream/node.mjs')] },
]
/** It has the path and the watches, and no resource. @param {{ kind: string }} kind @param {string} row */
const canAnswer = ({ kind }, row) => kind !== 'alone' || row === 'GET of a path'

/** @type {Server[]} */
const servers = []
for (const kind of KINDS)
  for (const isAudited of kind.kind === 'alone' ? [false] : [false, true]) servers.push(await Server.start({ ...kind, isAudited }))
for (const server of servers) await prepare(server)
const memory = Object.fromEntries(
  servers.filter(({ kind }) => !kind.isAudited).map((server) => [server.kind.name, { started: server.rss(), worked: 0 }]),
)

/** Which of them a row is asked. @param {boolean} audited */
const asked = (audited) => servers.filter(({ kind }) => kind.isAudited === audited)
/** @type {Record<string, Record<string, number[]>>} by row, then by server: microseconds */
const measured = {}
const note = (/** @type {string} */ row, /** @type {Server} */ server, /** @type {number} */ us) => {
  const ofRow = measured[row] ?? {}
  measured[row] = ofRow
  ofRow[server.kind.name] = [...(ofRow[server.kind.name] ?? []), us]
}
for (let round = -1; round < ROUNDS; round++) {
  // The first is for warming up: V8 compiles what is used often.
  const times = round < 0 ? 2 : 1
  console.error(round < 0 ? 'warming up' : `round ${round + 1} of ${ROUNDS}`)
  for (const protocol of PROTOCOLS) {
    for (const row of ROWS)
      for (const server of shuffled(asked(row.audited).filter(({ kind }) => canAnswer(kind, row.name)))) {
        const us = await measure(server, row, protocol, scaled(row.count) * times)
        if (round >= 0) note(`${row.name}, ${protocol}`, server, us)
      }
    for (const server of shuffled(asked(false))) {
      const us = await measureWatches(server, protocol)
      if (round >= 0) note(`${WATCH_ROW}, ${protocol}`, server, us)
    }
  }
}
for (const server of asked(false)) Object.assign(memory[server.kind.name] ?? {}, { worked: server.rss() })
/** @type {Record<string, number>} */
const listBytes = {}
for (const server of asked(false).filter(({ kind }) => kind.kind !== 'alone'))
  listBytes[server.kind.name] = Buffer.byteLength((await server.answer('GET', collection(KEPT))).text)
for (const server of servers) await server.end()

/** @type {Record<string, { readyMs: number[], endMs: number[] }>} */
const starts = {}
for (let round = 0; round < ROUNDS; round++)
  for (const kind of shuffled(KINDS)) {
    const server = await Server.start({ ...kind, isAudited: false })
    const { readyMs, endMs } = starts[kind.name] ?? { readyMs: [], endMs: [] }
    starts[kind.name] = { readyMs: [...readyMs, server.readyMs], endMs: [...endMs, await server.end()] }
  }
load.disconnect()
rmSync(folder, { recursive: true })

const summaries = (/** @type {Record<string, number[]>} */ byServer) =>
  Object.fromEntries(Object.entries(byServer).map(([name, values]) => [name, summarize(values)]))
const result = {
  date: new Date().toISOString().slice(0, 10),
  commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim(),
  machine: `${cpus().length} cores of ${cpus()[0]?.model}`,
  versions: {
    go: execFileSync('go', ['version'], { encoding: 'utf8' }).trim(),
    apiserver: /k8s\.io\/apiserver (v\S+)/.exec(readFileSync(here('upstream/go.mod'), 'utf8'))?.[1],
    node20: process.version,
    node24: execFileSync(node24, ['--version'], { encoding: 'utf8' }).trim(),
  },
  rounds: ROUNDS,
  cpuUs: Object.fromEntries(Object.entries(measured).map(([row, byServer]) => [row, summaries(byServer)])),
  // Each round's ratio to the Go server of the same round.
  ratios: Object.fromEntries(
    Object.entries(measured).map(([row, byServer]) => [
      row,
      summaries(
        Object.fromEntries(
          Object.entries(byServer).map(([name, values]) => [name, values.map((us, round) => us / (byServer['Go']?.[round] ?? Number.NaN))]),
        ),
      ),
    ]),
  ),
  listBytes,
  memoryMiB: memory,
  readyMs: summaries(Object.fromEntries(Object.entries(starts).map(([name, { readyMs }]) => [name, readyMs]))),
  endMs: summaries(Object.fromEntries(Object.entries(starts).map(([name, { endMs }]) => [name, endMs]))),
}
for (const [row, byServer] of Object.entries(result.cpuUs))
  console.log(
    `${row}: ${Object.entries(byServer)
      .map(([name, { median }]) => `${name} ${median.toFixed(1)} µs`)
      .join(', ')}`,
  )
if (!isQuick) {
  mkdirSync(here('results'), { recursive: true })
  writeFileSync(here('results/upstream.json'), `${JSON.stringify(result, undefined, 2)}\n`)
  writeFileSync(here('../docs/images/upstream.svg'), await comparisonSvg(/** @type {any} */ (result)))
}
console.log(JSON.stringify({ memory, readyMs: result.readyMs, endMs: result.endMs }))
