import { isErrorObject } from '../base/errors.ts'
import { errorRecord } from '../base/events.ts'

/**
 * What is kept of a value. Contexts and events may hold what users gave us, of any size and shape.
 */
const DEPTH_MAX = 8
const FIELDS_MAX = 200
const TEXT_LENGTH_MAX = 4_000
/** The most nodes of one value altogether: depth and fields alone would allow very many. */
const NODES_MAX = 5_000

/**
 * Anything as plain data that survives JSON, cut to a bearable size. Never throws, whatever getters
 * and proxies do.
 */
export function plain(value: unknown): unknown {
  return new Plain().of(value, 0)
}

class Plain {
  readonly #above = new Set<object>()
  #nodes = 0

  of(value: unknown, depth: number): unknown {
    try {
      return this.#of(value, depth)
    } catch {
      // A getter or a proxy that throws whenever it is looked at: that much can be said of it.
      return '[cannot be read]'
    }
  }

  #of(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return value.length > TEXT_LENGTH_MAX ? `${value.slice(0, TEXT_LENGTH_MAX)}…` : value
    if (value === null || value === undefined || typeof value === 'boolean') return value
    // JSON has no other numbers.
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
    if (typeof value !== 'object') return typeof value === 'function' ? '[function]' : String(value)
    if (isErrorObject(value)) return this.#of(errorRecord(value), depth)
    if (value instanceof Date) return value.toISOString()
    if (isActor(value)) return `[actor ${String(value.id)}]`
    if (this.#above.has(value)) return '[circular]'
    if (depth >= DEPTH_MAX || ++this.#nodes > NODES_MAX) return '[…]'
    this.#above.add(value)
    try {
      if (Array.isArray(value)) return this.#list(value, depth)
      if (value instanceof Set) return this.#list([...value], depth)
      const entries = value instanceof Map ? [...value] : Object.entries(value)
      return Object.fromEntries(entries.slice(0, FIELDS_MAX).map(([key, field]) => [String(key), this.of(field, depth + 1)]))
    } finally {
      this.#above.delete(value)
    }
  }

  #list(list: readonly unknown[], depth: number): unknown[] {
    const kept = list.slice(0, FIELDS_MAX).map((item) => this.of(item, depth + 1))
    return list.length > FIELDS_MAX ? [...kept, `… and ${list.length - FIELDS_MAX} more`] : kept
  }
}

const isActor = (value: object): value is { readonly id: unknown } => 'sessionId' in value && 'getSnapshot' in value
