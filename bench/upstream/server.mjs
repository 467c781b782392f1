// @ts-check
// A server of the comparison with Go, as a process that is asked, measured and ended.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../test/support/free-port.mjs'
import { TOKEN } from './setting.mjs'

/** @typedef {{ name: string, kind: 'go' | 'node' | 'alone', command: readonly string[], isAudited: boolean }} Kind */
/** @typedef {{ folder: string, cert: string, key: string, tokens: string }} Files where they are; `folder` is for audit logs */

/** A server in a process of its own, on one core. */
export class Server {
  /** @param {Kind} kind @param {number} port @param {number} spawnedAt @param {import('node:child_process').ChildProcess} child */
  constructor(kind, port, spawnedAt, child) {
    this.kind = kind
    this.port = port
    this.child = child
    this.spawnedAt = spawnedAt
    this.readyMs = Number.NaN
  }

  /** @param {Kind} kind @param {Files} files */
  static async start(kind, { folder, ...files }) {
    const port = await freePort()
    const audit = kind.isAudited ? join(folder, `audit-${port}.log`) : ''
    const setting = { port, ...files, audit }
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

  /** Microseconds of CPU so far, of all threads that there are: exact, where `stat` counts in steps of 10 ms. */
  cpuUs() {
    const tasks = `/proc/${this.child.pid}/task`
    const nanoseconds = readdirSync(tasks).map((task) => Number(readFileSync(`${tasks}/${task}/schedstat`, 'latin1').split(' ')[0]))
    return nanoseconds.reduce((sum, one) => sum + one, 0) / 1000
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
