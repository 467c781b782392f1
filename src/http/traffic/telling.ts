import type { Clock } from '../../base/clock.ts'
import type { TellPlan } from '../../machines/phases/tell.ts'

/**
 * Tell, then close (V6): from ShutdownInitiated on, a growing share of clients is told to leave, so
 * that they reconnect elsewhere before anything is closed under them: of answers where only those
 * can tell, of connections where a client can be told at any time. Here stands who is told when;
 * how that is done is each transport's (`Wire.tellBy`, `Wire.tell`).
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

  /**
   * In how many milliseconds it is the turn of one more connection, when its client can be told
   * without an answer: drawn anew with each call, so that as many turns have come as {@link
   * probability} says. Undefined: with {@link complete}.
   */
  drawTurn(): number | undefined {
    if (this.#isComplete) return 0
    if (!this.#plan || this.#plan.how === 'after-delay') return undefined
    const { how, delayMs } = this.#plan
    if (how === 'at-once' || delayMs <= 0) return 0
    return Math.max(0, Math.ceil((this.#random() * delayMs) / 2 - (this.#clock.now() - this.#beganAt)))
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
