import type { Clock } from '../../base/clock.ts'
import type { TellPlan } from '../../machines/phases/tell.ts'

/**
 * Tell, then close (V6): from ShutdownInitiated on, a growing share of answers tells its client to
 * leave, so that clients reconnect elsewhere before anything is closed under them. Here stands who
 * is told when; how that is done is each transport's (`Wire.tellBy`).
 */
export class Telling {
  readonly #clock: Clock
  readonly #random: () => number
  #plan: TellPlan | undefined
  #beganAt = 0
  #isComplete = false

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock
    this.#random = random
  }

  /** A second call does nothing. */
  begin(plan: TellPlan): void {
    if (this.#plan) return
    this.#plan = plan
    this.#beganAt = this.#clock.now()
  }

  /** From now on every answer tells. */
  complete(): void {
    this.#plan ??= { how: 'at-once', delayMs: 0 }
    this.#isComplete = true
  }

  /**
   * Whether one more client is told now.
   * @param isOverdue its turn has come before: it is told as soon as any are
   */
  draw(isOverdue: boolean): boolean {
    const { probability } = this
    return probability > 0 && (isOverdue || this.#random() < probability)
  }

  /** The share of answers that tell now. */
  get probability(): number {
    if (this.#isComplete) return 1
    if (!this.#plan || this.#plan.how === 'after-delay') return 0
    const { how, delayMs } = this.#plan
    if (how === 'at-once' || delayMs <= 0) return 1
    return Math.min(1, (2 * (this.#clock.now() - this.#beganAt)) / delayMs)
  }
}
