import type { Clock } from '../../engine.ts'
import type {
  Deleted,
  DeleteWrite,
  Got,
  KeyRange,
  KeyValue,
  KeyValueStore,
  OpenContext,
  PutWrite,
  Ranged,
  RangeQuery,
  StoreWatch,
  StoreWatcher,
  WatchQuery,
  Written,
} from '../key-value-store.ts'
import { compactedError, futureError, StoreError, storeClosed } from '../store-error.ts'
import { checkKey, PROGRESS_MARK } from '../store-key.ts'
import { detailsOf, type EtcdClient, isRefused, isUnsent } from './etcd-client.ts'
import { EtcdCompactor } from './etcd-compactor.ts'
import { EtcdHealth } from './etcd-health.ts'
import { COMPARES, ETCD, type EtcdEntry, type RangeAnswer, TARGETS } from './etcd-messages.ts'
import { EtcdWatch, lostError } from './etcd-watch.ts'

/**
 * Begins every key of a store. It is asked for where any key will do: a key of etcd is not empty,
 * and a user may be allowed no more than what begins with `PREFIX/`.
 */
const ROOT = '/'

export interface EtcdStoreParts extends OpenContext {
  readonly name: string
  readonly client: EtcdClient
  readonly prefix: string
  readonly clock: Clock
  readonly compactionMs: number
  readonly healthMs: number
  readonly hasProgress: boolean
}

/** The keys of a prefix in etcd: reads, writes and watches, as long as a member answers. */
export class EtcdStore implements KeyValueStore {
  readonly #parts: EtcdStoreParts
  readonly #compactor: EtcdCompactor
  readonly #watches = new Set<EtcdWatch>()
  readonly #underWay = new Set<Promise<unknown>>()
  readonly #health: EtcdHealth
  #isClosed = false
  #closing: Promise<void> | undefined

  constructor(parts: EtcdStoreParts) {
    this.#parts = parts
    const { client, clock, name, compactionMs, healthMs, onCondition } = parts
    this.#health = new EtcdHealth({
      client,
      clock,
      name,
      intervalMs: healthMs,
      key: this.#own('/health'),
      changed: (condition) => {
        onCondition(condition)
        if (condition.is === 'lost') for (const watch of [...this.#watches]) watch.end(condition.error)
      },
    })
    this.#compactor = new EtcdCompactor(client, clock, compactionMs, () => this.#health.lookSoon())
    client.history.onLost = (thrown) => {
      this.#compactor.forget()
      this.#health.lose(lostError(name, thrown))
    }
  }

