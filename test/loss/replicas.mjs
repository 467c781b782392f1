// @ts-check
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { withUs } from '../support/with-us.mjs'
import { isHttp2 } from './protocols.mjs'
import { referenceOf } from './references.mjs'

/** quiesce's, in turns. */
export const LIVES = /** @type {const} */ (['attached node:http', 'created Hono', 'attached Express'])

/** A life, too, with every filter that it can have, and with an audit log beside its report. */
export const API_SERVER = /** @type {const} */ ('API server')

/** The same, whose clients read and create objects. */
export const RESOURCES = /** @type {const} */ ('API server, resources')

/** A life on `node:http` with every default; the others have a deadline that is longer. */
export const DEFAULTS = /** @type {const} */ ('quiesce, defaults')

/** Express makes its responses those of HTTP/1.1. @param {import('./protocols.mjs').Protocol} protocol */
export const livesOf = (protocol) => LIVES.filter((life) => life !== 'attached Express' || !isHttp2(protocol))

/**
 * @typedef {(typeof LIVES)[number] | typeof API_SERVER | typeof RESOURCES | typeof DEFAULTS | 'bare' | import('../../bench/peers.mjs').Peer | import('./references.mjs').Reference} ServerKind `bare`: without anything for its end
 * @typedef {object} ReplicaOptions
 * @property {ServerKind} server
 * @property {import('./protocols.mjs').Protocol} protocol
 * @property {number} seed
 * @property {number} delay milliseconds from SIGTERM to the first connection that may be closed
 * @property {'refuse' | 'retry-after'} mode
 * @property {boolean} busy whether its event loop is blocked again and again
 * @property {string | undefined} [lastCall] another one than the default
 * @property {number} [graceMs] how long servers that are not quiesce's wait for what is in flight
 * @property {number} [port] instead of one of its own choice, behind a proxy
 */

/** @typedef {{ readonly heapBytes: number, readonly residentBytes: number, readonly resources: Readonly<Record<string, number>> }} Weight */

const PROGRAM = fileURLToPath(new URL('replica.mjs', import.meta.url))

/** One of the two servers of a loss run, in a process of its own. */
export class Replica {
  /** The clients' ports of the connections that it accepted; final once {@link ended} has resolved. Undefined when it does not say. @type {number[] | undefined} */
  accepted
  /** What it says of itself with TRACE in the environment. @type {string[]} */
  trace = []
  port = 0
  /** Resolves when the process is gone and all that it said has been read. @type {Promise<unknown>} */
  ended
  #child
  #folder
  /** @type {() => void} */
  #isBlocked = () => {}

  /** Resolves when it blocks its event loop, as its `/block` was asked to. @type {Promise<void>} */
  blocked = new Promise((resolve) => (this.#isBlocked = resolve))

  /** @type {(weight: Weight) => void} */
  #isWeighed = () => {}

  /** Resolves when it listens. @param {ReplicaOptions} options */
  static async start(options) {
    const replica = new Replica(options, await mkdtemp(join(tmpdir(), 'quiesce-loss-')))
    await Promise.race([
      replica.#listening,
      replica.ended.then(() => {
        throw new Error(`${options.server} ended before it listened`)
      }),
    ])
    return replica
  }

  /** The one that clients go on at. @param {import('./protocols.mjs').Protocol} protocol */
  static startSecond(protocol) {
    return Replica.start({ server: 'bare', protocol, seed: 0, delay: 0, mode: 'refuse', busy: false })
  }

  /** @type {() => void} */
  #listens = () => {}
  /** @type {Promise<void>} */
  #listening = new Promise((resolve) => (this.#listens = resolve))

  /** @param {ReplicaOptions} options @param {string} folder */
  constructor(options, folder) {
    this.#folder = folder
    const reference = referenceOf(options, folder)
    const [program, ...args] = reference ?? [process.execPath, PROGRAM, JSON.stringify(options)]
    this.accepted = reference ? undefined : []
    this.#child = withUs(
      spawn(/** @type {string} */ (program), args, {
        env: { ...process.env, REPORT_FILE: join(folder, 'report.json'), AUDIT_FILE: join(folder, 'audit.log') },
        // A reference says its port on standard output, and nothing else.
        stdio: ['ignore', reference ? 'pipe' : 'ignore', 'inherit', 'pipe'],
      }),
    )
    this.ended = once(this.#child, 'close')
    const lines = createInterface(/** @type {import('node:stream').Readable} */ (this.#child.stdio[reference ? 1 : 3]))
    lines.on('line', (line) => {
      const said = JSON.parse(line)
      const { accepted, blocked, port, trace, weight } = typeof said === 'number' ? { port: said } : said
      if (accepted !== undefined) this.accepted?.push(accepted)
      if (trace !== undefined) this.trace.push(trace)
      if (blocked) this.#isBlocked()
      if (weight !== undefined) this.#isWeighed(weight)
      if (port !== undefined) {
        this.port = port
        this.#listens()
      }
    })
  }

  /** The exit code, or the signal that ended it; undefined while it runs. */
  get exit() {
    return this.#child.exitCode ?? this.#child.signalCode ?? undefined
  }

  /** @param {NodeJS.Signals} signal */
  kill(signal) {
    this.#child.kill(signal)
  }

  /** What it holds when its garbage is collected. Rejects when it has ended. @returns {Promise<Weight>} */
  weigh() {
    const weighed = new Promise((/** @type {(weight: Weight) => void} */ resolve) => (this.#isWeighed = resolve))
    this.kill('SIGUSR2')
    const ended = this.ended.then(() => {
      throw new Error(`the server ended by itself, with ${this.exit}`)
    })
    return Promise.race([weighed, ended])
  }

  /** What the server itself reports, if it does. @returns {Promise<import('../../src/index.ts').Report | undefined>} */
  async report() {
    const text = await readFile(join(this.#folder, 'report.json'), 'utf8').catch(() => undefined)
    return text === undefined ? undefined : JSON.parse(text)
  }

  /** What is in its audit log, if it has one. @returns {Promise<readonly import('../../packages/apiserver/src/index.ts').AuditEvent[]>} */
  async audited() {
    const text = await readFile(join(this.#folder, 'audit.log'), 'utf8').catch(() => '')
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  }

  /** Ends it, however far it is. */
  async dispose() {
    this.kill('SIGKILL')
    await this.ended
    await rm(this.#folder, { recursive: true })
  }
}
