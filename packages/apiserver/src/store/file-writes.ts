import { setImmediate } from 'node:timers'
import { type Deferred, deferred } from '../engine.ts'
import type { Answers, WriteRequest } from './file-messages.ts'
import type { Deleted, KeyValue, StoreChange, Written } from './key-value-store.ts'
import { entryOf } from './stored-rows.ts'

/** Writes that become durable together, at most, and bytes of their values. */
const BATCH_WRITES = 512
const BATCH_BYTES = 4 * 1024 * 1024

export interface FileWritesParts {
  /** Writes a batch, and resolves when the disk has it. */
  readonly write: (writes: readonly WriteRequest[], bytes: Uint8Array<ArrayBuffer>) => Promise<Answers['write']>
  /** What has become durable, told before those who wrote it. */
  readonly committed: (changes: readonly StoreChange[]) => void
}

interface PendingWrite {
  readonly key: string
  readonly value: Uint8Array | undefined
  readonly expected: number | undefined
  readonly settle: Deferred<Written | Deleted>
}

/**
 * The writes of a file, one batch after the other: all that come in a turn of the event loop, or
 * while another batch is written, become durable by one sync.
 */
export class FileWrites {
  readonly #parts: FileWritesParts
  readonly #queue: PendingWrite[] = []
  #isScheduled = false
  /** The batches that are being written; undefined: none is. */
  #writing: Promise<void> | undefined

  constructor(parts: FileWritesParts) {
    this.#parts = parts
  }

  /** @param value undefined: the key is deleted */
  add(key: string, value: Uint8Array | undefined, expected: number | undefined): Promise<Written | Deleted> {
    const settle = deferred<Written | Deleted>()
    this.#queue.push({ key, value, expected, settle })
    if (!this.#isScheduled && this.#writing === undefined) {
      this.#isScheduled = true
      setImmediate(() => {
        this.#isScheduled = false
        void this.#writeQueue()
      })
    }
    return settle.promise
  }

  /** Resolves when every write has been answered. */
  async drained(): Promise<void> {
    while (this.#writing !== undefined || this.#queue.length > 0) await this.#writeQueue()
  }

  #writeQueue(): Promise<void> {
    if (this.#queue.length === 0) return this.#writing ?? Promise.resolve()
    this.#writing ??= this.#writeBatches()
    return this.#writing
  }

  async #writeBatches(): Promise<void> {
    try {
      while (this.#queue.length > 0) await this.#writeBatch(this.#nextBatch())
    } finally {
      // In the step that has found the queue empty: a write that comes next begins a batch.
      this.#writing = undefined
    }
  }

  #nextBatch(): readonly PendingWrite[] {
    let bytes = 0
    let count = 0
    while (count < this.#queue.length && count < BATCH_WRITES && bytes < BATCH_BYTES) bytes += this.#queue[count++]?.value?.length ?? 0
    return this.#queue.splice(0, count)
  }

  async #writeBatch(batch: readonly PendingWrite[]): Promise<void> {
    const bytes = new Uint8Array(batch.reduce((sum, { value }) => sum + (value?.length ?? 0), 0))
    let place = 0
    const writes = batch.map(({ key, expected, value }): WriteRequest => {
      if (value === undefined) return { key, expected, value }
      bytes.set(value, place)
      place += value.length
      return { key, expected, value: { at: place - value.length, length: value.length } }
    })
    let answer: Answers['write']
    try {
      answer = await this.#parts.write(writes, bytes)
    } catch (error) {
      for (const { settle } of batch) settle.reject(error)
      return
    }
    const changes: StoreChange[] = []
    const settled = answer.results.map((result, index): Written | Deleted => {
      const { key, value } = batch[index] as PendingWrite
      const previous = entryOf(result.before, answer.bytes)
      if (!result.isDone) return { isDone: false, current: previous }
      const { revision } = result
      const current = value && { key, value, createRevision: result.created, modRevision: revision }
      changes.push({ key, revision, current, previous })
      return value === undefined ? { isDone: true, revision, previous: previous as KeyValue } : { isDone: true, revision }
    })
    this.#parts.committed(changes)
    for (const [index, result] of settled.entries()) batch[index]?.settle.resolve(result)
  }
}
