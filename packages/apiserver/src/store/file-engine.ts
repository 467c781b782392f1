import { isBuiltin } from 'node:module'
import { setImmediate } from 'node:timers'
import { Worker } from 'node:worker_threads'
import {
  type Clock,
  checkArguments,
  type Deferred,
  deferred,
  optionError,
  parseDuration,
  QuiesceError,
  systemClock,
  withFields,
} from '../engine.ts'
import { FileCompactor } from './file-compactor.ts'
import type { Answers, ChangeRow, Reply, Request, StoredRow } from './file-messages.ts'
import { fileThread } from './file-thread.ts'
import {
  type Deleted,
  type DeleteWrite,
  type Got,
  isInRange,
  type KeyValue,
  type KeyValueStore,
  type OpenContext,
  type PutWrite,
  type Ranged,
  type RangeQuery,
  type StoreChange,
  type StoreEngine,
  type StoreWatch,
  type StoreWatcher,
  type WatchQuery,
  type Written,
} from './key-value-store.ts'
import { StoreError, storeClosed } from './store-error.ts'

export interface FileEngineOptions {
  /**
   * The path of the file; beside it there is `PATH-wal` while it is open. Its folder has to be
   * there.
   */
  readonly path: string
  /**
   * How long what was there before can be read and watched. Default `5m`, as upstream's; 0: as
   * short as it gets.
   */
  readonly history?: string | number
  /** Time between two looks for what can be forgotten. Default `10s`. */
  readonly compactionInterval?: string | number
  /**
   * Whether all of the file is checked before it is used: what is damaged is refused at the start,
   * and not when it is first read. Default true.
   */
  readonly verify?: boolean
  /**
   * The revision before the first change of a file that is new: behind those that clients have of
   * what it is restored from. Default 1.
   */
  readonly revision?: number
}

/** Writes that become durable together, at most, and bytes of their values. */
const BATCH_WRITES = 512
const BATCH_BYTES = 4 * 1024 * 1024
/** The largest value. As etcd's requests. */
const VALUE_MAX = 1.5 * 1024 * 1024
/** Rows of one message: what has more is asked for several times. */
const MESSAGE_ROWS = 500
/** Revisions that are forgotten at a time: writes come in between. */
const SWEEP_ROWS = 500
/** The time in milliseconds between two tries to write, or to read, again. */
const PROBE_MS = 1_000
/** The oldest Node whose `node:sqlite` needs no flag. */
const NODE_MIN = '22.13'

/**
 * Keeps everything in one file, by SQLite in a thread of its own. A write is answered when the disk
 * has it. One process at a time has the file; the lock goes with the process.
 * @throws QuiesceError ERR_DEPENDENCY_MISSING on a Node without `node:sqlite`, ERR_OPTION_INVALID
 */
export function fileEngine(options: FileEngineOptions, clock: Clock = systemClock): StoreEngine {
  checkArguments('fileEngine(options)', [options, withFields('options with a path', 'path')])
  const { path, history = '5m', compactionInterval = '10s', verify = true, revision = 1 } = options
  if (typeof path !== 'string' || path === '' || path.includes('\0')) throw optionError('path of fileEngine()', path, 'the path of a file')
  const historyMs = parseDuration('history of fileEngine()', history)
  const compactionMs = parseDuration('compactionInterval of fileEngine()', compactionInterval)
  if (!Number.isSafeInteger(revision) || revision < 1) throw optionError('revision of fileEngine()', revision, 'a whole number from 1 on')
  requireSqlite(path)
  return {
    name: `file:${path}`,
    check: 'storage',
    open: async (context) => {
      const store = new FileStore({ path, historyMs, compactionMs, isVerified: verify, revision }, context, clock)
      await store.open()
      return store
    },
  }
}

function requireSqlite(path: string): void {
  if (!isBuiltin('node:sqlite'))
    throw new QuiesceError(
      'ERR_DEPENDENCY_MISSING',
      `file:${path} needs node:sqlite, which Node has since ${NODE_MIN}; this is Node ${process.version}. Use a newer Node, or memory or etcd://HOST`,
      { path, node: process.version },
    )
}

/** What a whole file has. */
export interface FileContents {
  /** How many revisions can still be read. */
  readonly rows: number
  readonly keys: number
  readonly revision: number
  readonly compacted: number
}

/**
 * Reads all of a file that no process has open: what SQLite can say of it, and the checksum of each
 * revision.
 * @throws StoreError damaged with its place, unavailable; QuiesceError ERR_DEPENDENCY_MISSING
 */
export async function verifyFile(path: string): Promise<FileContents> {
  requireSqlite(path)
  const thread = new Thread(() => {})
  try {
    await thread.ask({ op: 'open', path, isVerified: false })
    const contents = await thread.ask({ op: 'verify' })
    await thread.ask({ op: 'close' })
    return contents
  } finally {
    await thread.end()
  }
}

