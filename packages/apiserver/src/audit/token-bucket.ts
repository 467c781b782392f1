import type { Clock } from '../engine.ts'

/**
 * Lets so many through at once, and from then on so many a second.
 * @see kubernetes/client-go util/flowcontrol/throttle.go NewTokenBucketRateLimiter
 */
export class TokenBucket {
  readonly #clock: Clock
  readonly #perMs: number
  readonly #burst: number
  #tokens: number
  #countedAt: number

  /** @param qps tokens a second, above 0 */
  constructor(clock: Clock, qps: number, burst: number) {
    this.#clock = clock
    this.#perMs = qps / 1_000
    this.#burst = burst
    this.#tokens = burst
    this.#countedAt = clock.now()
  }

  /** Takes one, if there is one. */
  take(): boolean {
    this.#refill()
    if (this.#tokens < ALMOST_ONE) return false
    this.#tokens = Math.max(0, this.#tokens - 1)
    return true
  }

  /** Time until there is one. */
  get msToNext(): number {
    this.#refill()
    return this.#tokens >= ALMOST_ONE ? 0 : (1 - this.#tokens) / this.#perMs
  }

  #refill(): void {
    const now = this.#clock.now()
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#countedAt) * this.#perMs)
    this.#countedAt = now
  }
}

/** A timer of exactly the time to the next token must find it, whatever the sum of fractions is. */
const ALMOST_ONE = 1 - 1e-9