  async revision(): Promise<number> {
    return (await this.#read({ key: this.#own(ROOT), keys_only: true })).header?.revision ?? 0
  }

  async get(key: string, at?: number): Promise<Got> {
    checkKey(key)
    const { header, kvs } = await this.#read({ key: this.#own(key), ...(at !== undefined && { revision: at }) }, at)
    return { entry: kvs?.[0] && this.#entryOf(kvs[0]), revision: header?.revision ?? 0 }
  }

  async range({ at, limit, ...range }: RangeQuery): Promise<Ranged> {
    const { key, rangeEnd } = this.#rangeOf(range)
    // One more, as one of them may be a mark.
    const bound = limit === 0 ? { count_only: true } : limit === undefined ? {} : { limit: limit + 1 }
    const asked = { key, range_end: rangeEnd, ...bound, ...(at !== undefined && { revision: at }) }
    const { header, kvs = [], count = 0 } = await this.#read(asked, at)
    const entries = kvs.filter((entry) => !isMark(entry)).map((entry) => this.#entryOf(entry))
    const marks = await this.#marksIn(range, kvs, count, at)
    return { entries: entries.slice(0, limit), count: count - marks, revision: header?.revision ?? 0 }
  }

  async put({ key, value, expected }: PutWrite): Promise<Written> {
    checkKey(key)
    const own = this.#own(key)
    const compare = expected === undefined ? [] : [{ result: COMPARES.equal, target: TARGETS.mod, key: own, mod_revision: expected }]
    const { header, succeeded, responses } = await this.#write({
      compare,
      success: [{ request_put: { key: own, value } }],
      failure: [{ request_range: { key: own } }],
    })
    if (succeeded) return { isDone: true, revision: header?.revision ?? 0 }
    const [current] = responses?.[0]?.response_range?.kvs ?? []
    return { isDone: false, current: current && this.#entryOf(current) }
  }

  async delete({ key, expected }: DeleteWrite): Promise<Deleted> {
    checkKey(key)
    const own = this.#own(key)
    const isThere = { result: COMPARES.greater, target: TARGETS.create, key: own, create_revision: 0 }
    const isExpected = { result: COMPARES.equal, target: TARGETS.mod, key: own, mod_revision: expected }
    const { header, succeeded, responses } = await this.#write({
      compare: expected === undefined ? [isThere] : [isThere, isExpected],
      success: [{ request_delete_range: { key: own, prev_kv: true } }],
      failure: [{ request_range: { key: own } }],
    })
    if (succeeded) {
      const [previous] = responses?.[0]?.response_delete_range?.prev_kvs ?? []
      return { isDone: true, revision: header?.revision ?? 0, previous: this.#entryOf(previous as EtcdEntry) }
    }
    const [current] = responses?.[0]?.response_range?.kvs ?? []
    return { isDone: false, current: current && this.#entryOf(current) }
  }

  watch({ after, ...range }: WatchQuery, watcher: StoreWatcher): StoreWatch {
    const error = this.#isClosed ? storeClosed() : this.#health.lost
    if (error !== undefined) {
      let isOver = false
      queueMicrotask(() => {
        if (!isOver) watcher.ended(error)
      })
      return {
        requestProgress: () => {},
        close: () => {
          isOver = true
        },
      }
    }
    const { client, clock, hasProgress } = this.#parts
    const { key, rangeEnd } = this.#rangeOf(range)
    const watch: EtcdWatch = new EtcdWatch({
      client,
      clock,
      key,
      rangeEnd,
      after,
      watcher,
      hasProgress,
      isMark,
      entryOf: (entry) => this.#entryOf(entry),
      keyOf: (entry) => this.#keyOf(entry),
      revision: () => this.revision(),
      mark: () => this.#write({ success: [{ request_put: { key: this.#own(`${range.from}${PROGRESS_MARK}`), value: Buffer.alloc(0) } }] }),
      broken: () => this.#health.lookSoon(),
      over: () => void this.#watches.delete(watch),
    })
    this.#watches.add(watch)
    return watch
  }

  async compact(revision: number): Promise<void> {
    this.#checkOpen()
    try {
      // A watch that is not so far yet would be ended.
      await Promise.all(Array.from(this.#watches, (watch) => watch.reached(revision)))
      await this.#parts.client.call(ETCD.compact, { revision })
    } catch (thrown) {
      if (isCompacted(thrown)) return
      throw await this.#readError(thrown, revision)
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#isClosed = true
    this.#health.close()
    this.#compactor.close()
    for (const watch of [...this.#watches]) watch.end(storeClosed())
    await Promise.allSettled(this.#underWay)
    this.#parts.client.close()
  }

  async #read(request: object, at?: number): Promise<RangeAnswer> {
    this.#checkOpen()
    try {
      return await this.#parts.client.call(ETCD.range, request)
    } catch (thrown) {
      throw await this.#readError(thrown, at ?? 0)
    }
  }

  async #write(request: object) {
    this.#checkOpen()
    // A write that is sent to a lost etcd may be done much later, so it is not sent.
    if (this.#health.lost !== undefined) throw this.#health.lost
    const wasFull = this.#health.isDegraded
    const written = this.#parts.client.call(ETCD.txn, request, { isRepeatable: false })
    this.#underWay.add(written)
    try {
      return await written
    } catch (thrown) {
      throw this.#writeError(thrown, wasFull)
    } finally {
      this.#underWay.delete(written)
    }
  }

  async #readError(thrown: unknown, asked: number): Promise<StoreError> {
    if (this.#isClosed) return storeClosed()
    if (isCompacted(thrown)) return compactedError(asked, await this.#compacted())
    if (detailsOf(thrown).includes('future revision')) return futureError(asked, await this.revision())
    this.#health.lookSoon()
    return lostError(this.#parts.name, thrown)
  }

  /** @param wasFull whether it was known that etcd has no space, when the write was sent */
  #writeError(thrown: unknown, wasFull: boolean): StoreError {
    const details = detailsOf(thrown)
    if (/request is too large|larger than max/.test(details))
      return new StoreError('too-large', `the value is too large for etcd: ${details}`, {}, thrown)
    if (details.includes('database space exceeded')) {
      const error = new StoreError('unavailable', `etcd has no space left and refuses writes: ${details}`, {}, thrown)
      this.#health.degrade(error)
      // The write with which it becomes full is done, and answered like those that are refused.
      return wasFull ? error : unknownError(thrown)
    }
    this.#health.lookSoon()
    return isUnsent(thrown) || isRefused(thrown) ? lostError(this.#parts.name, thrown) : unknownError(thrown)
  }

  /**
   * The oldest revision that can be read, as a watch from the first one is told. 0: etcd does not
   * say it in the time of a read.
   */
  async #compacted(): Promise<number> {
    const { client, clock } = this.#parts
    const stream = await client.watch().catch(() => undefined)
    if (stream === undefined) return 0
    const timer = clock.setTimeout(() => stream.cancel(), client.timeoutMs)
    return new Promise<number>((resolve) => {
      stream.on('data', ({ canceled, compact_revision: compacted }: { canceled?: boolean; compact_revision?: number }) => {
        if (!canceled) return
        resolve(compacted ?? 0)
        stream.cancel()
      })
      stream.on('error', () => resolve(0))
      stream.write({ create_request: { key: this.#own(ROOT), start_revision: 1 } })
    }).finally(() => clock.clearTimeout(timer))
  }

  /** How many marks a range has, where that matters: its count has them, too. */
  async #marksIn(range: KeyRange, kvs: readonly EtcdEntry[], count: number, at: number | undefined): Promise<number> {
    if (this.#parts.hasProgress || count === 0) return 0
    if (kvs.length === count) return kvs.filter(isMark).length
    const { key, rangeEnd } = this.#rangeOf(range)
    const { kvs: keys = [] } = await this.#read(
      { key, range_end: rangeEnd, keys_only: true, ...(at !== undefined && { revision: at }) },
      at,
    )
    return keys.filter(isMark).length
  }

  #checkOpen(): void {
    if (this.#isClosed) throw storeClosed()
  }

  #own(key: string): Buffer {
    return Buffer.from(`${this.#parts.prefix}${key}`)
  }

  /** Keys begin with a slash; the character behind it ends a range of all of them. */
  #rangeOf({ from, to = '0' }: KeyRange): { readonly key: Buffer; readonly rangeEnd: Buffer } {
    return { key: this.#own(from === '' ? ROOT : from), rangeEnd: this.#own(to) }
  }

  #keyOf({ key }: EtcdEntry): string {
    return key.toString().slice(this.#parts.prefix.length)
  }

  #entryOf(entry: EtcdEntry): KeyValue {
    return {
      key: this.#keyOf(entry),
      value: entry.value ?? new Uint8Array(0),
      createRevision: entry.create_revision,
      modRevision: entry.mod_revision,
    }
  }
}

const unknownError = (thrown: unknown): StoreError =>
  new StoreError(
    'unknown',
    `etcd did not say what has become of a write; it may have been done, or may still be done: ${detailsOf(thrown)}`,
    {},
    thrown,
  )

const isMark = ({ key }: Pick<EtcdEntry, 'key'>): boolean => key.subarray(-PROGRESS_MARK.length).toString() === PROGRESS_MARK

const isCompacted = (thrown: unknown): boolean => detailsOf(thrown).includes('has been compacted')
