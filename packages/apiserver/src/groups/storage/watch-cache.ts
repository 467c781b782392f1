import { type Clock, deferred } from '../../engine.ts'
import { expired, type StatusError, tooLargeResourceVersion } from '../../status-errors.ts'
import { type KeyValueStore, type StoreChange, type StoreWatch, withPrefix } from '../../store/key-value-store.ts'
import { indexOfKey } from '../../store/sorted-keys.ts'
import { type StoreError, storeClosed } from '../../store/store-error.ts'
import type { ApiObject } from '../api-object.ts'
import { type Change, History } from './history.ts'
import { atRevision, decodeObject } from './object-codec.ts'
import type { StorageEvent, StorageWatch } from './storage.ts'
import { statusOfEnded, statusOfStore } from './store-status.ts'
import { watchStore } from './watch-store.ts'

export interface WatchCacheOptions {
  /** The prefix of the keys of its objects. */
  readonly prefix: string
  /** Changes that can be watched later. */
  readonly window: number
  readonly clock: Clock
}

/** Keys of one read while it fills: what reads them does other things in between. */
const PAGE = 500

/** Longest time that a read waits for a revision. Upstream's bound, too. */
const FRESH_MS = 3_000

interface Listener {
  readonly hear: (event: StorageEvent) => void
  readonly ended: (why: StatusError) => void
}

interface Waiter {
  readonly revision: number
  readonly done: (isThere: boolean) => void
}

/** What is there at one revision: objects by their key, and the keys in their order. */
export interface CachedState {
  readonly objects: ReadonlyMap<string, ApiObject>
  readonly keys: readonly string[]
  readonly revision: number
}

/**
 * Makes an answer of what is there before it returns: a moment later there may be something else,
 * of another revision.
 */
type Read<T> = (state: CachedState) => T

/**
 * The objects of one resource as a store has them, a moment later: one watch of the store follows
 * its changes, and all lists and watches of clients are answered from here. A read that has to be
 * new waits until the cache is as new as the store was when it was asked.
 * @see kubernetes/apiserver pkg/storage/cacher/cacher.go
 */
export class WatchCache {
  readonly #store: KeyValueStore
  readonly #options: WatchCacheOptions
  readonly #objects = new Map<string, ApiObject>()
  /** Sorted. */
  #keys: string[] = []
  #history: History
  readonly #listeners = new Set<Listener>()
  readonly #waiters = new Set<Waiter>()
  #revision = 0
  #watch: StoreWatch | undefined
  #isClosed = false
  #wasFilled = false
  /** Resolves when it follows the store; undefined: it does not, and no read has asked. */
  #following: Promise<void> | undefined

  constructor(store: KeyValueStore, options: WatchCacheOptions) {
    this.#store = store
    this.#options = options
    this.#history = new History(options.window, 0)
  }

  /** Everything up to it is here. */
  get revision(): number {
    return this.#revision
  }

