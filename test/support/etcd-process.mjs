// @ts-check
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './free-port.mjs'
import { withUs } from './with-us.mjs'

/** Whether the machine has etcd, as Debian's `etcd-server` brings it. */
export const hasEtcd = spawnSync('etcd', ['--version'], { stdio: 'ignore' }).status === 0

/** One etcd that keeps its data while it is killed and started again. */
export class EtcdProcess {
  #folder = mkdtempSync(join(tmpdir(), 'quiesce-etcd-'))
  #ports
  #flags
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #child

  /** @param {readonly [client: number, peer: number]} ports @param {readonly string[]} flags */
  constructor(ports, flags) {
    this.#ports = ports
    this.#flags = flags
  }

  /** @param {readonly string[]} flags */
  static async start(...flags) {
    const etcd = new EtcdProcess([await freePort(), await freePort()], flags)
    await etcd.start()
    return etcd
  }

  get endpoint() {
    return `127.0.0.1:${this.#ports[0]}`
  }

  /** @returns {Promise<void>} */
  async start() {
    const [client, peer] = this.#ports
    const scheme = this.#flags.some((flag) => flag.startsWith('--cert-file')) ? 'https' : 'http'
    const child = withUs(
      spawn(
        'etcd',
        [
          `--data-dir=${this.#folder}`,
          `--listen-client-urls=${scheme}://127.0.0.1:${client}`,
          `--advertise-client-urls=${scheme}://127.0.0.1:${client}`,
          `--listen-peer-urls=http://127.0.0.1:${peer}`,
          `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
          `--initial-cluster=default=http://127.0.0.1:${peer}`,
          '--logger=zap',
          '--log-level=info',
          ...this.#flags,
        ],
        { stdio: ['ignore', 'ignore', 'pipe'] },
      ),
    )
    this.#child = child
    let log = ''
    /** @type {(code: number | null) => void} */
    let failed = () => {}
    await /** @type {Promise<void>} */ (
      new Promise((resolve, reject) => {
        child.stderr.on('data', (chunk) => {
          log = (log + String(chunk)).slice(-20_000)
          if (/serving client traffic|client requests/.test(log)) resolve()
        })
        failed = (code) => reject(new Error(`etcd ended with ${code}: ${log}`))
        child.once('exit', failed)
        child.once('error', reject)
      })
    )
    child.removeListener('exit', failed)
  }

  /** Resolves when all of its threads stand still, which is a moment after the signal. */
  async pause() {
    const child = this.#child
    if (child === undefined) throw new Error('etcd does not run')
    child.kill('SIGSTOP')
    while (!standsStill(child.pid)) await sleep(5)
  }

  resume() {
    this.#child?.kill('SIGCONT')
  }

  /** As a crash: with `kill -9`. */
  async kill() {
    const child = this.#child
    this.#child = undefined
    if (child === undefined || child.exitCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }

  /** As a member whose disk was replaced, and that was set up again. */
  async wipe() {
    await this.kill()
    rmSync(this.#folder, { recursive: true, force: true })
    await this.start()
  }

  async dispose() {
    await this.kill()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Whether Linux says so of each of its threads, of which one may end meanwhile; others do not say. @param {number | undefined} pid */
function standsStill(pid) {
  if (process.platform !== 'linux') return true
  const tasks = `/proc/${pid}/task`
  try {
    return readdirSync(tasks).every((task) => /^State:\s+T/m.test(readFileSync(`${tasks}/${task}/status`, 'utf8')))
  } catch {
    return false
  }
}
