import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, onTestFinished } from 'vitest'
import type { Report, ServerOptions } from '#src/index.ts'
import { RawClient } from './raw-client.ts'

/**
 * Programs of test/fixtures in processes of their own, watched from outside, and gone when the test
 * is over.
 */

/**
 * A piece of user code and what it does: `shouts` throws an error whose message is 1 MiB long,
 * `exits` ends the process with code 9.
 */
export interface HookPlan {
  readonly kind: 'post-start' | 'pre-shutdown' | 'destroy'
  readonly name: string
  readonly does: 'ends' | 'hangs' | 'blocks' | 'throws' | 'rejects' | 'shouts' | 'exits'
  /** How long it takes to do it. */
  readonly ms?: number
  readonly timeout?: string
}

/** What test/fixtures/server.mjs is to be like. Everything here survives JSON. */
export interface ServerPlan {
  /** `attachLifecycle` around a plain node server, instead of `createServer`. */
  readonly attached?: boolean
  readonly options?: ServerOptions
  readonly hooks?: readonly HookPlan[]
  /** Takes a hold of that name, for ever. */
  readonly hold?: string
  /** Sets `process.exitCode` before the life begins. */
  readonly exitCode?: number
  /** Something else in the process keeps it alive, until so long after the end of its life. */
  readonly staysAliveMs?: number
  /** Blocks the event loop for so long when its life is over. */
  readonly blocksAtLastMs?: number
  /** A listener that nobody closes. */
  readonly leaksServer?: boolean
  /** A worker thread that nobody ends. */
  readonly leaksThread?: boolean
  /** A logger whose `flush` never calls back. */
  readonly neverFlushes?: boolean
  /**
   * The process gets this signal again as soon as it is told to stop, and says `heard SIGNAL` each
   * time.
   */
  readonly repeatsSignal?: NodeJS.Signals
}

export interface ProcessOptions {
  /** The command in front of node, such as `unshare`. */
  readonly via?: readonly string[]
  /** Arguments of node itself. */
  readonly nodeOptions?: readonly string[]
  /** Where standard output goes: collected (default), or a descriptor. */
  readonly stdout?: 'pipe' | number
  /** Adds the IPC channel that `fork()` would. */
  readonly ipc?: boolean
  /** Descriptors that it has as 3 and on. */
  readonly passes?: readonly number[]
  /** Added to an environment that has only a PATH. */
  readonly env?: Readonly<Record<string, string>>
  /**
   * The stream on which it says how far it is; default stderr, so that stdout has its log alone.
   */
  readonly speaksOn?: 'stdout' | 'stderr'
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** When, on the clock of `performance.now()`. */
  readonly at: number
}

export interface LogLine {
  readonly msg: string
  readonly [field: string]: unknown
}

/** Only the environment that a test means: the machine it runs on may look like a platform. */
const ENVIRONMENT = { PATH: process.env['PATH'] }

const schema = JSON.parse(readFileSync(new URL('../../schema/report.schema.json', import.meta.url), 'utf8')) as object
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false })
const validate = ajv.compile(schema)

/** A folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quiesce-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

/** A process, and what it has said so far. */
export class TestProcess {
  readonly child: ChildProcess
  stdout = ''
  stderr = ''
  readonly #reportFile: string
  readonly #speaksOn: 'stdout' | 'stderr'
  readonly #waiting = new Set<() => void>()
  readonly #ended: Promise<Ended>
  #isOver = false

