import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import type { Deleted, DeleteWrite, Got, PutWrite, Written } from '#apiserver/store/key-value-store.ts'
import { StoreError, type StoreErrorReason } from '#apiserver/store/store-error.ts'
import type { Recorded } from './history.ts'

export type Said = Readonly<Record<string, unknown>>

const FIXTURE = fileURLToPath(new URL('../fixtures/store.mjs', import.meta.url))

/** A process that has a store in a file, and what it has said. */
export class StoreProcess {
  readonly child: ChildProcess
  readonly said: Said[] = []
  onSaid: (said: Said) => void = () => {}
  readonly #ended: Promise<void>

  constructor(settings: object, via: readonly string[] = []) {
    const [command = '', ...args] = [...via, process.execPath, FIXTURE, JSON.stringify(settings)]
    this.child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    createInterface(this.child.stdout as NodeJS.ReadableStream).on('line', (line) => {
      const said = JSON.parse(line) as Said
      this.said.push(said)
      this.onSaid(said)
    })
    this.#ended = new Promise((resolve) => void this.child.on('close', () => resolve()))
    onTestFinished(() => void this.child.kill('SIGKILL'))
  }

  tell(command: string, given: object = {}): void {
    this.child.stdin?.write(`${JSON.stringify({ command, ...given })}\n`)
  }

  async hears(is: (said: Said) => boolean): Promise<Said> {
    await expect.poll(() => this.said.some(is), { interval: 5 }).toBe(true)
    return this.said.find(is) as Said
  }

  /** The answer to the next write of a key. */
  async put(key: string, size: number): Promise<Said> {
    this.tell('put', { key, size })
    return this.hears((said) => said['put'] === key)
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL')
    await this.#ended
  }
}

/** A part of a result, whose value the process has sent as a text. */
const withBytes = (given: unknown): unknown =>
  given instanceof Object && 'value' in given ? { ...given, value: new Uint8Array(Buffer.from(String(given.value))) } : given

/**
 * The store of such a process, as its clients have it: what they wait for when it ends is never
 * known.
 */
export class RemoteStore implements Recorded {
  isOver = false
  readonly #process: StoreProcess
  readonly #waiting = new Map<number, (said: Said) => void>()
  #id = 0

  constructor(process: StoreProcess) {
    this.#process = process
    process.onSaid = (said) => {
      const id = said['id']
      if (typeof id !== 'number') return
      this.#waiting.get(id)?.(said)
      this.#waiting.delete(id)
    }
  }

  get(key: string): Promise<Got> {
    return this.#ask({ what: 'get', key })
  }

  put({ value, ...rest }: PutWrite): Promise<Written> {
    return this.#ask({ what: 'put', value: Buffer.from(value).toString(), ...rest })
  }

  delete(write: DeleteWrite): Promise<Deleted> {
    return this.#ask({ what: 'delete', ...write })
  }

  /** Called when the process has ended. */
  end(): void {
    this.isOver = true
    for (const tell of this.#waiting.values()) tell({ reason: 'unknown', message: 'the process has ended' })
    this.#waiting.clear()
  }

  async #ask<Result>(given: object): Promise<Result> {
    if (this.isOver) throw new StoreError('unavailable', 'the process has ended')
    const id = ++this.#id
    const { result, reason, message } = await new Promise<Said>((resolve) => {
      this.#waiting.set(id, resolve)
      this.#process.tell('ask', { id, ...given })
    })
    if (reason !== undefined) throw new StoreError(reason as StoreErrorReason, String(message))
    return Object.fromEntries(Object.entries(result as object).map(([name, each]) => [name, withBytes(each)])) as Result
  }
}
