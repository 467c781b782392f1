import { type Deferred, deferred } from '../engine.ts'

/** What answers only when a test lets it. */
export class Hold {
  #held: Deferred<void> | undefined

  /**
   * Holds all answers until {@link release}; what it is asked meanwhile gets the answer that it has
   * then. A second call does nothing.
   */
  hold(): void {
    this.#held ??= deferred()
  }

  /** Ends {@link hold}. */
  release(): void {
    this.#held?.resolve(undefined)
    this.#held = undefined
  }

  /** The answer at once, or when it is released. */
  protected whenReleased<T>(answer: () => T | PromiseLike<T>): T | PromiseLike<T> {
    return this.#held ? this.#held.promise.then(answer) : answer()
  }
}
