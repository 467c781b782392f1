import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Whether the machine has etcd, as Debian's `etcd-server` brings it. */
export const hasEtcd: boolean = spawnSync('etcd', ['--version'], { stdio: 'ignore' }).status === 0

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { readonly port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** One etcd that keeps its data while it is killed and started again. */
export class EtcdProcess {
  readonly #folder = mkdtempSync(join(tmpdir(), 'quiesce-etcd-'))
  readonly #ports: readonly [client: number, peer: number]
  readonly #flags: readonly string[]
  #child: ChildProcess | undefined

  private constructor(ports: readonly [number, number], flags: readonly string[]) {
    this.#ports = ports
    this.#flags = flags
  }

  static async start(...flags: readonly string[]): Promise<EtcdProcess> {
    const etcd = new EtcdProcess([await freePort(), await freePort()], flags)
    await etcd.start()
    return etcd
  }

  get endpoint(): string {
    return `127.0.0.1:${this.#ports[0]}`
  }

  async start(): Promise<void> {
    const [client, peer] = this.#ports
    const scheme = this.#flags.some((flag) => flag.startsWith('--cert-file')) ? 'https' : 'http'
    const child = spawn(
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
    )
    this.#child = child
    let log = ''
    await new Promise<void>((resolve, reject) => {
      child.stderr.on('data', (chunk: Buffer) => {
        log = (log + chunk.toString()).slice(-20_000)
        if (/serving client traffic|client requests/.test(log)) resolve()
      })
      child.once('exit', (code) => reject(new Error(`etcd ended with ${code}: ${log}`)))
      child.once('error', reject)
    })
    child.removeAllListeners('exit')
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(name)
  }

  /** As a crash: with `kill -9`. */
  async kill(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child === undefined || child.exitCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }

  async dispose(): Promise<void> {
    await this.kill()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
