import { type Clock, checkArguments, type Duration, optionError, parseDuration, systemClock } from '../../engine.ts'
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
  StoreEngine,
  StoreWatch,
  StoreWatcher,
  WatchQuery,
  Written,
} from '../key-value-store.ts'
import { compactedError, futureError, StoreError, storeClosed } from '../store-error.ts'
import { detailsOf, EtcdClient, type EtcdTls, isLost, isUnsent, loadGrpc } from './etcd-client.ts'
import { EtcdCompactor } from './etcd-compactor.ts'
import { COMPARES, ETCD, type EtcdEntry, type RangeAnswer, TARGETS } from './etcd-messages.ts'
import { EtcdWatch, lostError } from './etcd-watch.ts'

export interface EtcdEngineOptions {
  /** Default: connections are not encrypted. */
  readonly tls?: EtcdTls
  readonly user?: string
  readonly password?: string
  /** How long an answer is waited for. Default 5 s. */
  readonly timeout?: Duration
  /**
   * Time between two compactions, of one of all servers; 0: none by this server. Default 5 minutes.
   */
  readonly compactionInterval?: Duration
  /** Time between two looks whether etcd answers. Default 2 s. */
  readonly healthInterval?: Duration
  /** Default: that of the process. */
  readonly clock?: Clock
}

/**
 * How long the answer to a look is waited for. @see kubernetes/apiserver
 * pkg/storage/storagebackend/config.go DefaultHealthcheckTimeout
 */
const HEALTH_TIMEOUT_MS = 2_000
const PORT = 2379
const URL_ALLOWED = 'etcd://HOST:PORT,HOST:PORT/PREFIX; user and password are options of their own'

/**
 * The versions from which on progress comes behind the events that it is about. @see etcd CHANGELOG
 * 3.4.25, 3.5.8
 */
const ORDERED_PROGRESS = [
  [3, 4, 25],
  [3, 5, 8],
  [3, 6, 0],
] as const

/** Ends the key of a mark in a range: no name of an object has it. */
const MARK = '\x7fprogress'

/**
 * Keeps everything in an etcd, which several servers may share: below one prefix, with one of the
 * members asked, and the next when that cannot be reached. It needs the package `@grpc/grpc-js`.
 * @param url `etcd://10.0.0.1:2379,10.0.0.2/shop`: the port is 2379 where it is left out, and keys
 * have no prefix without one
 * @throws QuiesceError ERR_OPTION_INVALID
 * @example
 * const store = createStore(etcdEngine('etcd://127.0.0.1:2379/shop'))
 */
export function etcdEngine(url: string, options: EtcdEngineOptions = {}): StoreEngine {
  checkArguments('etcdEngine(url, options?)', [url, 'a text'], [options, 'an object'])
  const { endpoints, prefix } = readUrl(url)
  const { tls, user, password, timeout = '5s', compactionInterval = '5m', healthInterval = '2s', clock = systemClock } = options
  const of = 'of etcdEngine()'
  const timeoutMs = parseDuration(`timeout ${of}`, timeout)
  const compactionMs = parseDuration(`compactionInterval ${of}`, compactionInterval)
  const healthMs = parseDuration(`healthInterval ${of}`, healthInterval)
  if (timeoutMs === 0) throw optionError(`timeout ${of}`, timeout, 'more than 0')
  if (healthMs === 0) throw optionError(`healthInterval ${of}`, healthInterval, 'more than 0')
  if ((user === undefined) !== (password === undefined)) throw optionError(`user ${of}`, user, 'a name and a password, or neither')
  if ((tls?.certFile === undefined) !== (tls?.keyFile === undefined))
    throw optionError(`tls ${of}`, tls, 'certFile and keyFile, or neither')
  const name = `etcd://${endpoints.join(',')}${prefix}`
  return {
    name,
    check: 'etcd',
    open: async (context) => {
      const client = new EtcdClient(await loadGrpc(), { endpoints, tls, user, password, timeoutMs, clock })
      try {
        const { version = '' } = await client.call(ETCD.status, {})
        return new EtcdStore({ name, client, prefix, clock, compactionMs, healthMs, hasProgress: ordersProgress(version), ...context })
      } catch (thrown) {
        client.close()
        throw isLost(thrown) ? lostError(name, thrown) : new StoreError('unavailable', `${name} refuses: ${detailsOf(thrown)}`, {}, thrown)
      }
    },
  }
}