interface FileSettings {
  readonly path: string
  readonly historyMs: number
  readonly compactionMs: number
  readonly isVerified: boolean
  readonly revision: number
}

interface PendingWrite {
  readonly key: string
  readonly value: Uint8Array | undefined
  readonly expected: number | undefined
  readonly settle: Deferred<Written | Deleted>
}

interface Listener {
  readonly query: WatchQuery
  readonly watcher: StoreWatcher
  /** Every change up to it was given. */
  revision: number
  isLive: boolean
}

const NOTHING = new Uint8Array(0)

class FileStore implements KeyValueStore {
  readonly #settings: FileSettings
  readonly #context: OpenContext
  readonly #clock: Clock
  #thread: Thread | undefined
  /** Durable; what has been accepted behind it is known to the thread alone. */
  #revision = 0
  readonly #queue: PendingWrite[] = []
  #isWriting = false
  #isFlushScheduled = false
  readonly #listeners = new Set<Listener>()
  /** Why it cannot be written; reads go on. */
  #degraded: StoreError | undefined
  readonly #compactor: FileCompactor
  #probe: unknown
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
    const thread = new Thread((error) => this.#lose(error))
    try {
      const { path, isVerified, revision: first } = this.#settings
      const { revision } = await thread.ask({ op: 'open', path, isVerified, revision: first })
      if (this.#context.signal.aborted) throw storeClosed()
      this.#thread = thread
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
    const { row, bytes } = await this.#ask({ op: 'get', key, at })
    return { entry: entryOf(row, bytes), revision: this.#revision }
  }

  async range({ from, to, at, limit = Number.MAX_SAFE_INTEGER }: RangeQuery): Promise<Ranged> {
    const entries: KeyValue[] = []
    let next = from
    let revision = at
    for (;;) {
      const wanted = Math.min(limit - entries.length, MESSAGE_ROWS)
      const answer = await this.#ask({ op: 'range', from: next, to, at: revision, limit: wanted })
      // All further parts are of the revision of the first.
      revision ??= answer.revision
      const before = entries.length
      for (const row of answer.rows) entries.push(entryOf(row, answer.bytes) as KeyValue)
      const count = before + answer.count
      if (entries.length >= count || entries.length >= limit) return { entries, count, revision: answer.revision }
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
    const listener: Listener = { query, watcher, revision: query.after ?? this.#revision, isLive: false }
    let isOver = false
    this.#listeners.add(listener)
    // Not before the caller has what this returns.
    queueMicrotask(() => void this.#begin(listener))
    return {
      requestProgress: () => {
        if (!isOver) queueMicrotask(() => listener.isLive && this.#listeners.has(listener) && watcher.next([], this.#revision))
      },
      close: () => {
        isOver = true
        this.#listeners.delete(listener)
      },
    }
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
    while (this.#isWriting || this.#queue.length > 0) await this.#flush()
    const listeners = [...this.#listeners]
    this.#listeners.clear()
    const thread = this.#thread
    this.#thread = undefined
    for (const { watcher } of listeners) watcher.ended(storeClosed())
    // A file that cannot be closed is closed with its thread.
    await thread?.ask({ op: 'close' }).catch(() => {})
    await thread?.end()
  }

  #opened(): Thread {
    if (this.#closing !== undefined) throw storeClosed()
    if (this.#thread === undefined) throw this.#degraded ?? new StoreError('unavailable', `file:${this.#settings.path} is not open`)
    return this.#thread
  }

  async #ask<R extends Request>(request: R): Promise<Answers[R['op']]> {
    try {
      return await this.#opened().ask(request)
    } catch (thrown) {
      if (thrown instanceof StoreError && thrown.reason === 'damaged') this.#degrade(thrown)
      throw thrown
    }
  }

  async #write(key: string, value: Uint8Array | undefined, expected: number | undefined): Promise<Written | Deleted> {
    this.#opened()
    if (this.#degraded !== undefined) throw readOnly(this.#degraded)
    const settle = deferred<Written | Deleted>()
    this.#queue.push({ key, value, expected, settle })
    if (!this.#isFlushScheduled && !this.#isWriting) {
      // All that comes in this turn becomes durable by one sync.
      this.#isFlushScheduled = true
      setImmediate(() => {
        this.#isFlushScheduled = false
        if (!this.#isWriting) void this.#flush()
      })
    }
    return settle.promise
  }

  #flushing: Promise<void> = Promise.resolve()

  #flush(): Promise<void> {
    if (!this.#isWriting) this.#flushing = this.#writeQueue()
    return this.#flushing
  }

  async #writeQueue(): Promise<void> {
    this.#isWriting = true
    try {
      while (this.#queue.length > 0) await this.#writeBatch(this.#nextBatch())
    } finally {
      this.#isWriting = false
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
    const writes = batch.map(({ key, expected, value }) => {
      if (value === undefined) return { key, expected, value }
      bytes.set(value, place)
      place += value.length
      return { key, expected, value: { at: place - value.length, length: value.length } }
    })
    let answer: Answers['write']
    try {
      if (this.#degraded !== undefined) throw readOnly(this.#degraded)
      if (this.#thread === undefined) throw storeClosed()
      answer = await this.#thread.ask({ op: 'write', writes, bytes }, [bytes.buffer])
    } catch (thrown) {
      const error = thrown as StoreError
      if (error.reason !== 'closed' && this.#thread !== undefined) this.#degrade(error)
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
    this.#revision = changes.at(-1)?.revision ?? this.#revision
    // Watches first: what is acknowledged they have been given.
    for (const listener of this.#listeners) if (listener.isLive) this.#give(listener, changes, this.#revision)
    for (const [index, result] of settled.entries()) batch[index]?.settle.resolve(result)
  }

  #give(listener: Listener, changes: readonly StoreChange[], revision: number): void {
    const after = listener.revision
    const wanted = changes.filter((change) => change.revision > after && isInRange(change.key, listener.query))
    listener.revision = Math.max(after, revision)
    if (wanted.length > 0) listener.watcher.next(wanted, revision)
  }

  /** What was there before this watch; then it is given each batch. */
  async #begin(listener: Listener): Promise<void> {
    const { query, watcher } = listener
    const { from, to } = query
    try {
      this.#opened()
      if (query.after === undefined) return this.#goLive(listener, [])
      // Asked for also where nothing is known to have changed: a write may be under way, and the
      // revision may be older than all that is known.
      while (this.#listeners.has(listener)) {
        const after = listener.revision
        const { changes, upTo, bytes } = await this.#ask({ op: 'changes', from, to, after, limit: MESSAGE_ROWS })
        if (!this.#listeners.has(listener)) return
        listener.revision = Math.max(after, upTo)
        const given = changes.map((row) => changeOf(row, bytes))
        // The last part comes with the news that the watch is in place.
        if (listener.revision >= this.#revision) return this.#goLive(listener, given)
        watcher.next(given, listener.revision)
      }
    } catch (thrown) {
      if (this.#listeners.delete(listener)) watcher.ended(thrown as StoreError)
    }
  }

  #goLive(listener: Listener, given: readonly StoreChange[]): void {
    if (!this.#listeners.has(listener)) return
    listener.isLive = true
    listener.watcher.next(given, this.#revision)
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
    this.#probe = this.#clock.setTimeout(() => void this.#tryAgain(), PROBE_MS)
  }

  async #tryAgain(): Promise<void> {
    if (this.#closing !== undefined) return
    try {
      if (this.#thread === undefined) await this.open()
      else await this.#thread.ask({ op: 'probe' })
      if (this.#closing !== undefined) return
      this.#degraded = undefined
      this.#context.onCondition({ is: 'ready' })
    } catch {
      // It is asked again: what it says is what it has said.
      this.#probeLater()
    }
  }

  /** The thread has ended by itself: it is started anew. */
  #lose(error: StoreError): void {
    if (this.#thread === undefined || this.#closing !== undefined) return
    this.#thread = undefined
    this.#degraded = error
    const listeners = [...this.#listeners]
    this.#listeners.clear()
    this.#context.onCondition({ is: 'lost', error })
    for (const { watcher } of listeners) watcher.ended(error)
    this.#compactor.stop()
    this.#clock.clearTimeout(this.#probe)
    this.#probeLater()
  }
}

const readOnly = (why: StoreError): StoreError =>
  why.reason === 'unavailable' ? why : new StoreError('unavailable', `it is read-only, because of: ${why.message}`, why.details, why)

const entryOf = (row: StoredRow | undefined, bytes: Uint8Array): KeyValue | undefined =>
  row && {
    key: row.key,
    value: row.length === 0 ? NOTHING : bytes.subarray(row.at, row.at + row.length),
    createRevision: row.created,
    modRevision: row.revision,
  }

const changeOf = ({ key, revision, after, before }: ChangeRow, bytes: Uint8Array): StoreChange => ({
  key,
  revision,
  current: entryOf(after, bytes),
  previous: entryOf(before, bytes),
})

interface Asked {
  readonly resolve: (answer: never) => void
  readonly reject: (error: StoreError) => void
  readonly isWrite: boolean
}

/**
 * A bundler that keeps names wraps functions in a helper of its own, which the thread does not
 * have.
 */
const PROGRAM = `const __name = (named) => named;(${fileThread.toString()})(require)`

/** Questions to the thread, answered in their order. It keeps a process alive while it owes one. */
class Thread {
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
