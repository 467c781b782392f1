import type { Clock } from '../engine.ts'

/** The time in milliseconds without any answer after which a disk is said to hang. */
export const HANG_MS = 5_000
const LOOKS = 5

export interface FileSilenceParts {
  readonly clock: Clock
  /** Operations that the thread has done, and those that it has still to do. */
  readonly progress: () => { readonly done: number; readonly owed: number }
  /** Called once for each silence that is too long. */
  readonly hangs: () => void
}

/**
 * Whether the thread of a file gets anywhere with what it is asked. It counts by itself, so that an
 * event loop that stands still is no disk that hangs; and it is looked at several times, as after
 * a process that stood still the first look comes before the thread has had its time.
 */
export class FileSilence {
  readonly #parts: FileSilenceParts
  #timer: unknown
  #done = 0
  #looks = 0

  constructor(parts: FileSilenceParts) {
    this.#parts = parts
  }

  /** The thread is about to be asked for something. */
  asked(): void {
    if (this.#timer !== undefined) return
    this.#done = this.#parts.progress().done
    this.#looks = 0
    this.#wait()
  }

  stop(): void {
    this.#parts.clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #wait(): void {
    this.#timer = this.#parts.clock.setTimeout(() => this.#look(), HANG_MS / LOOKS)
  }

  #look(): void {
    const { progress, hangs } = this.#parts
    const { done, owed } = progress()
    this.#timer = undefined
    if (owed === 0) return
    this.#looks = done === this.#done ? this.#looks + 1 : 0
    this.#done = done
    this.#wait()
    if (this.#looks === LOOKS) hangs()
  }
}
