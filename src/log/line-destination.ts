import type { Clock } from '../base/clock.ts'

/** Where log lines go. */
export interface LineDestination {
  /** What was taken, and the reader has not accepted yet. */
  readonly pendingBytes: number
  /** How long the reader has taken nothing although there is something to take. */
  readonly blockedMs: number
  /** Lines that are lost. */
  readonly lostLines: number
  /** Takes one line, with its newline. Never throws, never waits. */
  write(line: string): void
  /** Resolves when nothing is pending: written, or lost. */
  flushed(): Promise<void>
  /**
   * Does as {@link flushed}, but no longer than the reader takes nothing for `ms`. Resolves with
   * what was given up.
   */
  flushBounded(ms: number): Promise<number>
  /**
   * Writes for at most `ms` while nothing else runs, for the last step before `process.exit`.
   * Returns what was given up.
   */
  flushSync(ms: number): number
}

interface WatchedReader {
  readonly clock: Clock
  readonly flushed: Promise<void>
  /** When it has last taken something. */
  readonly progressAt: () => number
  /** It has taken nothing for so long; returns what is given up. */
  readonly gaveUp: () => number
}

/** Waits for a reader as long as it takes something every `ms`: a slow one gets everything. */
export function waitForReader(ms: number, { clock, flushed, progressAt, gaveUp }: WatchedReader): Promise<number> {
  const begun = clock.now()
  return new Promise((resolve) => {
    let timer: unknown
    const watch = (): void => {
      const idleMs = clock.now() - Math.max(begun, progressAt())
      if (idleMs >= ms) resolve(gaveUp())
      else timer = clock.setTimeout(watch, ms - idleMs)
    }
    watch()
    void flushed.then(() => {
      clock.clearTimeout(timer)
      resolve(0)
    })
  })
}
