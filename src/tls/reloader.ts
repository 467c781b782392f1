import type { Clock } from '../base/clock.ts'
import type { QuiesceError } from '../base/errors.ts'
import { FolderWatches } from './folder-watches.ts'

/** How long after a change in a folder its files are read: a replacement is several changes. */
export const SETTLE_MS = 50
/**
 * The time in milliseconds after which files are read without a change, which some file systems do
 * not report.
 */
export const REREAD_MS = 60_000
/** The first wait after a failure; each one is twice as long, up to {@link REREAD_MS}. */
const RETRY_FIRST_MS = 100
/**
 * Key and certificate are replaced one after the other: what fails no longer than this is no
 * failure.
 */
const LASTING_MS = 1_000

export interface Reloading {
  readonly clock: Clock
  readonly files: readonly string[]
  /** Reads everything again; one error for each that cannot be used. Must not reject. */
  readonly refresh: () => Promise<readonly QuiesceError[]>
  /**
   * Reports a failure once, when it has lasted, and once a minute a folder that cannot be watched.
   */
  readonly failed: (error: QuiesceError) => void
  /** Runs about once a minute. */
  readonly tick: () => void
}

/** When files are read again, and when their failures are reported. */
export class Reloader {
  readonly #reloading: Reloading
  readonly #watches: FolderWatches
  #timer: unknown
  #due = Number.POSITIVE_INFINITY
  #isReading = false
  #isClosed = false
  #tickedAt: number
  #unwatchedReportedAt = Number.NEGATIVE_INFINITY
  #retryMs = RETRY_FIRST_MS
  /** The time since which a failure is there, by its message. */
  #failing = new Map<string, { readonly since: number; wasNotified: boolean }>()

  constructor(reloading: Reloading) {
    this.#reloading = reloading
    this.#tickedAt = reloading.clock.now()
    this.#watches = new FolderWatches(reloading.files, () => this.#readIn(SETTLE_MS))
  }

  /** Begins to watch; what has changed since the last refresh is found. */
  begin(): void {
    this.#readIn(0)
  }

  /** Nothing is read, reported or watched from now on. A second call does nothing. */
  close(): void {
    this.#isClosed = true
    this.#reloading.clock.clearTimeout(this.#timer)
    this.#watches.close()
  }

  /** Reads after this time at the latest; sooner when that is planned already. */
  #readIn(ms: number): void {
    const { clock } = this.#reloading
    const due = clock.now() + ms
    if (this.#isClosed || due >= this.#due) return
    clock.clearTimeout(this.#timer)
    this.#due = due
    // What comes while files are read is read after that.
    if (!this.#isReading) this.#timer = clock.setTimeout(() => void this.#read(), ms)
  }

  async #read(): Promise<void> {
    const { clock, files, refresh, tick } = this.#reloading
    this.#due = Number.POSITIVE_INFINITY
    this.#isReading = true
    // Before the files: what happens after they were read is seen.
    const unwatched = files.length > 0 ? await this.#watches.refresh() : []
    const failures = await refresh()
    this.#isReading = false
    if (this.#isClosed) return
    if (clock.now() - this.#tickedAt >= REREAD_MS) {
      this.#tickedAt = clock.now()
      tick()
    }
    const isNew = failures.some(({ message }) => !this.#failing.has(message))
    this.#retryMs = isNew ? RETRY_FIRST_MS : Math.min(this.#retryMs * 2, REREAD_MS)
    this.#notify(failures, unwatched)
    const nextTickMs = this.#tickedAt + REREAD_MS - clock.now()
    // What was planned while files were read.
    const plannedMs = this.#due - clock.now()
    this.#due = Number.POSITIVE_INFINITY
    this.#readIn(Math.max(0, Math.min(nextTickMs, plannedMs, failures.length > 0 ? this.#retryMs : nextTickMs)))
  }

  /** A failure once, when it has lasted; a folder that cannot be watched once a minute. */
  #notify(failures: readonly QuiesceError[], unwatched: readonly QuiesceError[]): void {
    const { clock, failed } = this.#reloading
    const now = clock.now()
    const failing = new Map(failures.map(({ message }) => [message, this.#failing.get(message) ?? { since: now, wasNotified: false }]))
    for (const error of failures) {
      const state = failing.get(error.message)
      if (!state || state.wasNotified || now - state.since < LASTING_MS) continue
      state.wasNotified = true
      failed(error)
    }
    this.#failing = failing
    if (unwatched.length === 0 || now - this.#unwatchedReportedAt < REREAD_MS) return
    this.#unwatchedReportedAt = now
    for (const error of unwatched) failed(error)
  }
}
