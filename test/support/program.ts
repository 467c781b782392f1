import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { Report } from '../../src/report/report.ts'

export interface Setting {
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Arguments of node itself. */
  readonly execArgv?: readonly string[]
  /** With a channel for messages, as a process manager has. */
  readonly ipc?: boolean
}

export interface End {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/**
 * A small program of `test/fixtures` in a process of its own, which uses `dist/` as a user would. It says on standard output,
 * line by line, how far it is; nothing here waits for time. Killed with the test if it is still there.
 */
export class Program {
  /** What it said so far, lines of its log included. */
  readonly lines: string[] = []
  stderr = ''
  /** Settles when the process has ended and all that it said was read. */
  readonly ended: Promise<End>
  readonly #child: ChildProcess
  readonly #folder: string
  readonly #waiting = new Set<() => void>()
  #hasEnded = false

  static start(fixture: string, setting: Setting = {}): Program {
    return new Program(fixture, setting)
  }

  private constructor(fixture: string, { args = [], env = {}, execArgv = [], ipc = false }: Setting) {
    this.#folder = mkdtempSync(join(tmpdir(), 'quiesce-'))
    const file = fileURLToPath(new URL(`../fixtures/${fixture}`, import.meta.url))
    this.#child = spawn(process.execPath, [...execArgv, file, ...args], {
      env: { ...process.env, REPORT_FILE: this.#reportFile, ...env },
      stdio: ['ignore', 'pipe', 'pipe', ...(ipc ? (['ipc'] as const) : [])],
    })
    const { stdout, stderr } = this.#child
    if (stdout) createInterface({ input: stdout }).on('line', (line) => this.#heard(() => this.lines.push(line)))
    stderr?.on('data', (chunk: Buffer) => this.#heard(() => (this.stderr += chunk.toString())))
    this.ended = new Promise((resolve) => {
      this.#child.on('close', (code, signal) => {
        this.#hasEnded = true
        this.#heard(() => resolve({ code, signal }))
      })
    })
    onTestFinished(async () => {
      this.#child.kill('SIGKILL')
      await this.ended
      rmSync(this.#folder, { recursive: true })
    })
  }

  /** Resolves with the first line that contains `text`; rejects when the program has ended without it. */
  async said(text: string): Promise<string> {
    for (;;) {
      const line = this.lines.find((said) => said.includes(text))
      if (line !== undefined) return line
      await this.next(text)
    }
  }

  /** Resolves when it has said anything more; rejects when it has ended. */
  async next(expected = 'more'): Promise<void> {
    if (this.#hasEnded) throw new Error(`ended without saying ${expected}\n${this.lines.join('\n')}\n${this.stderr}`)
    await new Promise<void>((resolve) => this.#waiting.add(resolve))
  }

  /** The number behind a word that it says: `serving 40123`. */
  async number(word: string): Promise<number> {
    return Number(/(\d+)\s*$/.exec(await this.said(word))?.[1])
  }

  /** Messages of its log. */
  get logged(): string[] {
    return this.lines.flatMap((line) => (line.startsWith('{') ? [(JSON.parse(line) as { msg: string }).msg] : []))
  }

  get pid(): number {
    return this.#child.pid as number
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  send(message: string): void {
    this.#child.send(message)
  }

  /** What it wrote to the file that is named in its environment as REPORT_FILE. */
  async report(): Promise<Report> {
    return JSON.parse(await readFile(this.#reportFile, 'utf8')) as Report
  }

  get #reportFile(): string {
    return join(this.#folder, 'report.json')
  }

  #heard(happen: () => void): void {
    happen()
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }
}
