import type { StoreError } from './store-error.ts'

/**
 * What keeps the bytes below API groups, with etcd's semantics: one revision counts over all keys,
 * a write may name the revision that it expects, what was there at a revision can be read until it
 * is compacted, and changes behind a revision can be watched. An engine is one file that opens one.
 *
 * Readers and watchers see only what is durable: what an engine has shown to anyone it has after
 * a crash, too, and a revision that was seen is never given to another change.
 * @see etcd api/etcdserverpb/rpc.proto
 */
export interface KeyValueStore {
  /**
   * The newest revision, where it is known without asking: only this process writes. Left
   * out: others may write, too.
   */
  readonly ownRevision?: number | undefined
  /** The newest revision, behind everything that was acknowledged before this was called. */
  revision(): Promise<number>
  /**
   * @param at the revision to read at; left out: the newest, behind everything that was
   * acknowledged before
   * @throws StoreError compacted, future, unavailable, damaged, invalid-key, closed
   */
  get(key: string, at?: number): Promise<Got>
  /**
   * Keys and values in the order of keys, all of one revision.
   * @throws StoreError compacted, future, unavailable, damaged, closed
   */
  range(query: RangeQuery): Promise<Ranged>
  /**
   * Resolves when the change is durable. The store may keep the array of the value: it is not to be
   * changed any more.
   * @throws StoreError unavailable: nothing was changed; unknown: it may have been, or will be;
   * too-large, invalid-key, closed: nothing was changed
   */
  put(write: PutWrite): Promise<Written>
  /**
   * Deletes a key, like `put`. A key that is not there is nothing to delete: no revision is used
   * for that.
   * @throws StoreError as `put`
   */
  delete(write: DeleteWrite): Promise<Deleted>
  /**
   * Gives the changes of a range of keys, in their order, each once and without a gap, until it is
   * closed or has ended.
   */
  watch(query: WatchQuery, watcher: StoreWatcher): StoreWatch
  /**
   * Forgets what was there before a revision: reads before it, and watches after an earlier one,
   * are `compacted` from then on. What is there at the revision stays. One that is compacted
   * already is nothing.
   * @throws StoreError future, unavailable, closed
   */
  compact(revision: number): Promise<void>
  /**
   * Ends all watches with `closed`. A write that is under way becomes durable or rejects; what
   * follows rejects with `closed`. Resolves when nothing is held any longer; a second call waits
   * for the first.
   */
  close(): Promise<void>
}

/** Keys from one on to before another, in the order of their text, which is ASCII. */
export interface KeyRange {
  readonly from: string
  /** The first key that is not part of it any more; left out: to the last key. */
  readonly to?: string | undefined
}

export interface KeyValue {
  readonly key: string
  /** The value, which must not be changed. */
  readonly value: Uint8Array
  /** The revision at which the key came to be. */
  readonly createRevision: number
  /** The revision at which this value was written. */
  readonly modRevision: number
}

export interface Got {
  readonly entry: KeyValue | undefined
  /** The newest of the store when this was read. */
  readonly revision: number
}

export interface RangeQuery extends KeyRange {
  /** The revision to read at; left out: the newest one. */
  readonly at?: number | undefined
  /** How many entries at most; 0 has nothing but the count. Left out: all. */
  readonly limit?: number | undefined
}

export interface Ranged {
  readonly entries: readonly KeyValue[]
  /** How many keys the range has, with those that the limit has left out. */
  readonly count: number
  /**
   * The newest of the store when this was read, whatever revision it was read at: without `at`, the
   * one that all of it is of.
   */
  readonly revision: number
}

/** What a write expects to find. */
export interface Expectation {
  readonly key: string
  /**
   * The `modRevision` that the key must have, 0: the key must not be there. Left out: whatever is
   * there.
   */
  readonly expected?: number | undefined
}

export interface PutWrite extends Expectation {
  readonly value: Uint8Array
}

export type DeleteWrite = Expectation

/** Nothing was changed, as what is there is not what was expected. */
export interface NotExpected {
  readonly isDone: false
  /** What is there instead. */
  readonly current: KeyValue | undefined
}

export type Written = { readonly isDone: true; readonly revision: number } | NotExpected

export type Deleted = { readonly isDone: true; readonly revision: number; readonly previous: KeyValue } | NotExpected

/** A change of one key. */
export interface StoreChange {
  readonly key: string
  readonly revision: number
  /** The value after the change; undefined: the key was deleted. */
  readonly current: KeyValue | undefined
  /** The value before the change; undefined: the key was not there. */
  readonly previous: KeyValue | undefined
}

export interface WatchQuery extends KeyRange {
  /**
   * The revision behind which changes are given. One that is yet to come: those behind it, once
   * it has come. Left out: those behind the newest.
   */
  readonly after?: number | undefined
}

/** Hears of changes. It takes no time, and does not throw. */
export interface StoreWatcher {
  /**
   * Every change of the range up to `revision` has been given with this call. The first call comes
   * when the watch is in place; one without changes is progress.
   */
  next(changes: readonly StoreChange[], revision: number): void
  /**
   * Learns that nothing more comes, though the watch was not closed. `compacted`: not all changes
   * behind its revision are known; `unavailable`: the store is lost; `closed`: it has ended.
   */
  ended(error: StoreError): void
}

export interface StoreWatch {
  /**
   * Has `next` called, soon, with a revision that is not older than the store's newest at this
   * call.
   */
  requestProgress(): void
  /** Ends the watch: nothing more is given. */
  close(): void
}

/** How an engine comes to a store, and what it says of it. */
export interface StoreEngine {
  /**
   * The name as it is written in logs: `memory`, `file:/var/lib/shop.db`. It has no password in it.
   */
  readonly name: string
  /** What its check of `/readyz` is called; left out: it has none, as it cannot fail. */
  readonly check?: string | undefined
  /**
   * Opens the engine, once: one that has failed to open may be opened again, one that is open may
   * not. What takes no time is no promise.
   * @throws StoreError damaged: trying again is no use; whatever else: it may be of use
   */
  open(context: OpenContext): KeyValueStore | Promise<KeyValueStore>
}

export interface OpenContext {
  /** Aborted when the store is not wanted any more. */
  readonly signal: AbortSignal
  /** Learns of every change in what the store can do; one that has opened is `ready`. */
  readonly onCondition: (condition: StoreCondition) => void
}

/** What a store can do: all of it, everything but writes, or nothing. It recovers by itself. */
export type StoreCondition =
  | { readonly is: 'ready' }
  | { readonly is: 'degraded'; readonly error: StoreError }
  | { readonly is: 'lost'; readonly error: StoreError }

/**
 * The largest revision that a store may begin behind: clients send revisions of 15 digits at most,
 * and there has to be room for those that come.
 */
export const REVISION_FIRST_MAX = 1e14

export const isFirstRevision = (given: unknown): given is number =>
  Number.isSafeInteger(given) && (given as number) >= 0 && (given as number) <= REVISION_FIRST_MAX

/** The range of all keys that begin with a text. */
export const withPrefix = (prefix: string): KeyRange =>
  prefix === '' ? { from: '' } : { from: prefix, to: prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1) }

export const isInRange = (key: string, { from, to }: KeyRange): boolean => key >= from && (to === undefined || key < to)
