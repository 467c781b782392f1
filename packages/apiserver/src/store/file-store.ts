import { type Clock, formatDuration } from '../engine.ts'
import { FileCompactor } from './file-compactor.ts'
import type { Answers, Request, WriteRequest } from './file-messages.ts'
import { HANG_MS } from './file-silence.ts'
import { FileThreadClient } from './file-thread-client.ts'
import { FileWatches } from './file-watches.ts'
import { FileWrites } from './file-writes.ts'
import type {
  Deleted,
  DeleteWrite,
  Got,
  KeyValue,
  KeyValueStore,
  OpenContext,
  PutWrite,
  Ranged,
  RangeQuery,
  StoreChange,
  StoreWatch,
  StoreWatcher,
  WatchQuery,
  Written,
} from './key-value-store.ts'
import { StoreError, storeClosed } from './store-error.ts'
import { checkKey } from './store-key.ts'
import { entryOf } from './stored-rows.ts'

/** The largest value. As etcd's requests. */
const VALUE_MAX = 1.5 * 1024 * 1024
/** Rows of one message: what has more is asked for several times. */
const MESSAGE_ROWS = 500
/** Revisions that are forgotten at a time: writes come in between. */
const SWEEP_ROWS = 500
/** The time in milliseconds between two tries to write, or to read, again. */
const PROBE_MS = 1_000

export interface FileSettings {
  readonly path: string
  readonly historyMs: number
  readonly compactionMs: number
  readonly isVerified: boolean
  readonly revision: number
}