function readUrl(url: string): { readonly endpoints: readonly string[]; readonly prefix: string } {
  const [, hosts = '', path = ''] = /^etcd:\/\/([^/@?#]+)(\/[\x21-\x7e]*)?$/.exec(url) ?? []
  const endpoints = hosts.split(',').map((host) => (/:\d+$/.test(host) ? host : `${host}:${PORT}`))
  if (endpoints.some((endpoint) => !/^(?:\[[\da-fA-F:.]+\]|[\w.-]+):\d{1,5}$/.test(endpoint)))
    throw optionError('url of etcdEngine()', url, URL_ALLOWED)
  return { endpoints, prefix: path.endsWith('/') ? path.slice(0, -1) : path }
}

export function ordersProgress(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/).map(Number)
  const line = ORDERED_PROGRESS.find(([first, second]) => first === major && second === minor)
  return line === undefined ? major > 3 || (major === 3 && minor > 5) : patch >= line[2]
}

interface EtcdStoreParts extends OpenContext {
  readonly name: string
  readonly client: EtcdClient
  readonly prefix: string
  readonly clock: Clock
  readonly compactionMs: number
  readonly healthMs: number
  readonly hasProgress: boolean
}

class EtcdStore implements KeyValueStore {
  readonly #parts: EtcdStoreParts
  readonly #compactor: EtcdCompactor
  readonly #watches = new Set<EtcdWatch>()
  readonly #underWay = new Set<Promise<unknown>>()
  #condition: 'ready' | 'degraded' | 'lost' = 'ready'
  #why: StoreError | undefined
  #looking: unknown
  #isClosed = false
  #closing: Promise<void> | undefined

  constructor(parts: EtcdStoreParts) {
    this.#parts = parts
    this.#compactor = new EtcdCompactor(parts.client, parts.clock, parts.compactionMs, () => this.#lookSoon())
    this.#lookLater()
  }

  async revision(): Promise<number> {
    return (await this.#read({ key: this.#own(''), limit: 1, keys_only: true })).header?.revision ?? 0
  }

  async get(key: string, at?: number): Promise<Got> {
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
    if (this.#isClosed || this.#condition === 'lost') {
      const error = this.#isClosed ? storeClosed() : (this.#why as StoreError)
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
      mark: () => this.#write({ success: [{ request_put: { key: this.#own(`${range.from}${MARK}`), value: Buffer.alloc(0) } }] }),
      broken: () => this.#lookSoon(),
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
    const { clock, client } = this.#parts
    clock.clearTimeout(this.#looking)
    this.#compactor.close()
    for (const watch of [...this.#watches]) watch.end(storeClosed())
    await Promise.allSettled(this.#underWay)
    client.close()
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
    // What is sent into the dark may be done much later: it is not sent.
    if (this.#condition === 'lost') throw this.#why as StoreError
    const written = this.#parts.client.call(ETCD.txn, request, { isRepeatable: false })
    this.#underWay.add(written)
    try {
      return await written
    } catch (thrown) {
      throw this.#writeError(thrown)
    } finally {
      this.#underWay.delete(written)
    }
  }

  async #readError(thrown: unknown, asked: number): Promise<StoreError> {
    if (this.#isClosed) return storeClosed()
    if (isCompacted(thrown)) return compactedError(asked, await this.#compacted())
    if (detailsOf(thrown).includes('future revision')) return futureError(asked, await this.revision())
    this.#lookSoon()
    return lostError(this.#parts.name, thrown)
  }

  #writeError(thrown: unknown): StoreError {
    const details = detailsOf(thrown)
    if (/request is too large|larger than max/.test(details))
      return new StoreError('too-large', `the value is too large for etcd: ${details}`, {}, thrown)
    if (details.includes('database space exceeded')) {
      const error = new StoreError('unavailable', `etcd has no space left and refuses writes: ${details}`, {}, thrown)
      this.#become('degraded', error)
      return error
    }
    this.#lookSoon()
    if (isUnsent(thrown) || !isLost(thrown)) return lostError(this.#parts.name, thrown)
    return new StoreError(
      'unknown',
      `etcd did not answer a write in time; the write may have been done, or may still be done: ${details}`,
      {},
      thrown,
    )
  }

  /** The oldest revision that can be read, as a watch from the first one is told. */
  async #compacted(): Promise<number> {
    const stream = await this.#parts.client.watch()
    return new Promise((resolve) => {
      stream.on('data', ({ canceled, compact_revision: compacted }: { canceled?: boolean; compact_revision?: number }) => {
        if (!canceled) return
        resolve(compacted ?? 0)
        stream.cancel()
      })
      stream.on('error', () => resolve(0))
      stream.write({ create_request: { key: this.#own(''), start_revision: 1 } })
    })
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

  #lookLater(): void {
    if (this.#isClosed) return
    this.#looking = this.#parts.clock.setTimeout(() => void this.#look(), this.#parts.healthMs)
  }

  /** Looks at once: a call or a watch has had no answer. */
  #lookSoon(): void {
    if (this.#isClosed || this.#isLooking || this.#condition === 'lost') return
    this.#parts.clock.clearTimeout(this.#looking)
    void this.#look()
  }
  #isLooking = false

  async #look(): Promise<void> {
    const { client, name } = this.#parts
    this.#isLooking = true
    try {
      const bound = { timeoutMs: HEALTH_TIMEOUT_MS }
      await client.call(ETCD.range, { key: this.#own('/health') }, bound)
      const isFull = this.#condition === 'degraded' && ((await client.call(ETCD.alarms, {}, bound)).alarms ?? []).length > 0
      if (!isFull) this.#become('ready', undefined)
    } catch (thrown) {
      this.#become('lost', lostError(name, thrown))
    }
    this.#isLooking = false
    this.#lookLater()
  }

  #become(condition: 'ready' | 'degraded' | 'lost', error: StoreError | undefined): void {
    if (this.#isClosed) return
    const before = this.#condition
    this.#condition = condition
    this.#why = error
    if (before === condition) return
    this.#parts.onCondition(condition === 'ready' ? { is: 'ready' } : { is: condition, error: error as StoreError })
    if (condition === 'lost') for (const watch of [...this.#watches]) watch.end(error as StoreError)
  }

  #checkOpen(): void {
    if (this.#isClosed) throw storeClosed()
  }

  #own(key: string): Buffer {
    return Buffer.from(`${this.#parts.prefix}${key}`)
  }

  /** Keys begin with a slash; the character behind it ends a range of all of them. */
  #rangeOf({ from, to = '0' }: KeyRange): { readonly key: Buffer; readonly rangeEnd: Buffer } {
    return { key: this.#own(from === '' ? '/' : from), rangeEnd: this.#own(to) }
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

const isMark = ({ key }: Pick<EtcdEntry, 'key'>): boolean => key.subarray(-MARK.length).toString() === MARK

const isCompacted = (thrown: unknown): boolean => detailsOf(thrown).includes('has been compacted')
