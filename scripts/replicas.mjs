// @ts-check
// `npm run test:replicas`: three API servers whose objects are in one etcd, behind HAProxy, replaced one after the other while clients write and read
// through it and never retry. Clients of Kubernetes watch meanwhile, each with a ledger: `kubectl get -w`, client-go's informer, and that of
// @kubernetes/client-node. It fails when a request is lost, a write that was answered is not there, a replica ends badly, or a client was not told of
// every event once and in order. Needs etcd, HAProxy, Go and kubectl. `-- --rounds 1` replaces each once; the default is three times.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createStore, etcdEngine, storageOver } from '../packages/apiserver/dist/index.js'
import { informer, kubectlGetWatch, until } from '../test/api-clients/ledgers.mjs'
import { entryOf, notes } from '../test/api-clients/notes.mjs'
import { clientPrograms } from '../test/api-clients/programs.mjs'
import { Writers } from '../test/api-clients/writers.mjs'
import { haproxy } from '../test/loss/proxies.mjs'
import { EtcdProcess } from '../test/support/etcd-process.mjs'
import { freePort } from '../test/support/free-port.mjs'
import { withUs } from '../test/support/with-us.mjs'
import { givenArguments, wholeNumber } from './usage.mjs'

const REPLICAS = 3
/** HAProxy looks each 100 ms, and has to be given a turn of a busy machine for it. */
const DELAY = '2s'
const PAUSE_MS = 20
/** Longer than any client waits before it comes again. */
const PATIENCE_MS = 120_000
const PROGRAM = fileURLToPath(new URL('../test/api-clients/etcd-replica.mjs', import.meta.url))

const { values } = givenArguments({ options: { rounds: { type: 'string', default: '3' } } })
const rounds = wholeNumber('--rounds', values.rounds, 1)
const folder = mkdtempSync(join(tmpdir(), 'quiesce-replicas-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

/** @type {string[]} */
const faults = []
let isOver = false

/** @param {number} port @param {string} etcd */
async function startReplica(port, etcd) {
  const child = withUs(
    spawn(process.execPath, [PROGRAM, JSON.stringify({ port, etcd, shutdownDelay: DELAY })], { stdio: ['ignore', 'pipe', 'inherit'] }),
  )
  const exit = once(child, 'exit')
  await Promise.race([
    once(child.stdout, 'data'),
    exit.then(([code, signal]) => Promise.reject(new Error(`a replica ended with ${code ?? signal} before it listened`))),
  ])
  return {
    /** @returns {Promise<number | string>} how it ended */
    async end() {
      child.kill('SIGTERM')
      const [code, signal] = await exit
      return signal ?? code
    },
  }
}

/** What the store has had, by a watch that none of the replicas has a hand in. @param {string} url */
async function follow(url) {
  const storage = storageOver(createStore(etcdEngine(url)), notes)
  /** @type {import('../test/api-clients/notes.mjs').Entry[]} */
  const written = []
  const { resourceVersion } = await storage.list({ namespace: '', matches: () => true, limit: undefined, at: undefined, start: '' })
  await storage.watch(
    resourceVersion,
    (event) => void written.push(entryOf(event)),
    (error) => void (isOver || faults.push(`the watch of what is written has ended: ${String(error)}`)),
  )
  return written
}

/** @param {readonly import('../test/api-clients/writers.mjs').Acknowledged[]} acknowledged @param {readonly import('../test/api-clients/notes.mjs').Entry[]} written */
function missing(acknowledged, written) {
  const there = new Set(written.map(({ type, name, version }) => `${type} ${name} at ${version}`))
  return acknowledged.map(({ type, name, version }) => `${type} ${name} at ${version}`).filter((each) => !there.has(each))
}

console.log('getting the clients')
const programs = clientPrograms(mkFolder('clients'))
const [goInformer, jsInformer] = [programs['go informer'](), programs['js informer']()]

function mkFolder(/** @type {string} */ name) {
  const path = join(folder, name)
  mkdirSync(path)
  return path
}

const etcd = await EtcdProcess.start()
const url = `etcd://${etcd.endpoint}/replicas`
const written = await follow(url)
const [port, http2Port, ...ports] = /** @type {[number, number, ...number[]]} */ (
  await Promise.all(Array.from({ length: REPLICAS + 2 }, freePort))
)
const replicas = await Promise.all(ports.map((each) => startReplica(each, url)))
const proxy = await haproxy({ folder: mkFolder('haproxy'), port, http2Port, replicas: ports })
for (const at of ports.keys()) await proxy.putBack(at)
const address = `http://127.0.0.1:${port}`

const writers = new Writers(port, PAUSE_MS)
await writers.create('first')
const ledgers = [
  kubectlGetWatch(process.env['KUBECTL'] ?? 'kubectl', address, mkFolder('kubectl')),
  informer('go informer', goInformer, address),
  informer('js informer', jsInformer, address),
]
try {
  for (const ledger of ledgers) await until(() => ledger.knows('first'), `the first event of ${ledger.name}`, ledgers, PATIENCE_MS)
  console.log(`${proxy.name}: ${REPLICAS} replicas, each replaced ${rounds} times`)
  writers.begin({ writers: 4, readers: 2 })
  for (let round = 0; round < rounds; round++)
    for (const [at, replicaPort] of ports.entries()) {
      const exit = await /** @type {(typeof replicas)[number]} */ (replicas[at]).end()
      if (exit !== 0) faults.push(`replica ${at} ended with ${exit}`)
      replicas[at] = await startReplica(replicaPort, url)
      await proxy.putBack(at)
    }
  await writers.end()
  await writers.create('last')
  await until(() => written.some(({ name }) => name === 'last'), 'the last event', ledgers, PATIENCE_MS)
  for (const ledger of ledgers) await until(() => ledger.knows('last'), `the last event of ${ledger.name}`, ledgers, PATIENCE_MS)
} catch (error) {
  faults.push(String(error))
}
isOver = true
for (const ledger of ledgers) await ledger.end()
await proxy.end()
await Promise.all(replicas.map((each) => each.end()))
await etcd.dispose()

console.log(
  `${writers.answered} requests answered, ${writers.lost.length} lost; ${writers.acknowledged.length} writes acknowledged, ${written.length} events`,
)
faults.push(...writers.lost, ...missing(writers.acknowledged, written).map((each) => `acknowledged and not there: ${each}`))
for (const ledger of ledgers) {
  const wrong = ledger.wrong(written)
  console.log(`${ledger.name}: ${wrong === '' ? ledger.summary() : 'wrong'}`)
  if (wrong !== '') faults.push(`${ledger.name}: ${wrong}`)
}
for (const fault of faults) console.log(`FAILED ${fault}`)
process.exit(faults.length === 0 ? 0 : 1)
