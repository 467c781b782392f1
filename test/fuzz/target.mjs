// @ts-check
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** @typedef {import('../../packages/apiserver/src/index.ts').AuditEvent} AuditEvent */

const PROGRAM = fileURLToPath(new URL('fuzzed-server.mjs', import.meta.url))
/** Longer than the deadline of its end, on a machine that is busy. */
const END_MS = 30_000

/** The server under attack, in a process of its own. */
export class Target {
  /** What must not happen, and what it says went wrong. @type {string[]} */
  breaches = []
  /** @type {{ h1: number, h2: number }} */
  ports = { h1: 0, h2: 0 }
  #child
  #folder

  /** @param {object} [options] of the server, beside its own */
  static async start(options = {}) {
    const target = new Target(await mkdtemp(join(tmpdir(), 'quiesce-fuzz-')), options)
    await target.#listening
    return target
  }

  /** @type {() => void} */
  #listens = () => {}
  /** @type {Promise<void>} */
  #listening

  /** @param {string} folder @param {object} options */
  constructor(folder, options) {
    this.#folder = folder
    this.#child = spawn(process.execPath, [PROGRAM, JSON.stringify({ folder, options })], {
      stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    })
    this.#listening = new Promise((resolve, reject) => {
      this.#listens = resolve
      this.#child.once('exit', (code) => reject(new Error(`the server ended with ${code} before it listened`)))
    })
    const lines = createInterface(/** @type {import('node:stream').Readable} */ (this.#child.stdio[3]))
    lines.on('line', (line) => {
      const { ports, ...said } = JSON.parse(line)
      if (ports === undefined) this.breaches.push(Object.entries(said).flat().join(': '))
      else {
        this.ports = { h1: ports[0], h2: ports[1] }
        this.#listens()
      }
    })
  }

  /** The exit code, or the signal that ended it; undefined while it runs. */
  get exit() {
    return this.#child.exitCode ?? this.#child.signalCode ?? undefined
  }

  /**
   * Ends it by a SIGTERM, and says what was wrong in its life: what it has said itself, how it ended, and what its audit log has twice or not at all.
   * @param {number} [exit] the right exit code
   * @returns {Promise<{ report: import('../../src/index.ts').Report | undefined, audit: readonly AuditEvent[], wrong: readonly string[] }>}
   */
  async stop(exit = 0) {
    const ended = once(this.#child, 'close')
    this.#child.kill('SIGTERM')
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), END_MS)
    await ended
    clearTimeout(timer)
    const [reportText = '', log = ''] = await Promise.all(
      ['report.json', 'audit.log'].map((name) => readFile(join(this.#folder, name), 'utf8').catch(() => '')),
    )
    /** @type {import('../../src/index.ts').Report | undefined} */
    const report = reportText ? JSON.parse(reportText) : undefined
    const wrong = [...this.breaches]
    if (this.exit !== exit) wrong.push(`the server ended with ${this.exit}: ${JSON.stringify(report)}`)
    if (report?.audit?.lost !== 0) wrong.push(`audit events: ${JSON.stringify(report?.audit)}`)
    /** @type {readonly AuditEvent[]} */
    const audit = log
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
    return { report, audit, wrong: [...wrong, ...wrongIn(audit)] }
  }

  /** Takes its files away, and ends it if it is still there. */
  async dispose() {
    if (this.exit === undefined) {
      const ended = once(this.#child, 'close')
      this.#child.kill('SIGKILL')
      await ended
    }
    await rm(this.#folder, { recursive: true })
  }
}

/** Of ids that the server has made: clients may give the same one twice. */
const MADE = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

/** Every request that has come to the log has a last event, and no event twice. @param {readonly AuditEvent[]} events */
function wrongIn(events) {
  const made = events.filter(({ auditID }) => MADE.test(auditID))
  /** @type {Map<string, string[]>} */
  const stages = new Map()
  for (const { auditID, stage } of made) stages.set(auditID, [...(stages.get(auditID) ?? []), stage])
  return [...stages].flatMap(([id, all]) => {
    const twice = all.find((stage, at) => all.indexOf(stage) < at)
    if (twice) return [`${id} has ${twice} twice in the audit log`]
    return all.at(-1) === 'RequestReceived' ? [`${id} has no end in the audit log`] : []
  })
}
