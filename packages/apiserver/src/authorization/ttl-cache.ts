import type { Clock } from '../engine.ts'

interface Entry<T> {
  readonly value: T
  readonly until: number
}

/**
 * Keeps values for a time. When there are too many, that which was not asked for the longest is
 * forgotten. @see kubernetes/apimachinery pkg/util/cache/lruexpirecache.go
 */
export class TtlCache<T> {
  readonly #clock: Clock
  readonly #entriesMax: number
  /** The entries, first that which was not asked for the longest. */
  readonly #entries = new Map<string, Entry<T>>()

  constructor(clock: Clock, entriesMax: number) {
    this.#clock = clock
    this.#entriesMax = entriesMax
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    if (entry.until <= this.#clock.now()) return undefined
    this.#entries.set(key, entry)
    return entry.value
  }

  set(key: string, value: T, ttlMs: number): void {
    this.#entries.delete(key)
    if (ttlMs <= 0) return
    this.#entries.set(key, { value, until: this.#clock.now() + ttlMs })
    if (this.#entries.size <= this.#entriesMax) return
    const [oldest] = this.#entries.keys()
    this.#entries.delete(oldest as string)
  }
}
