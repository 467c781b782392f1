import { Worker } from 'node:worker_threads'
import { deferred } from '../engine.ts'
import type { Answers, Reply, Request } from './file-messages.ts'
import { filePlace } from './file-place.ts'
import { fileThread, type Parts } from './file-thread.ts'
import { logDamage } from './log-damage.ts'
import { sqliteRefusal } from './sqlite-refusal.ts'
import { StoreError } from './store-error.ts'

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

/** Questions to the thread, answered in their order. It keeps a process alive while it owes one. */
export class FileThreadClient {
  readonly #worker: Worker
  readonly #asked = new Map<number, Asked>()
  #id = 0
  #isEnded = false

  /** @param lost called when it ends without having been told to */
  constructor(lost: (error: StoreError) => void) {
    this.#worker = new Worker(PROGRAM, { eval: true, execArgv: ['--disable-warning=ExperimentalWarning'], name: 'quiesce file storage' })
    this.#worker.unref()
    let why: unknown
    this.#worker.on('message', (reply: Reply) => this.#answer(reply))
    this.#worker.on('error', (error) => {
      why = error
    })
    this.#worker.on('exit', () => {
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
    const id = this.#id++
    this.#asked.set(id, { resolve: resolve as Asked['resolve'], reject, isWrite: request.op === 'write' })
    this.#worker.ref()
    this.#worker.postMessage({ id, request }, transfer as ArrayBuffer[])
    return promise
  }

  async end(): Promise<void> {
    this.#isEnded = true
    await this.#worker.terminate()
  }

  #answer(reply: Reply): void {
    const asked = this.#asked.get(reply.id)
    this.#asked.delete(reply.id)
    if (this.#asked.size === 0) this.#worker.unref()
    if ('answer' in reply) asked?.resolve(reply.answer as never)
    else asked?.reject(new StoreError(reply.refusal.reason, reply.refusal.message, reply.refusal.details))
  }
}
