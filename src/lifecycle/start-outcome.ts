import { deferred } from '../base/deferred.ts'

/** Whether a life came to serve: `start()` waits for it, and rejects with the first failure. */
export class StartOutcome {
  readonly #served = deferred<void>()
  #error: unknown

  constructor() {
    // A life that never serves while start() is not awaited must not be an unhandled rejection.
    this.#served.promise.catch(() => {})
  }

  get promise(): Promise<void> {
    return this.#served.promise
  }

  begins(): void {
    this.#served.resolve()
  }

  /** Rejects the start, because the life is over; a life that has served is not affected. */
  ends(why: Error): void {
    this.#served.reject(why)
  }

  /** A second failure does nothing. */
  failed(error: unknown): void {
    this.#error ??= error
  }

  /** undefined: nothing failed by now. */
  get error(): unknown {
    return this.#error
  }
}
