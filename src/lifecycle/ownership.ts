/** Whether a life has the process to itself: from `run()` to `releaseProcess()`. */
export class Ownership {
  readonly #release = new AbortController()
  #isTaken = false

  take(): void {
    this.#isTaken = true
  }

  /** Gives the process back; before {@link take} it does nothing. */
  release(): void {
    if (this.#isTaken) this.#release.abort()
  }

  /** Whether `run()` was called. */
  get isTaken(): boolean {
    return this.#isTaken
  }

  /** Aborted, the process is the program's own again. */
  get released(): AbortSignal {
    return this.#release.signal
  }

  get isHeld(): boolean {
    return this.#isTaken && !this.released.aborted
  }
}
