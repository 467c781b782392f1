import { type Clock, checkArguments, optionError, systemClock, withOptions } from '../engine.ts'
import {
  type Deleted,
  type DeleteWrite,
  type Expectation,
  type Got,
  isFirstRevision,
  isInRange,
  type KeyValue,
  type KeyValueStore,
  type PutWrite,
  type Ranged,
  type RangeQuery,
  REVISION_FIRST_MAX,
  type StoreChange,
  type StoreEngine,
  type StoreWatch,
  type StoreWatcher,
  type WatchQuery,
  type Written,
} from './key-value-store.ts'
import { indexOfKey } from './sorted-keys.ts'
import { compactedError, futureError, storeClosed } from './store-error.ts'
import { checkKey } from './store-key.ts'

export interface MemoryEngineOptions {
  /** Changes that can be watched later, and read at their revision. Default 10 000. */
  readonly history?: number
  /**
   * The revision before the first change. Default: the milliseconds since 1970, so that after a
   * restart no client holds a revision of before for one of now.
   */
  readonly revision?: number
}

const HISTORY_DEFAULT = 10_000

const isCount = (given: unknown): given is number => Number.isSafeInteger(given) && (given as number) >= 0

/**
 * Keeps everything in this process, and ends with it.
 * @throws QuiesceError ERR_OPTION_INVALID
 */
export function memoryEngine(options: MemoryEngineOptions = {}, clock: Clock = systemClock): StoreEngine {
  checkArguments('memoryEngine(options?)', [options, withOptions<MemoryEngineOptions>('history', 'revision')])
  const { history = HISTORY_DEFAULT, revision } = options
  if (!isCount(history)) throw optionError('history of memoryEngine()', history, 'a whole number from 0 on')
  if (revision !== undefined && !isFirstRevision(revision))
    throw optionError('revision of memoryEngine()', revision, `a whole number from 0 to ${REVISION_FIRST_MAX}`)
  return { name: 'memory', open: () => new MemoryStore(history, revision ?? clock.wall()) }
}

/** What a key was from a revision on; undefined: nothing. */
interface Version {
  readonly revision: number
  readonly entry: KeyValue | undefined
}

interface Listener {
  readonly query: WatchQuery
  readonly after: number
  readonly watcher: StoreWatcher
}

class MemoryStore implements KeyValueStore {
  readonly #history: number
  /** The versions of each key, oldest first; the last is what is there now. */
  readonly #versions = new Map<string, Version[]>()
  /** The keys of `#versions`, sorted. */
  readonly #keys: string[] = []
  /** The changes since the revision that is compacted, oldest first. */
  readonly #changes: StoreChange[] = []
  readonly #listeners = new Set<Listener>()
  /** Watches that have not been given yet what was there before them. */
  readonly #waiting = new Set<Listener>()
  #revision: number
  #compacted: number
  #isClosed = false

  constructor(history: number, revision: number) {
    this.#history = history
    this.#revision = revision
    this.#compacted = revision
  }

  get ownRevision(): number {
    return this.#revision
  }

  async revision(): Promise<number> {
    this.#checkOpen()
    return this.#revision
  }

