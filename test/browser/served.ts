import { type ChildProcess, spawn } from 'node:child_process'
import { get } from 'node:http'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

/** A process with an inspector, gone when the test is over. */
export class Served {
  readonly child: ChildProcess
  readonly exitCode: Promise<number | null>
  /** Of the inspector's page, with its token if it has one. */
  readonly inspector: Promise<string>
  /** Of the server itself. */
  readonly url: Promise<string>

  /** `quiesce serve`, with more arguments. */
  static serve(...args: readonly string[]): Served {
    return new Served(['dist/cli.js', 'serve', '--port=0', '--inspector', ...args])
  }

  /** A program of test/fixtures. */
  static program(fixture: string, plan: object): Served {
    return new Served([`test/fixtures/${fixture}`, JSON.stringify(plan)])
  }

  /** `quiesce inspect FILE`. */
  static recording(file: string): Served {
    return new Served(['dist/cli.js', 'inspect', file])
  }

  private constructor(command: readonly string[]) {
    const root = fileURLToPath(new URL('../..', import.meta.url))
    const child = spawn(process.execPath, command, { cwd: root, env: { PATH: process.env['PATH'] }, stdio: ['ignore', 'pipe', 'ignore'] })
    this.child = child
    this.exitCode = new Promise((resolve) => child.once('exit', resolve))
    onTestFinished(async () => {
      child.kill('SIGKILL')
      await this.exitCode
    })
    const lines = createInterface({ input: child.stdout })
    const firstMatch = (pattern: RegExp): Promise<string> =>
      new Promise((resolve, reject) => {
        lines.on('line', (line) => {
          const [, match] = pattern.exec(line) ?? []
          if (match !== undefined) resolve(match)
        })
        lines.once('close', () => reject(new Error(`it ended without saying ${pattern}`)))
      })
    this.inspector = firstMatch(/(http:\/\/[\w.]+:\d+\/inspector\/[^\s"]*)/)
    this.url = firstMatch(/Serving on (http:\/\/[\d.]+:\d+)/)
    // A caller that does not ask does not mind.
    for (const promise of [this.inspector, this.url]) promise.catch(() => {})
  }

  /** A request whose answer is not waited for; it can be given up. */
  async request(path: string): Promise<{ readonly giveUp: () => void }> {
    const request = get((await this.url) + path, { agent: false }, (response) => response.on('error', () => {}).resume())
    request.on('error', () => {})
    return { giveUp: () => request.destroy() }
  }
}
