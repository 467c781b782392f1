// @ts-check
// What requests cost this API server beside the generic API server of Kubernetes itself (upstream/main.go, which needs Go):
// the same paths over HTTPS, a token, an authorizer, an audit log in batches, and one resource in memory, under upstream's own watch cache there.
// Each server is a process, they are asked in turns and in another order each round, and one of each kind runs twice: what those two differ by is
// noise. An HTTPS server of node without any library (upstream/node.mjs) shows what of it is node's own. CPU is the kernel's count for the whole
// process.
import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { shuffled } from './in-turns.mjs'
import { summarize } from './statistics.mjs'
import { KEPT, made, numbers, OBJECTS, PROTOCOLS, ROWS } from './upstream/rows.mjs'
import { Server } from './upstream/server.mjs'
import { collection, TOKENS_CSV } from './upstream/setting.mjs'

const WRITES = 40
const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url))

const newLoad = () => fork(here('upstream/load.mjs'), [], { execPath: 'taskset', execArgv: ['-c', '1', process.execPath] })
/** The clients of all servers. @type {ReturnType<typeof newLoad>} */
let load

/** @param {object} question @returns {Promise<any>} */
async function clients(question) {
  const answered = once(load, 'message')
  load.send(question)
  const [answer] = await answered
  if (answer.error) throw new Error(answer.error)
  return answer
}

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

/** Microseconds of CPU for an event and a watch. @param {Server} server @param {'HTTP/1.1' | 'HTTP/2'} protocol @param {number} watchers */
async function measureWatches(server, protocol, watchers) {
  const list = JSON.parse((await server.answer('GET', `${collection(KEPT)}?limit=1`)).text)
  await clients({
    what: 'watch',
    port: server.port,
    protocol,
    path: collection(KEPT),
    version: list.metadata.resourceVersion,
    count: watchers,
  })
  await sleep(200)
  const before = server.cpuUs()
  // One after the other: each write is an event for all watches.
  for (let write = 0; write < WRITES; write++) {
    const one = { method: 'PATCH', path: `${collection(KEPT)}/f2`, body: `{"spec":{"reference":"w${numbers(1)}"}}`, status: 200, count: 1 }
    await clients({ what: 'requests', port: server.port, protocol: 'HTTP/1.1', type: 'application/merge-patch+json', ...one })
  }
  await clients({ what: 'heard', events: WRITES * watchers })
  const us = (server.cpuUs() - before) / WRITES / watchers
  await clients({ what: 'leave' })
  return us
}

const summaries = (/** @type {Record<string, number[]>} */ byServer) =>
  Object.fromEntries(Object.entries(byServer).map(([name, values]) => [name, summarize(values)]))
/** It has the path and the watches, and no resource. @param {{ kind: string }} kind @param {string} row */
const canAnswer = ({ kind }, row) => kind !== 'alone' || row.startsWith('GET of a path')

/** A certificate, its key, and the users. @returns {import('./upstream/server.mjs').Files} */
function newFiles() {
  const folder = mkdtempSync(join(tmpdir(), 'quiesce-upstream-'))
  const [cert, key, tokens] = [join(folder, 'cert.pem'), join(folder, 'key.pem'), join(folder, 'tokens.csv')]
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
  return { folder, cert, key, tokens }
}

/** @param {{ quick: boolean, say: (line: string) => void }} how */
export async function measureUpstream({ quick, say }) {
  const rounds = quick ? 2 : 9
  const scaled = (/** @type {number} */ count) => (quick ? Math.ceil(count / 10) : count)
  const watchers = scaled(500)
  const watchRow = `event, for each of ${watchers} watches`
  const files = newFiles()
  load = newLoad()
  const go = join(files.folder, 'server')
  say('building upstream’s server')
  execFileSync('go', ['build', '-o', go, '.'], { cwd: here('upstream'), stdio: 'inherit' })
  const node24 = execFileSync('npx', ['-y', '-p', 'node@24', 'which', 'node'], { encoding: 'utf8' }).trim()

  const quiesce = here('upstream/quiesce.mjs')
  /** @type {readonly Omit<import('./upstream/server.mjs').Kind, 'isAudited'>[]} */
  const KINDS = [
    { name: 'Go', kind: 'go', command: [go] },
    { name: 'Go again', kind: 'go', command: [go] },
    { name: 'quiesce, Node 20', kind: 'node', command: [process.execPath, quiesce] },
    { name: 'quiesce, Node 24', kind: 'node', command: [node24, quiesce] },
    { name: 'quiesce, Node 24 again', kind: 'node', command: [node24, quiesce] },
    { name: 'Node 24 alone', kind: 'alone', command: [node24, here('upstream/node.mjs')] },
  ]
  /** @type {Server[]} */
  const servers = []
  for (const kind of KINDS) for (const isAudited of [false, true]) servers.push(await Server.start({ ...kind, isAudited }, files))
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
  for (let round = -1; round < rounds; round++) {
    say(round < 0 ? 'warming up' : `round ${round + 1} of ${rounds}`)
    for (const protocol of PROTOCOLS) {
      for (const row of ROWS)
        for (const server of shuffled(asked(row.audited).filter(({ kind }) => canAnswer(kind, row.name)))) {
          // The first round is for warming up: V8 compiles what is used often.
          const us = await measure(server, row, protocol, scaled(row.count) * (round < 0 ? row.warmUp : 1))
          if (round >= 0) note(`${row.name}, ${protocol}`, server, us)
        }
      for (const server of shuffled(asked(false))) {
        const us = await measureWatches(server, protocol, watchers)
        if (round >= 0) note(`${watchRow}, ${protocol}`, server, us)
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
  for (let round = 0; round < rounds; round++)
    for (const kind of shuffled(KINDS)) {
      const server = await Server.start({ ...kind, isAudited: false }, files)
      const { readyMs, endMs } = starts[kind.name] ?? { readyMs: [], endMs: [] }
      starts[kind.name] = { readyMs: [...readyMs, server.readyMs], endMs: [...endMs, await server.end()] }
    }
  load.disconnect()
  rmSync(files.folder, { recursive: true })

  return {
    versions: {
      Go: /go(\d\S*)/.exec(execFileSync('go', ['version'], { encoding: 'utf8' }))?.[1] ?? '',
      'k8s.io/apiserver': /k8s\.io\/apiserver v(\S+)/.exec(readFileSync(here('upstream/go.mod'), 'utf8'))?.[1] ?? '',
      'Node 24': execFileSync(node24, ['--version'], { encoding: 'utf8' }).trim().slice(1),
    },
    rounds,
    cpuUs: Object.fromEntries(Object.entries(measured).map(([row, byServer]) => [row, summaries(byServer)])),
    // Each round's ratio to the Go server of the same round.
    ratios: Object.fromEntries(
      Object.entries(measured).map(([row, byServer]) => [
        row,
        summaries(
          Object.fromEntries(
            Object.entries(byServer).map(([name, values]) => [
              name,
              values.map((us, round) => us / (byServer['Go']?.[round] ?? Number.NaN)),
            ]),
          ),
        ),
      ]),
    ),
    listBytes,
    memoryMiB: memory,
    readyMs: summaries(Object.fromEntries(Object.entries(starts).map(([name, { readyMs }]) => [name, readyMs]))),
    endMs: summaries(Object.fromEntries(Object.entries(starts).map(([name, { endMs }]) => [name, endMs]))),
  }
}
