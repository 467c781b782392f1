import type { Clock } from '../engine.ts'

/** A revision, and when it was the newest. */
interface Sample {
  readonly revision: number
  readonly at: number
}

export interface FileCompactorParts {
  readonly clock: Clock
  /** Milliseconds between two compactions. */
  readonly intervalMs: number
  /** Milliseconds for which old revisions are kept. */
  readonly historyMs: number
  readonly newestRevision: () => number
  /** Whether the file can be written now. */
  readonly isWritable: () => boolean
  readonly compact: (revision: number) => Promise<void>
}

/** Has a file forget, in each interval, what is older than its history. */
export class FileCompactor {
  readonly #parts: FileCompactorParts
  readonly #samples: Sample[] = []
  #timer: unknown
  #isStopped = true

  constructor(parts: FileCompactorParts) {
    this.#parts = parts
  }

  /** Begins, or begins anew when the file was opened again. */
  start(): void {
    this.stop()
    this.#isStopped = false
    this.#wait()
  }

  stop(): void {
    this.#isStopped = true
    this.#parts.clock.clearTimeout(this.#timer)
  }

  #wait(): void {
    const { clock, intervalMs, newestRevision } = this.#parts
    // A compaction that was under way when the file was opened again comes here, too.
    clock.clearTimeout(this.#timer)
    this.#samples.push({ revision: newestRevision(), at: clock.now() })
    this.#timer = clock.setTimeout(() => void this.#compact(), intervalMs)
  }

  async #compact(): Promise<void> {
    const { clock, historyMs, isWritable, compact } = this.#parts
    const old = this.#samples.findLastIndex(({ at }) => at <= clock.now() - historyMs)
    const sample = this.#samples[old]
    this.#samples.splice(0, old + 1)
    // One that fails is tried again the next time. Where nothing is old enough, it is still seen
    // whether the file is in its place.
    if (isWritable()) await compact(sample?.revision ?? 0).catch(() => undefined)
    if (!this.#isStopped) this.#wait()
  }
}
