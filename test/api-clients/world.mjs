// @ts-check
// A server of one kind that is ended and started again twice, on one port, while its objects go on being written; and one client of it, which
// keeps a ledger of its own of what it was told. What is stored outlives the servers, and keeps the ledger that the client's is held against.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { apiGroup, completeConfig, createApiServer, memoryStorage } from '../../packages/apiserver/dist/index.js'
import { compare, entryOf, notes } from './notes.mjs'

const NAMES = 20
const WRITES_PER_LIFE = 150
const LIVES = 3
const PAUSE_MS = 4
/** Longer than any client waits before it comes again. */
const CLIENT_MS = 120_000

/** @typedef {import('./notes.mjs').Entry} Entry */

/** @param {import('../../packages/apiserver/dist/index.js').StoreStorage} memory @param {string} type @param {string} name @param {number} number */
async function write(memory, type, name, number) {
  const key = { namespace: 'default', name }
  const metadata = { name, namespace: 'default', uid: `uid-${name}-${number}`, creationTimestamp: '2026-11-26T00:00:00Z' }
  const object = { apiVersion: 'clients.example/v1', kind: 'Note', metadata, number }
  const stored = await memory.get(key)
  if (stored === undefined) return memory.create(object)
  const { resourceVersion = '', uid = '' } = stored.metadata
  return type === 'delete'
    ? memory.delete(key, resourceVersion)
    : memory.update({ ...object, metadata: { ...metadata, uid } }, resourceVersion)
}

/** @param {import('../../packages/apiserver/dist/index.js').StoreStorage} memory @param {number} port */
async function serve(memory, port) {
  // Not destroyed with a server: the next one has the same.
  /** @type {import('../../packages/apiserver/dist/index.js').Storage} */
  const storage = {
    get: (key) => memory.get(key),
    list: (query) => memory.list(query),
    create: (object) => memory.create(object),
    update: (object, expected) => memory.update(object, expected),
    delete: (key, expected) => memory.delete(key, expected),
    watch: (after, listener, ended) => memory.watch(after, listener, ended),
  }
  const config = completeConfig({
    port,
    host: '127.0.0.1',
    logger: false,
    lastCall: 0,
    platform: 'unknown',
    shutdownDelay: 0,
    watchGrace: '1s',
  })
  const server = createApiServer(config)
  server.installApiGroups(apiGroup({ group: 'clients.example', versions: { v1: [{ resource: notes, storage }] } }))
  const { life } = server.prepare()
  await life.start()
  return life
}

/**
 * What is wrong with what a client was told; empty: every event once, in order, through all restarts.
 * @param {readonly string[]} command is given the server's URL
 * @returns {Promise<{ wrong: string, events: number }>}
 */
export async function runClient(command) {
  const memory = memoryStorage({ history: 10_000 }).resource()
  /** @type {Entry[]} */
  const written = []
  const { resourceVersion } = await memory.list({ namespace: '', matches: () => true, limit: undefined, at: undefined, start: '' })
  await memory.watch(
    resourceVersion,
    (event) => void written.push(entryOf(event)),
    () => {},
  )
  await write(memory, 'create', 'first', 0)
  let life = await serve(memory, 0)
  const port = life.addresses[0]?.port ?? 0
  const [program = '', ...args] = command
  const client = spawn(program, [...args, `http://127.0.0.1:${port}`], { stdio: ['ignore', 'pipe', 'pipe'] })
  const over = once(client, 'exit')
  /** @type {Entry[]} */
  const told = []
  let said = ''
  client.stderr.on('data', (chunk) => (said += String(chunk)))
  const lines = createInterface(client.stdout)
  lines.on('line', (line) => told.push(JSON.parse(line)))
  const until = async (/** @type {() => boolean} */ is, /** @type {string} */ what) => {
    const end = performance.now() + CLIENT_MS
    while (!is()) {
      if (client.exitCode !== null || performance.now() > end) throw new Error(`${what} has not come: ${said.slice(-2_000)}`)
      await sleep(10)
    }
  }
  try {
    await until(() => told.some(({ name }) => name === 'first'), 'the first event')
    let number = 0
    for (let round = 0; round < LIVES; round++) {
      if (round > 0) {
        const ended = life.stop('restart')
        // Also while it ends, and while there is none.
        for (let at = 0; at < WRITES_PER_LIFE; at++) {
          await write(memory, ++number % 7 === 0 ? 'delete' : 'update', `n${number % NAMES}`, number)
          await sleep(PAUSE_MS)
        }
        await ended
        life = await serve(memory, port)
      }
      for (let at = 0; at < WRITES_PER_LIFE; at++) {
        await write(memory, ++number % 7 === 0 ? 'delete' : 'update', `n${number % NAMES}`, number)
        await sleep(PAUSE_MS)
      }
    }
    await write(memory, 'create', 'last', ++number)
    await until(() => told.some(({ name }) => name === 'last'), 'the last event')
  } finally {
    client.kill()
    await over
    await life.stop({ now: true })
  }
  return { wrong: compare(written, told), events: told.length }
}
