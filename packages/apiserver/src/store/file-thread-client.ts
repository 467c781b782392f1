import { isMainThread, Worker } from 'node:worker_threads'
import { type Clock, deferred, onProcessExit } from '../engine.ts'
import type { Answers, Reply, Request } from './file-messages.ts'
import { filePlace } from './file-place.ts'
import { FileSilence } from './file-silence.ts'
import { fileThread, type Parts, type ThreadShared } from './file-thread.ts'
import { logDamage } from './log-damage.ts'
import { sqliteRefusal } from './sqlite-refusal.ts'
import { StoreError } from './store-error.ts'

/** The time in milliseconds for which an exit waits for a call of the system to return. */
const EXIT_MS = 500

interface Asked {
  readonly resolve: (answer: never) => void
  readonly reject: (error: StoreError) => void
  readonly isWrite: boolean
}

/**
 * A bundler that keeps names wraps functions in a helper of its own, which the thread does not
 * have.
 */
const PARTS = Object.entries({ filePlace, logDamage, sqliteRefusal } satisfies Parts).map(([name, part]) => `${name}: ${part.toString()}`)
const PROGRAM = `const __name = (named) => named;(${fileThread.toString()})(require, { ${PARTS.join()} })`

const shared = (): Int32Array => new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))

/** Questions to the thread, answered in their order. It keeps a process alive while it owes one. */
export class FileThreadClient {
  readonly #worker: Worker
  readonly #asked = new Map<number, Asked>()
  readonly #shared: ThreadShared = { isBusy: shared(), done: shared(), isLeaving: shared() }
  readonly #silence: FileSilence | undefined
  #id = 0
  #isEnded = false

  /**
   * @param lost called when it ends without having been told to
   * @param watched by which clock its silence is measured, and what is called when it is too long
   */
  constructor(lost: (error: StoreError) => void, watched?: { readonly clock: Clock; readonly hangs: () => void }) {
    this.#silence = watched && new FileSilence({ ...watched, progress: () => this.#progress() })
    this.#worker = new Worker(PROGRAM, {
      eval: true,
      execArgv: ['--disable-warning=ExperimentalWarning'],
      name: 'quiesce file storage',
      workerData: this.#shared,
    })
    this.#worker.unref()
    const exit = onProcessExit(process, () => this.#leave(), true)
    let why: unknown
    this.#worker.on('message', (reply: Reply) => this.#answer(reply))
    this.#worker.on('error', (error) => {
      why = error
    })
    this.#worker.on('exit', () => {
      exit[Symbol.dispose]()
      this.#silence?.stop()
      const wasEnded = this.#isEnded
      this.#isEnded = true
      const message = `the thread that writes the file has ended${why === undefined ? '' : `: ${String(why)}`}`
      const error = new StoreError('unavailable', message, {}, why)
      for (const { reject, isWrite } of this.#asked.values())
        reject(isWrite ? new StoreError('unknown', `${message}: the write may have been done`, {}, why) : error)
      this.#asked.clear()
      if (!wasEnded) lost(error)
    })
  }

  ask<R extends Request>(request: R, transfer: readonly ArrayBuffer[] = []): Promise<Answers[R['op']]> {
    if (this.#isEnded) return Promise.reject(new StoreError('unavailable', 'the thread that writes the file has ended'))
    const { promise, resolve, reject } = deferred<Answers[R['op']]>()
    this.#silence?.asked()
    const id = this.#id++
    this.#asked.set(id, { resolve: resolve as Asked['resolve'], reject, isWrite: request.op === 'write' })
    this.#worker.ref()
    this.#worker.postMessage({ id, request }, transfer as ArrayBuffer[])
    return promise
  }

  async end(): Promise<void> {
    this.#isEnded = true
    this.#silence?.stop()
    await this.#worker.terminate()
  }

  #progress(): { readonly done: number; readonly owed: number } {
    const done = Atomics.load(this.#shared.done, 0)
    return { done, owed: this.#id - done }
  }

  /**
   * The process exits, and waits for its threads: without end for one that is in a call of the
   * system which does not return, as on a disk that hangs. What has ended every other way of
   * waiting ends this one; the file is as after any other crash. A thread that exits is no process.
   */
  #leave(): void {
    if (!isMainThread) return
    Atomics.store(this.#shared.isLeaving, 0, 1)
    if (Atomics.wait(this.#shared.isBusy, 0, 1, EXIT_MS) !== 'timed-out') return
    process.stderr.write('quiesce: the disk of the file storage does not answer, and lets no process exit: it is killed\n')
    process.kill(process.pid, 'SIGKILL')
  }

  #answer(reply: Reply): void {
    const asked = this.#asked.get(reply.id)
    this.#asked.delete(reply.id)
    if (this.#asked.size === 0) this.#worker.unref()
    if ('answer' in reply) asked?.resolve(reply.answer as never)
    else asked?.reject(new StoreError(reply.refusal.reason, reply.refusal.message, reply.refusal.details))
  }
}
