import { type Clock, checkArguments, systemClock, withFields, withOptions } from '../../engine.ts'
import { expired, type StatusError, serviceUnavailable } from '../../status-errors.ts'
import { type KeyValueStore, withPrefix } from '../../store/key-value-store.ts'
import { indexOfKey } from '../../store/sorted-keys.ts'
import type { Store } from '../../store/store.ts'
import { isKey } from '../../store/store-key.ts'
import { type ApiObject, keyOf, keyText, type ObjectKey } from '../api-object.ts'
import { atRevision, decodeObject, encodeObject } from './object-codec.ts'
import type { ListQuery, MaybePromise, Page, Storage, StorageEvent, StorageWatch } from './storage.ts'
import { asStatus, statusOfEnded } from './store-status.ts'
import { type CachedState, WatchCache } from './watch-cache.ts'
import { watchStore } from './watch-store.ts'

export interface StorageOverOptions {
  /** The group of the resource; empty for the one without a name. */
  readonly group: string
  /** Its plural. */
  readonly plural: string
}

export interface StorageTuning {
  /**
   * Whether lists and watches are answered from memory, which one watch of the store keeps new.
   * Default true. Without it each of them asks the store, and decodes what it has.
   */
  readonly watchCache?: boolean
  /** Changes that the cache keeps for watches that begin later. Default 1000. */
  readonly window?: number
}

const WINDOW_DEFAULT = 1_000
const A_RESOURCE = withFields('a resource: { group, plural }', 'group', 'plural')

/**
 * The storage of one resource in a store, whose keys are upstream's:
 * `/registry/GROUP/PLURAL/NAMESPACE/NAME`. A resource of `defineResource` says which it is. The
 * store closes when the last storage over it is destroyed.
 * @throws QuiesceError ERR_OPTION_INVALID
 * @example
 * const store = createStore(memoryEngine())
 * const versions = { v1: [{ resource: widgets, storage: storageOver(store, widgets) }] }
 */
export function storageOver(
  store: Store,
  resource: StorageOverOptions,
  tuning: StorageTuning = {},
  clock: Clock = systemClock,
): StoreStorage {
  checkArguments(
    'storageOver(store, resource, tuning?)',
    [store, withFields('a store of createStore()', 'use', 'hold')],
    [resource, A_RESOURCE],
    [tuning, withOptions<StorageTuning>('watchCache', 'window')],
  )
  return new StoreStorage(store, resource, tuning, clock)
}

/** Names that could be read as something else than one part of a path. */
const isPart = (text: string): boolean => !/[/%]|^\.{1,2}$/.test(text)

/** Entries that a list without a cache reads at a time, at first. */
const CHUNK_MIN = 100
const CHUNK_MAX = 10_000

/** The objects of one resource, as bytes in a store. */
export class StoreStorage implements Required<Omit<Storage, 'review'>> {
  readonly store: Store
  readonly #prefix: string
  readonly #window: number | undefined
  readonly #clock: Clock
  readonly #release: () => Promise<void>
  #cache: { readonly of: KeyValueStore; readonly cache: WatchCache } | undefined
  #isDestroyed = false

  constructor(
    store: Store,
    { group, plural }: StorageOverOptions,
    { watchCache = true, window = WINDOW_DEFAULT }: StorageTuning,
    clock: Clock,
  ) {
    this.store = store
    this.#prefix = group === '' ? `/registry/${plural}/` : `/registry/${group}/${plural}/`
    this.#window = watchCache ? window : undefined
    this.#clock = clock
    this.#release = store.hold()
  }

