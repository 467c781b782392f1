import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Report } from '../../src/index.ts'

export type ServerKind = 'bare' | 'attached to node:http' | 'attached to Express' | 'created for Hono'

export interface ReplicaOptions {
  readonly server: ServerKind
  readonly seed: number
  /** From SIGTERM to the first connection that may be closed. */
  readonly delayMs: number
  readonly whileDraining: 'refuse' | 'retry-after'
}

/** One of the two servers of a loss run, in a process of its own. */
export class Replica {
  readonly port: number
  readonly #child: ChildProcess
  readonly #folder: string
  readonly #accepted: Set<number>
  readonly #exited: Promise<unknown>

  /** Resolves when it listens. */
  static async start(options: ReplicaOptions): Promise<Replica> {
    const folder = await mkdtemp(join(tmpdir(), 'quiesce-loss-'))
    const child = fork(fileURLToPath(new URL('replica.mjs', import.meta.url)), [JSON.stringify(options)], {
      env: { ...process.env, REPORT_FILE: join(folder, 'report.json') },
      execArgv: [],
    })
    const accepted = new Set<number>()
    const exited = once(child, 'exit')
    const port = await new Promise<number>((resolve, reject) => {
      child.on('message', (message: { port?: number; accepted?: number }) => {
        if (message.accepted !== undefined) accepted.add(message.accepted)
        if (message.port !== undefined) resolve(message.port)
      })
      exited.then(() => reject(new Error('a replica ended before it listened')), reject)
    })
    return new Replica(child, port, folder, accepted, exited)
  }

  private constructor(child: ChildProcess, port: number, folder: string, accepted: Set<number>, exited: Promise<unknown>) {
    this.#child = child
    this.port = port
    this.#folder = folder
    this.#accepted = accepted
    this.#exited = exited
  }

  /** Whether it ever had the connection of a client with this port. Final once the process has ended. */
  hasAccepted(clientPort: number): boolean {
    return this.#accepted.has(clientPort)
  }

  /** Sends SIGTERM and resolves with the exit code when the process is gone. */
  async terminate(): Promise<number | null> {
    this.#child.kill('SIGTERM')
    await this.#exited
    return this.#child.exitCode
  }

  /** What the server itself reports; a bare one does not. */
  async report(): Promise<Report> {
    return JSON.parse(await readFile(join(this.#folder, 'report.json'), 'utf8')) as Report
  }

  /** Ends it, however far it is. */
  async dispose(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#exited
    await rm(this.#folder, { recursive: true })
  }
}