  async get(key: string, at: number = this.#revision): Promise<Got> {
    this.#checkReadable(at)
    checkKey(key)
    return { entry: this.#at(key, at), revision: this.#revision }
  }

  async range({ from, to, at = this.#revision, limit = Number.POSITIVE_INFINITY }: RangeQuery): Promise<Ranged> {
    this.#checkReadable(at)
    const entries: KeyValue[] = []
    let count = 0
    const end = to === undefined ? this.#keys.length : indexOfKey(this.#keys, to)
    for (let place = indexOfKey(this.#keys, from); place < end; place++) {
      const entry = this.#at(this.#keys[place] as string, at)
      if (entry === undefined) continue
      if (count < limit) entries.push(entry)
      count++
    }
    return { entries, count, revision: this.#revision }
  }

  async put({ key, value, expected }: PutWrite): Promise<Written> {
    this.#checkOpen()
    checkKey(key)
    const previous = this.#at(key, this.#revision)
    if (!isExpected(previous, { key, expected })) return { isDone: false, current: previous }
    const revision = this.#revision + 1
    this.#commit(previous, { key, value, createRevision: previous?.createRevision ?? revision, modRevision: revision }, key)
    return { isDone: true, revision }
  }

  async delete({ key, expected }: DeleteWrite): Promise<Deleted> {
    this.#checkOpen()
    checkKey(key)
    const previous = this.#at(key, this.#revision)
    if (previous === undefined || !isExpected(previous, { key, expected })) return { isDone: false, current: previous }
    this.#commit(previous, undefined, key)
    return { isDone: true, revision: this.#revision, previous }
  }

  watch(query: WatchQuery, watcher: StoreWatcher): StoreWatch {
    const listener: Listener = { query, after: query.after ?? this.#revision, watcher }
    let isOver = false
    this.#waiting.add(listener)
    // Not before the caller has what this returns.
    queueMicrotask(() => this.#begin(listener))
    return {
      requestProgress: () => {
        if (!isOver) queueMicrotask(() => this.#listeners.has(listener) && watcher.next([], this.#revision))
      },
      close: () => {
        isOver = true
        this.#waiting.delete(listener)
        this.#listeners.delete(listener)
      },
    }
  }

  async compact(revision: number): Promise<void> {
    this.#checkOpen()
    if (revision > this.#revision) throw futureError(revision, this.#revision)
    this.#forget(revision)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    const ended = [...this.#waiting, ...this.#listeners]
    this.#waiting.clear()
    this.#listeners.clear()
    for (const { watcher } of ended) watcher.ended(storeClosed())
  }

  #begin(listener: Listener): void {
    if (!this.#waiting.delete(listener)) return
    const { query, after, watcher } = listener
    const why = this.#isClosed ? storeClosed() : after < this.#compacted ? compactedError(after, this.#compacted) : undefined
    if (why !== undefined) {
      watcher.ended(why)
      return
    }
    this.#listeners.add(listener)
    const first = this.#changes.findLastIndex(({ revision }) => revision <= after) + 1
    const changes = this.#changes.slice(first).filter(({ key }) => isInRange(key, query))
    watcher.next(changes, this.#revision)
  }

  #at(key: string, revision: number): KeyValue | undefined {
    return this.#versions.get(key)?.findLast((version) => version.revision <= revision)?.entry
  }

  #commit(previous: KeyValue | undefined, current: KeyValue | undefined, key: string): void {
    const revision = ++this.#revision
    const versions = this.#versions.get(key)
    if (versions === undefined) {
      this.#versions.set(key, [{ revision, entry: current }])
      this.#keys.splice(indexOfKey(this.#keys, key), 0, key)
    } else versions.push({ revision, entry: current })
    const change: StoreChange = { key, revision, current, previous }
    this.#changes.push(change)
    // At times twice as many are kept, so that forgetting is no part of each write.
    if (this.#changes.length > 2 * this.#history) this.#forget((this.#changes.at(-1 - this.#history) as StoreChange).revision)
    for (const { query, after, watcher } of this.#listeners) if (revision > after && isInRange(key, query)) watcher.next([change], revision)
  }

  #forget(revision: number): void {
    if (revision <= this.#compacted) return
    this.#compacted = revision
    const kept = this.#changes.findIndex((change) => change.revision > revision)
    const forgotten = this.#changes.splice(0, kept < 0 ? this.#changes.length : kept)
    for (const key of new Set(forgotten.map((change) => change.key))) {
      const versions = this.#versions.get(key) as Version[]
      versions.splice(
        0,
        versions.findLastIndex((version) => version.revision <= revision),
      )
      const [oldest] = versions
      if (oldest?.entry === undefined && (oldest?.revision ?? 0) <= revision) versions.shift()
      if (versions.length > 0) continue
      this.#versions.delete(key)
      this.#keys.splice(indexOfKey(this.#keys, key), 1)
    }
  }

  #checkOpen(): void {
    if (this.#isClosed) throw storeClosed()
  }

  #checkReadable(revision: number): void {
    this.#checkOpen()
    if (revision > this.#revision) throw futureError(revision, this.#revision)
    if (revision < this.#compacted) throw compactedError(revision, this.#compacted)
  }
}

/** Whether what is there is what a write expects. */
const isExpected = (current: KeyValue | undefined, { expected }: Expectation): boolean =>
  expected === undefined || expected === (current?.modRevision ?? 0)