  constructor(
    command: readonly string[],
    { stdout = 'pipe', ipc = false, passes = [], env = {}, speaksOn = 'stderr' }: ProcessOptions,
    reportFile: string,
  ) {
    const [file = '', ...args] = command
    const child = spawn(file, args, {
      env: { ...ENVIRONMENT, ...env },
      stdio: ['ignore', stdout, 'pipe', ...passes, ...(ipc ? (['ipc'] as const) : [])],
    })
    this.child = child
    this.#reportFile = reportFile
    this.#speaksOn = speaksOn
    onTestFinished(() => void child.kill('SIGKILL'))
    child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#heard(() => (this.stdout += text)))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#heard(() => (this.stderr += text)))
    let at = 0
    child.once('exit', () => {
      at = performance.now()
    })
    this.#ended = new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, signal) => {
        this.#isOver = true
        this.#heard(() => resolve({ code, signal, at }))
      })
    })
  }

  /** What it has said, by line. */
  get lines(): string[] {
    return this[this.#speaksOn].split('\n').slice(0, -1)
  }

  /**
   * Its log, one object per line of standard output; a line that is not JSON fails the test, unless
   * the program speaks there itself.
   */
  get log(): LogLine[] {
    const lines = this.stdout.split('\n').filter((line) => line !== '' && (this.#speaksOn === 'stderr' || line.startsWith('{')))
    return lines.map((line) => JSON.parse(line) as LogLine)
  }

  /** Waits until it has said a line that begins so, and returns the rest of the line. */
  async said(beginning: string): Promise<string> {
    for (;;) {
      const line = this.lines.find((candidate) => candidate.startsWith(beginning))
      if (line !== undefined) return line.slice(beginning.length).trim()
      if (this.#isOver) throw new Error(`it ended without saying "${beginning}":\n${this.lines.join('\n')}\n${this.stderr}`)
      await this.next()
    }
  }

  /** Waits until it has said anything more, or has ended. */
  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve))
  }

  /** The number behind a word that it says. */
  async number(beginning: string): Promise<number> {
    return Number(await this.said(beginning))
  }

  /** Waits until it serves, and returns its port. A program with several servers says which one. */
  serving(beginning = 'serving'): Promise<number> {
    return this.number(beginning)
  }

  /** A connection of its own to it. */
  async connect(beginning?: string): Promise<RawClient> {
    const client = await RawClient.open({ port: await this.serving(beginning) })
    onTestFinished(() => client.abort())
    return client
  }

  /** A request on a connection of its own, which has reached its handler. */
  async requested(...request: Parameters<RawClient['request']>): Promise<RawClient> {
    const [method, path] = request
    const arrival = `arrived ${method} ${path.replace(/\?.*/, '')}`
    const earlier = this.#count(arrival)
    const client = await this.connect()
    client.request(...request)
    while (this.#count(arrival) === earlier) await this.next()
    return client
  }

  /** Sends a signal and returns when that was, on the clock of `performance.now()`. */
  signal(signal: NodeJS.Signals): number {
    expect(this.child.kill(signal)).toBe(true)
    return performance.now()
  }

  /** How it ended, with both streams read to their ends. */
  ended(): Promise<Ended> {
    return this.#ended
  }

  /** The report that it wrote, which is as its published schema says. */
  report(): Report {
    const report = JSON.parse(readFileSync(this.#reportFile, 'utf8')) as Report
    expect(validate(report), ajv.errorsText(validate.errors)).toBe(true)
    return report
  }

  #count(line: string): number {
    return this.lines.filter((candidate) => candidate === line).length
  }

  #heard(happen: () => void): void {
    happen()
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }
}

/** Starts a program of test/fixtures, whose argument is a plan. */
export function startProgram(fixture: string, plan: object = {}, options: ProcessOptions = {}, reportFile = ''): TestProcess {
  const { via = [], nodeOptions = [] } = options
  const file = fileURLToPath(new URL(`../fixtures/${fixture}`, import.meta.url))
  return new TestProcess([...via, process.execPath, ...nodeOptions, file, JSON.stringify(plan)], options, reportFile)
}

/** Starts test/fixtures/server.mjs, with a report file of its own unless the plan names one. */
export function startServer(plan: ServerPlan = {}, options: ProcessOptions = {}): TestProcess {
  const reportFile = plan.options?.reportFile ?? join(temporaryFolder(), 'report.json')
  const complete: ServerPlan = { ...plan, options: { platform: 'unknown', ...plan.options, reportFile } }
  return startProgram('server.mjs', complete, options, reportFile)
}

/**
 * Starts a program that is made of test/fixtures/serve.mjs: it speaks on standard output, and
 * writes its report where REPORT_FILE says.
 */
export function startSpeaking(
  fixture: string,
  args: readonly string[] = [],
  { env, nodeOptions = [], ...options }: ProcessOptions = {},
): TestProcess {
  const reportFile = join(temporaryFolder(), 'report.json')
  const file = fileURLToPath(new URL(`../fixtures/${fixture}`, import.meta.url))
  const command = [process.execPath, ...nodeOptions, file, ...args]
  return new TestProcess(command, { ...options, speaksOn: 'stdout', env: { REPORT_FILE: reportFile, ...env } }, reportFile)
}
