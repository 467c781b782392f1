import type { ErrorRecord } from '../events.ts'
import type { ReportedError } from './report.ts'

/** A server lives for months, and its handlers may fail at every request: a report is not their log. */
export const FAILURES_MAX = 1_000

/** The failures of one life, in the order in which they came; of too many the newest, among which are those of its end. */
export class Failures {
  /** By what tells them apart; a map is in the order of insertion. */
  readonly #kept = new Map<unknown, ReportedError>()
  #leftOut = 0

  /** How many are no longer in the list. */
  get leftOut(): number {
    return this.#leftOut
  }

  /** One failure passes several places on its way up; it is listed where it was first seen. */
  add(where: string, error: ErrorRecord): void {
    const identity = error.stack ?? error
    if (this.#kept.has(identity)) return
    this.#kept.set(identity, { where, error })
    if (this.#kept.size <= FAILURES_MAX) return
    const [oldest] = this.#kept.keys()
    this.#kept.delete(oldest)
    this.#leftOut++
  }

  list(): readonly ReportedError[] {
    return [...this.#kept.values()]
  }
}
