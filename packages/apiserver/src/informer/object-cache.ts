import { QuiesceError, show } from '../engine.ts'
import { type ApiObject, keyOf, keyText, type ObjectKey } from '../groups/api-object.ts'

/** The values under which an object is found in an index; none: it is not in it. */
export type Indexer<T extends ApiObject = ApiObject> = (object: T) => readonly string[]

/**
 * Objects by their keys, and by what indexers say of them. An object that is in it must not be
 * changed.
 * @see kubernetes/client-go tools/cache/thread_safe_store.go
 */
export class ObjectCache<T extends ApiObject> {
  readonly #objects = new Map<string, T>()
  readonly #indexers: (readonly [name: string, of: Indexer<T>, byValue: Map<string, Set<string>>])[] = []

  /** @throws QuiesceError ERR_DUPLICATE for the name of another indexer */
  addIndexers(indexers: Readonly<Record<string, Indexer<T>>>): void {
    for (const [name, of] of Object.entries(indexers)) {
      const known = this.#indexers.find(([its]) => its === name)
      if (known?.[1] === of) continue
      if (known) throw new QuiesceError('ERR_DUPLICATE', `index ${show(name)} is there already, by another function`, { name })
      const byValue = new Map<string, Set<string>>()
      this.#indexers.push([name, of, byValue])
      for (const [key, object] of this.#objects) index(key, of(object), byValue)
    }
  }

  get size(): number {
    return this.#objects.size
  }

  get(key: ObjectKey): T | undefined {
    return this.#objects.get(keyText(key))
  }

  all(): readonly T[] {
    return [...this.#objects.values()]
  }

  /** Undefined: there is no such index. */
  by(index: string, value: string): readonly T[] | undefined {
    const found = this.#indexers.find(([name]) => name === index)
    return found && [...(found[2].get(value) ?? [])].map((key) => this.#objects.get(key) as T)
  }

  /** Keeps an object in the place of the one that had its key, which is returned. */
  set(object: T): T | undefined {
    const key = keyText(keyOf(object))
    const previous = this.#objects.get(key)
    if (previous) this.#unindex(key, previous)
    this.#objects.set(key, object)
    for (const [, of, byValue] of this.#indexers) index(key, of(object), byValue)
    return previous
  }

  /** What was there is returned. */
  delete(of: ObjectKey): T | undefined {
    const key = keyText(of)
    const previous = this.#objects.get(key)
    if (previous) this.#unindex(key, previous)
    this.#objects.delete(key)
    return previous
  }

  #unindex(key: string, object: T): void {
    for (const [, of, byValue] of this.#indexers)
      for (const value of of(object)) {
        const keys = byValue.get(value)
        keys?.delete(key)
        if (keys?.size === 0) byValue.delete(value)
      }
  }
}

function index(key: string, values: readonly string[], byValue: Map<string, Set<string>>): void {
  for (const value of values) {
    const keys = byValue.get(value)
    if (keys) keys.add(key)
    else byValue.set(value, new Set([key]))
  }
}
