import type { ErrorRecord } from '../base/events.ts'
import type { ReportedError } from './report.ts'

/**
 * A server lives for months, and its handlers may fail at every request: a report is not their log.
 */
export const FAILURES_MAX = 1_000

interface Kept {
  readonly where: string
  readonly error: ErrorRecord
  count: number
}

/**
 * The failures of one life, in the order in which they first came; of too many the newest, among
 * which are those of its end.
 */
export class Failures {
  /** The failures by what tells them apart; a map is in the order of insertion. */
  readonly #kept = new Map<string, Kept>()
  /** The same record is the same failure, also when it has no stack. */
  readonly #seen = new WeakSet<ErrorRecord>()
  #leftOut = 0

  /** How many are no longer in the list. */
  get leftOut(): number {
    return this.#leftOut
  }

  /** Something has failed, now: once more, when it has failed that way before. */
  came(where: string, error: ErrorRecord): void {
    const known = this.#kept.get(identity(where, error))
    if (known) known.count++
    else this.add(where, error)
  }

  /** One failure passes several places on its way up; it is listed where it was first seen. */
  add(where: string, error: ErrorRecord): void {
    const key = identity(where, error)
    if (this.#kept.has(key) || this.#seen.has(error)) return
    this.#seen.add(error)
    this.#kept.set(key, { where, error, count: 1 })
    if (this.#kept.size <= FAILURES_MAX) return
    const [oldest, { count }] = this.#kept.entries().next().value as [string, Kept]
    this.#kept.delete(oldest)
    this.#leftOut += count
  }

  list(): readonly ReportedError[] {
    return Array.from(this.#kept.values(), ({ where, error, count }) => ({ where, error, ...(count > 1 && { count }) }))
  }
}

/** The stack; what was thrown without one is only like what says the same at the same place. */
const identity = (where: string, { stack, name, message }: ErrorRecord): string => stack ?? `${where}: ${name}: ${message}`
