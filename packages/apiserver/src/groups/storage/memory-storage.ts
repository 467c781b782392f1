import { type Clock, checkArguments, optionError, systemClock } from '../../engine.ts'
import { expired, serviceUnavailable, tooLargeResourceVersion } from '../../status-errors.ts'
import { type ApiObject, isFields, keyOf, keyText, type ObjectKey } from '../api-object.ts'
import { orderedMeta } from '../object-meta.ts'
import { History } from './history.ts'
import type { ListQuery, Page, Storage, StorageEvent, StorageWatch } from './storage.ts'

export interface MemoryStorageOptions {
  /** Changes of each resource that can be watched later. Default 1000. */
  readonly history?: number
  /**
   * The revision before the first change. Default: the milliseconds since 1970, so that after a
   * restart no client holds a version of before for one of now.
   */
  readonly revision?: number
}

const HISTORY_DEFAULT = 1_000

/**
 * Keeps objects in this process, of any number of resources: with one revision over all of them.
 * What is in it ends with the process.
 * @throws QuiesceError ERR_OPTION_INVALID
 * @example
 * const memory = memoryStorage()
 * const versions = { v1: [{ resource: widgets, storage: memory.resource() }] }
 */
export function memoryStorage(options: MemoryStorageOptions = {}): MemoryStorage {
  checkArguments('memoryStorage(options?)', [options, 'an object'])
  return new MemoryStorage(options)
}

const isCount = (given: unknown): given is number => Number.isSafeInteger(given) && (given as number) >= 0

export class MemoryStorage {
  readonly #historyMax: number
  #revision: number

  constructor({ history = HISTORY_DEFAULT, revision }: MemoryStorageOptions, clock: Clock = systemClock) {
    if (!isCount(history)) throw optionError('history of memoryStorage()', history, 'a whole number from 0 on')
    if (revision !== undefined && !isCount(revision)) throw optionError('revision of memoryStorage()', revision, 'a whole number from 0 on')
    this.#historyMax = history
    this.#revision = revision ?? clock.wall()
  }

  /** A place for the objects of one more resource. */
  resource(): MemoryResource {
    return new MemoryResource(this.#historyMax, {
      now: () => this.#revision,
      next: () => ++this.#revision,
    })
  }
}

interface Revisions {
  readonly now: () => number
  readonly next: () => number
}

type Listener = (event: StorageEvent) => void

/** The objects of one resource. What it does takes no time. */
export class MemoryResource implements Required<Omit<Storage, 'review'>> {
  readonly #revisions: Revisions
  readonly #objects = new Map<string, ApiObject>()
  /** Sorted. */
  readonly #keys: string[] = []
  readonly #history: History
  readonly #listeners = new Set<Listener>()
  #isDestroyed = false

  constructor(historyMax: number, revisions: Revisions) {
    this.#revisions = revisions
    this.#history = new History(historyMax, revisions.now())
  }

  get(key: ObjectKey): ApiObject | undefined {
    return this.#objects.get(keyText(key))
  }

  create(object: ApiObject): ApiObject | undefined {
    const key = keyText(keyOf(object))
    return this.#objects.has(key) ? undefined : this.#write('ADDED', key, object)
  }

  update(object: ApiObject, expected: string): ApiObject | undefined {
    const key = keyText(keyOf(object))
    return this.#objects.get(key)?.metadata.resourceVersion === expected ? this.#write('MODIFIED', key, object) : undefined
  }

  delete(of: ObjectKey, expected: string): ApiObject | undefined {
    const key = keyText(of)
    const object = this.#objects.get(key)
    return object?.metadata.resourceVersion === expected ? this.#write('DELETED', key, object) : undefined
  }

  list({ namespace, matches, limit, at, start }: ListQuery): Page {
    const now = this.#revisions.now()
    const revision = at === undefined ? now : this.#known(at)
    const prefix = namespace === '' ? '' : `${namespace}/`
    const objects = revision === now ? this.#objects : this.#objectsAt(revision)
    const keys = objects === this.#objects ? this.#keys : [...objects.keys()].sort()
    const items: ApiObject[] = []
    let next: string | undefined
    let remaining = 0
    for (let index = placeOf(keys, start > prefix ? start : prefix); index < keys.length; index++) {
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

  watch(after: string, listener: Listener): StorageWatch {
    // A version that is yet to come was one of another storage: what came behind it is not known.
    if (Number(after) > this.#revisions.now()) throw expired(`resource version ${after} is not one of this storage`)
    const revision = this.#known(after)
    for (const { event } of this.#history.after(revision)) listener(event)
    this.#listeners.add(listener)
    const { now } = this.#revisions
    return {
      get resourceVersion() {
        return String(now())
      },
      close: () => void this.#listeners.delete(listener),
    }
  }

  ready(): boolean {
    return !this.#isDestroyed
  }

  destroy(): void {
    this.#isDestroyed = true
    this.#listeners.clear()
  }

  #write(type: StorageEvent['type'], key: string, given: ApiObject): ApiObject {
    if (this.#isDestroyed) throw serviceUnavailable('the storage has been closed')
    const previous = this.#objects.get(key)
    const revision = this.#revisions.next()
    const object = frozen({ ...given, metadata: orderedMeta({ ...given.metadata, resourceVersion: String(revision) }) })
    if (type === 'ADDED') this.#keys.splice(placeOf(this.#keys, key), 0, key)
    if (type === 'DELETED') {
      this.#objects.delete(key)
      this.#keys.splice(placeOf(this.#keys, key), 1)
    } else this.#objects.set(key, object)
    const event: StorageEvent = { type, object, previous }
    this.#history.add({ revision, key, event })
    for (const listener of this.#listeners) listener(event)
    return object
  }

  /** @throws StatusError for a version whose state is not known, or was never there */
  #known(version: string): number {
    const revision = Number(version)
    const now = this.#revisions.now()
    if (revision > now) throw tooLargeResourceVersion(version, String(now))
    if (revision < this.#history.from) throw expired(`too old resource version: ${version} (${this.#history.from})`)
    return revision
  }

  /** What was there: the changes since then are taken back, the newest first. */
  #objectsAt(revision: number): ReadonlyMap<string, ApiObject> {
    const objects = new Map(this.#objects)
    for (const { key, event } of [...this.#history.after(revision)].reverse()) {
      if (event.previous === undefined) objects.delete(key)
      else objects.set(key, event.previous)
    }
    return objects
  }
}

/** Where a key is in a sorted list, or would be. */
function placeOf(keys: readonly string[], key: string): number {
  let low = 0
  for (let high = keys.length; low < high; ) {
    const middle = (low + high) >> 1
    if ((keys[middle] as string) < key) low = middle + 1
    else high = middle
  }
  return low
}

/** All of it: what a strategy is given as the old object is still the stored one. */
function frozen<T>(value: T): T {
  if ((isFields(value) || Array.isArray(value)) && !Object.isFrozen(value)) {
    for (const each of Object.values(value)) frozen(each)
    Object.freeze(value)
  }
  return value
}
