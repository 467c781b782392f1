// @ts-check
// One end of the example server under load, on virtual time and with connections in memory: the
// same every time, to the byte. What is recorded is what the inspector records, and what the
// clients saw.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createExampleApp, EXAMPLE_OPTIONS } from '../../build/src/example/app.js'
import { ServiceRegistry } from '../../build/src/example/registry.js'
import { sleep } from '../../build/src/example/sleep.js'
import { testLife } from '../../build/src/testing/index.js'

/** @typedef {import('../../build/src/inspector/protocol.js').JournalEntry} JournalEntry */
/** @typedef {{ at: number, asked: number, answered: number, lost: number, notified: number }} Ledger */
/** @typedef {{ entries: JournalEntry[], ledger: Ledger[], stopAt: number, options: typeof OPTIONS }} Recording */

export const OPTIONS = /** @type {const} */ ({ whileDraining: 'refuse', shutdownDelay: '2500ms', deadline: '20s' })

const STEP_MS = 50
const BEFORE_MS = 2_000
/** How often, and for what, each client asks on the one connection that it has. */
const CLIENTS = [
  ...Array.from({ length: 20 }, (_, i) => ({ everyMs: 150 + 40 * i, path: '/echo?message=hello' })),
  ...Array.from({ length: 12 }, (_, i) => ({ everyMs: 100, path: `/slow?ms=${900 + 310 * i}` })),
]
const LONGEST = '/slow?ms=7600'
const WATCHES = 3

/** @returns {Promise<Recording>} */
export async function recordDrain() {
  const folder = mkdtempSync(join(tmpdir(), 'quiesce-drain-'))
  const journal = join(folder, 'journal.ndjson')
  try {
    const { ledger, stopAt } = await run(journal)
    const entries = readFileSync(journal, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => /** @type {JournalEntry} */ (JSON.parse(line)))
    return { entries, ledger, stopAt, options: OPTIONS }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @param {string} journal */
async function run(journal) {
  const registry = new ServiceRegistry()
  const life = await testLife(
    (world) => {
      const app = createExampleApp({ registry, clock: world.clock })
      const server = world.createServer(app, { ...EXAMPLE_OPTIONS, ...OPTIONS, journal, port: 8080 })
      server.addPreShutdownHook('leave-registry', () => sleep(world.clock, 600))
      server.addDestroy('database', () => sleep(world.clock, 250))
      return server
    },
    { random: evenly() },
  )
  const clients = await Promise.all([...CLIENTS, { everyMs: Number.POSITIVE_INFINITY, path: LONGEST }].map((kind) => Client.of(life, kind)))
  for (let watch = 0; watch < WATCHES; watch++) (await life.connect()).request('/events?intervalMs=250').response.catch(() => {})
  /** @type {Ledger[]} */
  const ledger = []
  const begun = life.clock.now()
  let stopAt = 0
  while (life.report === undefined) {
    const at = life.clock.now() - begun
    if (at >= BEFORE_MS && stopAt === 0) {
      stopAt = at
      life.process.signal('SIGTERM')
    }
    for (const client of clients) client.tick(at)
    await life.clock.advance(STEP_MS)
    const sum = (/** @type {'asked' | 'answered' | 'lost' | 'notified'} */ what) =>
      clients.reduce((total, client) => total + client[what], 0)
    ledger.push({ at: life.clock.now(), asked: sum('asked'), answered: sum('answered'), lost: sum('lost'), notified: sum('notified') })
  }
  return { ledger, stopAt: begun + stopAt }
}

/** A client that goes elsewhere once it is told, and never asks again for what it lost. */
class Client {
  asked = 0
  answered = 0
  lost = 0
  notified = 0
  /** @type {import('../../build/src/testing/index.js').TestConnection} */
  #connection
  #kind
  #nextAt = 0

  /**
   * @param {import('../../build/src/testing/index.js').TestLife} life
   * @param {{ everyMs: number, path: string }} kind
   */
  static async of(life, kind) {
    return new Client(await life.connect(), kind)
  }

  /**
   * @param {import('../../build/src/testing/index.js').TestConnection} connection
   * @param {{ everyMs: number, path: string }} kind
   */
  constructor(connection, kind) {
    this.#connection = connection
    this.#kind = kind
  }

  /** @param {number} at */
  tick(at) {
    const connection = this.#connection
    if (at < this.#nextAt || !connection.isOpen || connection.wasNotified || connection.outstanding.length > 0) return
    const { everyMs, path } = this.#kind
    this.#nextAt = at + everyMs
    this.asked++
    connection.request(path).response.then(
      () => {
        this.answered++
        if (connection.wasNotified) this.notified = 1
      },
      () => this.lost++,
    )
  }
}

/** Spread over 0 to 1, the same every time. */
function evenly() {
  let last = 0
  return () => {
    last = (last + 0.618_034) % 1
    return last
  }
}