  /**
   * Reads what is there, behind everything that the store had acknowledged before.
   * @throws StoreError
   */
  async newest<T>(read: Read<T>): Promise<T> {
    return this.atLeast(this.#store.ownRevision ?? (await this.#store.revision()), read)
  }

  /** @throws StatusError 504 for a revision that does not come in time; StoreError */
  async atLeast<T>(revision: number, read: Read<T>): Promise<T> {
    await this.reached(revision)
    return read({ objects: this.#objects, keys: this.#keys, revision: this.#revision })
  }

  /**
   * Waits until the cache follows the store, and has reached a revision.
   * @throws as `atLeast`
   */
  async reached(revision: number): Promise<void> {
    this.#following ??= this.#follow()
    await this.#following
    if (this.#revision < revision && !(await this.#comes(revision))) throw tooLargeResourceVersion(String(revision), String(this.#revision))
  }

  /**
   * Reads what is there, or was there last where the store gives no more: it is filled anew
   * meanwhile. Only what has never been filled is waited for.
   * @throws StoreError
   */
  async atHand<T>(read: Read<T>): Promise<T> {
    if (this.#watch !== undefined || !this.#wasFilled) return this.atLeast(0, read)
    this.#following ??= this.#follow()
    // Reads that need what is new are told.
    this.#following.catch(() => {})
    return read({ objects: this.#objects, keys: this.#keys, revision: this.#revision })
  }

  /** Reads what was there; undefined: that is not known here, or is yet to come. */
  at<T>(revision: number, read: Read<T>): T | undefined {
    if (this.#watch === undefined || revision > this.#revision || revision < this.#history.from) return undefined
    const since = this.#history.after(revision)
    if (since.length === 0) return read({ objects: this.#objects, keys: this.#keys, revision })
    const objects = new Map(this.#objects)
    // They are taken back, the newest first.
    for (const { key, event } of [...since].reverse()) {
      if (event.previous === undefined) objects.delete(key)
      else objects.set(key, event.previous)
    }
    return read({ objects, keys: [...objects.keys()].sort(), revision })
  }

  /** @throws StatusError 410, 504; StoreError */
  async watch(after: number, hear: Listener['hear'], ended: Listener['ended']): Promise<StorageWatch> {
    await this.reached(0)
    if (after > this.#revision) {
      // Another server may have given it away already. One that no client can have is of another
      // store: what came behind it is not known.
      const newest = this.#store.ownRevision ?? (await this.#store.revision())
      if (after > newest) throw expired(`resource version ${after} is not a version of this storage`)
      await this.reached(after)
    }
    if (after < this.#history.from) await this.#recall(after)
    // What was recalled may be gone again: too much has come since, or the cache is a new one.
    if (after < this.#history.from) throw expired(`too old resource version: ${after} (${this.#history.from})`)
    // It has ended while this was waited for: what is added now would never hear of that.
    if (this.#watch === undefined) throw expired('the storage has lost its watch')
    const listener: Listener = { hear, ended }
    for (const { event } of this.#history.after(after)) hear(event)
    this.#listeners.add(listener)
    const revision = (): number => this.#revision
    return {
      get resourceVersion() {
        return String(revision())
      },
      close: () => void this.#listeners.delete(listener),
    }
  }

  close(): void {
    this.#isClosed = true
    this.#watch?.close()
    this.#listeners.clear()
    for (const { done } of [...this.#waiters]) done(false)
  }

  /** Waits until the revision is here, and asks the store to say so where nothing changes. */
  async #comes(revision: number): Promise<boolean> {
    const { clock } = this.#options
    const { promise, resolve } = deferred<boolean>()
    const waiter: Waiter = {
      revision,
      done: (isThere) => {
        this.#waiters.delete(waiter)
        clock.clearTimeout(bound)
        resolve(isThere)
      },
    }
    const bound = clock.setTimeout(() => waiter.done(false), FRESH_MS)
    this.#waiters.add(waiter)
    this.#watch?.requestProgress()
    return promise
  }

  async #follow(): Promise<void> {
    try {
      await this.#fill()
    } catch (thrown) {
      this.#following = undefined
      throw thrown
    }
  }

  async #fill(): Promise<void> {
    const { prefix, window } = this.#options
    const range = withPrefix(prefix)
    const objects: [string, ApiObject][] = []
    let at: number | undefined
    for (let from: string | undefined = range.from; from !== undefined; ) {
      const { entries, count, revision } = await this.#store.range({ ...range, from, limit: PAGE, at })
      at ??= revision
      for (const entry of entries) objects.push([entry.key.slice(prefix.length), decodeObject(entry)])
      const last = entries.at(-1)
      // The next key is the last one with the smallest character behind it.
      from = last !== undefined && count > entries.length ? `${last.key}\0` : undefined
    }
    if (this.#isClosed) throw storeClosed()
    this.#objects.clear()
    for (const [key, object] of objects) this.#objects.set(key, object)
    this.#keys = objects.map(([key]) => key)
    this.#revision = at as number
    this.#history = new History(window, this.#revision)
    this.#wasFilled = true
    this.#watch = watchStore(
      this.#store,
      { ...range, after: this.#revision },
      { next: (changes, revision) => this.#next(changes, revision), ended: (why) => this.#ended(why) },
    )
  }

  #next(changes: readonly StoreChange[], revision: number): void {
    for (const change of changes) this.#apply(change)
    if (revision > this.#revision) this.#revision = revision
    for (const waiter of [...this.#waiters]) if (waiter.revision <= this.#revision) waiter.done(true)
  }

  #apply(change: StoreChange): void {
    const key = change.key.slice(this.#options.prefix.length)
    const previous = this.#objects.get(key)
    const event = eventOf(change, previous)
    if (event === undefined) return
    if (event.type === 'DELETED') {
      this.#objects.delete(key)
      this.#keys.splice(indexOfKey(this.#keys, key), 1)
    } else {
      if (previous === undefined) this.#keys.splice(indexOfKey(this.#keys, key), 0, key)
      this.#objects.set(key, event.object)
    }
    this.#revision = change.revision
    this.#history.add({ revision: change.revision, key, event })
    for (const { hear } of this.#listeners) hear(event)
  }

  /** The store gives no more: clients are told, and it is filled anew by the next read. */
  #ended(why: StoreError): void {
    this.#watch = undefined
    this.#following = undefined
    const listeners = [...this.#listeners]
    this.#listeners.clear()
    for (const { ended } of listeners) ended(statusOfEnded(why))
    for (const { done } of [...this.#waiters]) done(false)
  }

  /** The recalls under way, of older changes than are here, which the store still has. */
  readonly #recalling = new Map<number, Promise<void>>()

  /**
   * Changes behind a revision that are too old for this cache, as a client has it that was here
   * before a restart: they are here afterwards if the store still has them.
   * @throws StatusError
   */
  async #recall(after: number): Promise<void> {
    const under = this.#recalling.get(after) ?? this.#recallOnce(after).finally(() => this.#recalling.delete(after))
    this.#recalling.set(after, under)
    await under
  }

  async #recallOnce(after: number): Promise<void> {
    const { prefix, window } = this.#options
    const history = this.#history
    const { from } = history
    const changes: Change[] = []
    const { promise, resolve, reject } = deferred<void>()
    const watch = watchStore(
      this.#store,
      { ...withPrefix(prefix), after },
      {
        next: (given, revision) => {
          for (const change of given) {
            const event = change.revision <= from ? eventOf(change, change.previous && decodeObject(change.previous)) : undefined
            if (event !== undefined) changes.push({ revision: change.revision, key: change.key.slice(prefix.length), event })
          }
          if (revision >= from) resolve()
        },
        ended: (why) => reject(statusOfStore(why)),
      },
    )
    const bound = this.#options.clock.setTimeout(() => resolve(), FRESH_MS)
    watch.requestProgress()
    try {
      await promise
    } finally {
      this.#options.clock.clearTimeout(bound)
      watch.close()
    }
    // Another client may have had older ones recalled meanwhile, or the cache may be a new one.
    if (history === this.#history && history.from === from && changes.length <= window) history.precede(changes, after)
  }
}

/** Undefined: of a deletion whose object is not known, which cannot be told. */
function eventOf({ current, revision }: StoreChange, previous: ApiObject | undefined): StorageEvent | undefined {
  if (current !== undefined) return { type: previous === undefined ? 'ADDED' : 'MODIFIED', object: decodeObject(current), previous }
  return previous && { type: 'DELETED', object: atRevision(previous, revision), previous }
}