  readonly get = (key: ObjectKey): Promise<ApiObject | undefined> =>
    this.#do(async (store) => {
      if (!isPart(key.namespace) || !isPart(key.name) || !isKey(this.#keyOf(key))) return undefined
      const cache = store.ownRevision === undefined ? undefined : this.#cacheOf(store)
      // No journey to the store where it is known how new the cache has to be.
      if (cache !== undefined) return cache.newest(({ objects }) => objects.get(keyText(key)))
      const { entry } = await store.get(this.#keyOf(key))
      return entry && decodeObject(entry)
    })

  readonly create = (object: ApiObject): Promise<ApiObject | undefined> => this.#put(object, 0)

  readonly update = (object: ApiObject, expected: string): Promise<ApiObject | undefined> => this.#put(object, Number(expected))

  readonly delete = (of: ObjectKey, expected: string): Promise<ApiObject | undefined> =>
    this.#do(async (store) => {
      const deleted = await store.delete({ key: this.#keyOf(of), expected: Number(expected) })
      return deleted.isDone ? atRevision(decodeObject(deleted.previous), deleted.revision) : undefined
    })

  readonly list = (query: ListQuery): Promise<Page> =>
    this.#do(async (store) => this.#pageOfCache(this.#cacheOf(store), query) ?? this.#read(store, query))

  readonly watch = (after: string, listener: (event: StorageEvent) => void, ended: (why: StatusError) => void): Promise<StorageWatch> =>
    this.#do((store) => {
      const cache = this.#cacheOf(store)
      return cache === undefined ? this.#follow(store, Number(after), listener, ended) : cache.watch(Number(after), listener, ended)
    })

  readonly ready = async (): Promise<boolean> => {
    if (this.#isDestroyed) return false
    this.store.ready()
    // What clients list is here before they may.
    await this.#cacheOf(this.store.use())?.reached(0)
    return true
  }

  readonly destroy = (): Promise<void> => {
    this.#isDestroyed = true
    this.#cache?.cache.close()
    return this.#release()
  }

  #keyOf(key: ObjectKey): string {
    return this.#prefix + keyText(key)
  }

  async #do<T>(what: (store: KeyValueStore) => Promise<T>): Promise<T> {
    try {
      if (this.#isDestroyed) throw serviceUnavailable('the storage has been closed')
      return await what(await this.store.opened())
    } catch (thrown) {
      throw asStatus(thrown)
    }
  }

  #put(object: ApiObject, expected: number): Promise<ApiObject | undefined> {
    return this.#do(async (store) => {
      const value = encodeObject(object)
      const key = this.#keyOf(keyOf(object))
      const written = await store.put({ key, value, expected })
      return written.isDone ? decodeObject({ key, value, modRevision: written.revision }) : undefined
    })
  }

  #cacheOf(store: KeyValueStore): WatchCache | undefined {
    if (this.#window === undefined) return undefined
    if (this.#cache?.of !== store) {
      this.#cache?.cache.close()
      const cache = new WatchCache(store, { prefix: this.#prefix, window: this.#window, clock: this.#clock })
      this.#cache = { of: store, cache }
    }
    return this.#cache.cache
  }

  /** Undefined: the store has to be read. */
  #pageOfCache(cache: WatchCache | undefined, query: ListQuery): MaybePromise<Page> | undefined {
    const { at, notOlderThan } = query
    const read = (state: CachedState): Page => pageOf(state, query)
    if (at !== undefined) return cache?.at(Number(at), read)
    if (notOlderThan === undefined) return cache?.newest(read)
    return notOlderThan === '0' ? cache?.atHand(read) : cache?.atLeast(Number(notOlderThan), read)
  }

  async #read(store: KeyValueStore, { namespace, matches, limit = Number.POSITIVE_INFINITY, at, start }: ListQuery): Promise<Page> {
    const prefix = namespace === '' ? this.#prefix : `${this.#prefix}${namespace}/`
    const range = withPrefix(prefix)
    const items: ApiObject[] = []
    let revision = at === undefined ? undefined : Number(at)
    let from = start === '' ? range.from : max(range.from, this.#prefix + start)
    let isAll = true
    for (let chunk = Math.max(CHUNK_MIN, Math.min(limit + 1, CHUNK_MAX)); ; chunk = Math.min(2 * chunk, CHUNK_MAX)) {
      const { entries, count, revision: newest } = await store.range({ ...range, from, limit: chunk, at: revision })
      revision ??= newest
      for (const [index, entry] of entries.entries()) {
        const object = decodeObject(entry)
        if (!matches(object)) isAll = false
        else if (items.length < limit) items.push(object)
        else
          return {
            items,
            resourceVersion: String(revision),
            next: entry.key.slice(this.#prefix.length),
            ...(isAll && { remaining: count - index }),
          }
      }
      const last = entries.at(-1)
      if (last === undefined || count <= entries.length) return { items, resourceVersion: String(revision), next: undefined }
      from = `${last.key}\0`
    }
  }

  /** A watch of its own. */
  async #follow(
    store: KeyValueStore,
    after: number,
    listener: (event: StorageEvent) => void,
    ended: (why: StatusError) => void,
  ): Promise<StorageWatch> {
    const newest = store.ownRevision ?? (await store.revision())
    if (after > newest) throw expired(`resource version ${after} is not a version of this storage`)
    let revision = after
    const watch = watchStore(
      store,
      { ...withPrefix(this.#prefix), after },
      {
        next: (changes, upTo) => {
          for (const { current, previous, revision: at } of changes) {
            const before = previous && decodeObject(previous)
            if (current !== undefined)
              listener({ type: before === undefined ? 'ADDED' : 'MODIFIED', object: decodeObject(current), previous: before })
            else if (before !== undefined) listener({ type: 'DELETED', object: atRevision(before, at), previous: before })
          }
          revision = Math.max(revision, upTo)
        },
        ended: (why) => ended(statusOfEnded(why)),
      },
    )
    return {
      get resourceVersion() {
        return String(revision)
      },
      close: () => watch.close(),
    }
  }
}

const max = (a: string, b: string): string => (a > b ? a : b)

function pageOf({ objects, keys, revision }: CachedState, { namespace, matches, limit, start }: ListQuery): Page {
  const prefix = namespace === '' ? '' : `${namespace}/`
  const items: ApiObject[] = []
  let next: string | undefined
  let remaining = 0
  for (let index = indexOfKey(keys, max(start, prefix)); index < keys.length; index++) {
    const key = keys[index] as string
    if (!key.startsWith(prefix)) break
    const object = objects.get(key) as ApiObject
    if (!matches(object)) continue
    if (limit === undefined || items.length < limit) items.push(object)
    else {
      next ??= key
      remaining++
    }
  }
  return { items, resourceVersion: String(revision), next, remaining }
}