/** What a file keeps, which can be read while it cannot be written, and comes back by itself. */
export class FileStore implements KeyValueStore {
  readonly #settings: FileSettings
  readonly #context: OpenContext
  readonly #clock: Clock
  #thread: FileThreadClient | undefined
  /** Which file it is: what may be at its path later is not opened. */
  #file: string | undefined
  /** Durable; what has been accepted behind it is known to the thread alone. */
  #revision = 0
  readonly #writes = new FileWrites({
    write: (writes, bytes) => this.#writeBatch(writes, bytes),
    committed: (changes) => this.#commit(changes),
  })
  readonly #watches = new FileWatches({
    checkOpen: () => void this.#opened(),
    newestRevision: () => this.#revision,
    changesAfter: ({ from, to }, after) => this.#ask({ op: 'changes', from, to, after, limit: MESSAGE_ROWS }),
  })
  /** Why it cannot be written; reads go on. */
  #degraded: StoreError | undefined
  readonly #compactor: FileCompactor
  #probe: unknown
  /** The last try to use it again, which may still end with a thread to end. */
  #trying: Promise<void> = Promise.resolve()
  #closing: Promise<void> | undefined

  constructor(settings: FileSettings, context: OpenContext, clock: Clock) {
    this.#settings = settings
    this.#context = context
    this.#clock = clock
    this.#compactor = new FileCompactor({
      clock,
      intervalMs: settings.compactionMs,
      historyMs: settings.historyMs,
      newestRevision: () => this.#revision,
      isWritable: () => this.#degraded === undefined,
      compact: (revision) => this.compact(revision),
    })
  }

  async open(): Promise<void> {
    const hangs = (): void => {
      // A file that is being opened may take its time.
      if (this.#thread === thread) this.#degrade(this.#hanging())
    }
    const thread = new FileThreadClient((error) => this.#lose(error), { clock: this.#clock, hangs })
    try {
      const { path, isVerified, revision: first } = this.#settings
      const { revision, file } = await thread.ask({ op: 'open', path, isVerified, revision: first, file: this.#file })
      if (this.#context.signal.aborted || this.#closing !== undefined) throw storeClosed()
      this.#thread = thread
      this.#file = file
      this.#revision = revision
      this.#compactor.start()
    } catch (thrown) {
      await thread.end()
      throw thrown
    }
  }

  get ownRevision(): number {
    return this.#revision
  }

  async revision(): Promise<number> {
    this.#opened()
    return this.#revision
  }

  async get(key: string, at?: number): Promise<Got> {
    checkKey(key)
    const { row, bytes } = await this.#ask({ op: 'get', key, at })
    return { entry: entryOf(row, bytes), revision: this.#revision }
  }

  async range({ from, to, at, limit = Number.MAX_SAFE_INTEGER }: RangeQuery): Promise<Ranged> {
    const entries: KeyValue[] = []
    let next = from
    let revision = at
    let newest: number | undefined
    for (;;) {
      const wanted = Math.min(limit - entries.length, MESSAGE_ROWS)
      const answer = await this.#ask({ op: 'range', from: next, to, at: revision, limit: wanted })
      // All further parts are of the revision of the first, and so is the whole.
      newest ??= answer.revision
      revision ??= newest
      const before = entries.length
      for (const row of answer.rows) entries.push(entryOf(row, answer.bytes) as KeyValue)
      const count = before + answer.count
      if (entries.length >= count || entries.length >= limit) return { entries, count, revision: newest }
      next = `${entries.at(-1)?.key}\0`
    }
  }

  put({ key, value, expected }: PutWrite): Promise<Written> {
    if (value.length > VALUE_MAX)
      return Promise.reject(
        new StoreError('too-large', `the value has ${value.length} bytes, allowed: at most ${VALUE_MAX}`, { size: value.length }),
      )
    return this.#write(key, value, expected) as Promise<Written>
  }

  delete({ key, expected }: DeleteWrite): Promise<Deleted> {
    return this.#write(key, undefined, expected) as Promise<Deleted>
  }

  watch(query: WatchQuery, watcher: StoreWatcher): StoreWatch {
    return this.#watches.add(query, watcher)
  }

  async compact(revision: number): Promise<void> {
    await this.#ask({ op: 'compact', revision })
    for (;;) {
      const { isOver } = await this.#ask({ op: 'sweep', rows: SWEEP_ROWS })
      if (isOver) return
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#compactor.stop()
    this.#clock.clearTimeout(this.#probe)
    // What was accepted is written, as its writers wait for it.
    await this.#writes.drained()
    await this.#trying
    const thread = this.#thread
    this.#thread = undefined
    this.#watches.endAll(storeClosed())
    // A file that cannot be closed is closed with its thread.
    await thread?.ask({ op: 'close' }).catch(() => {})
    await thread?.end()
  }

  #opened(): FileThreadClient {
    if (this.#closing !== undefined) throw storeClosed()
    if (this.#thread === undefined) throw this.#degraded ?? new StoreError('unavailable', `file:${this.#settings.path} is not open`)
    return this.#thread
  }

  async #ask<R extends Request>(request: R): Promise<Answers[R['op']]> {
    try {
      return await this.#opened().ask(request)
    } catch (thrown) {
      if (thrown instanceof StoreError && (thrown.reason === 'damaged' || thrown.details['isMoved'] === true)) this.#degrade(thrown)
      throw thrown
    }
  }

  async #write(key: string, value: Uint8Array | undefined, expected: number | undefined): Promise<Written | Deleted> {
    this.#opened()
    checkKey(key)
    if (this.#degraded !== undefined) throw readOnly(this.#degraded)
    return this.#writes.add(key, value, expected)
  }

  async #writeBatch(writes: readonly WriteRequest[], bytes: Uint8Array<ArrayBuffer>): Promise<Answers['write']> {
    if (this.#degraded !== undefined) throw readOnly(this.#degraded)
    if (this.#thread === undefined) throw storeClosed()
    try {
      return await this.#thread.ask({ op: 'write', writes, bytes }, [bytes.buffer])
    } catch (thrown) {
      // A thread that has ended is started anew.
      if (this.#thread !== undefined) this.#degrade(thrown as StoreError)
      throw thrown
    }
  }

  #commit(changes: readonly StoreChange[]): void {
    this.#revision = changes.at(-1)?.revision ?? this.#revision
    this.#watches.give(changes, this.#revision)
  }

  #hanging(): StoreError {
    const silence = formatDuration(HANG_MS)
    return new StoreError(
      'unavailable',
      `the disk of ${this.#settings.path} has not answered for ${silence}: until it does, nothing is written`,
    )
  }

  /** Keeps the store readable, and writes no more until that can be done again. */
  #degrade(error: StoreError): void {
    if (this.#degraded !== undefined || this.#closing !== undefined) return
    this.#degraded = error
    this.#context.onCondition({ is: 'degraded', error })
    // What is damaged does not mend itself.
    if (error.reason !== 'damaged') this.#probeLater()
  }

  #probeLater(): void {
    if (this.#closing !== undefined) return
    // A thread that ends while it is asked has this called twice.
    this.#clock.clearTimeout(this.#probe)
    this.#probe = this.#clock.setTimeout(() => {
      this.#trying = this.#tryAgain()
    }, PROBE_MS)
  }

  async #tryAgain(): Promise<void> {
    try {
      if (this.#thread === undefined) await this.open()
      else await this.#thread.ask({ op: 'probe' })
      if (this.#closing !== undefined) return
      this.#degraded = undefined
      this.#context.onCondition({ is: 'ready' })
    } catch (thrown) {
      if (this.#closing !== undefined) return
      // It may be another reason than before: the file was removed while its disk was full.
      const error = thrown as StoreError
      this.#degraded = error
      this.#context.onCondition({ is: this.#thread === undefined ? 'lost' : 'degraded', error })
      if (error.reason !== 'damaged') this.#probeLater()
    }
  }

  /** The thread has ended by itself: it is started anew. */
  #lose(error: StoreError): void {
    if (this.#thread === undefined || this.#closing !== undefined) return
    this.#thread = undefined
    this.#degraded = error
    this.#context.onCondition({ is: 'lost', error })
    this.#watches.endAll(error)
    this.#compactor.stop()
    this.#probeLater()
  }
}

const readOnly = (why: StoreError): StoreError =>
  why.reason === 'unavailable' ? why : new StoreError('unavailable', `it is read-only, because of: ${why.message}`, why.details, why)
