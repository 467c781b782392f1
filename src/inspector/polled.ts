import type { Clock } from '../base/clock.ts'
import type { LifecycleEvent } from '../base/events.ts'
import type { JournalFact, Source } from './journal.ts'

export interface Poll<F extends JournalFact> {
  readonly read: () => F
  /** Two looks with the same signature say the same. */
  readonly signatureOf: (fact: F, now: number) => string
}

/**
 * How often it is looked. A person sees no more, and a shutdown of a second still has some points.
 */
const PERIOD_MS = 250

/**
 * Something that reports no change itself: looked at some times per second and whenever a signal
 * fires, while there is a reader. An entry is written when it says something else than the one
 * before.
 */
export class Polled<F extends JournalFact> implements Source {
  readonly #clock: Clock
  readonly #read: Poll<F>['read']
  readonly #signatureOf: Poll<F>['signatureOf']
  readonly #write: (fact: JournalFact) => void
  #timer: unknown
  #before = ''

  constructor(clock: Clock, { read, signatureOf }: Poll<F>, write: (fact: JournalFact) => void) {
    this.#clock = clock
    this.#read = read
    this.#signatureOf = signatureOf
    this.#write = write
  }

  /** A sink of lifecycle events: looks when a signal has fired. */
  readonly fact = (event: LifecycleEvent): void => {
    if (event.type === 'signal' && this.#timer !== undefined) this.#look()
  }

  begin(): void {
    this.#before = ''
    this.#tick()
  }

  describe(): void {
    this.#before = ''
    this.#look()
  }

  /** The last look is the last word of what is left. */
  end(): void {
    if (this.#timer === undefined) return
    this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#look()
  }

  #tick(): void {
    // First of all: whatever looking does, the next look comes.
    this.#timer = this.#clock.setTimeout(() => this.#tick(), PERIOD_MS)
    this.#look()
  }

  #look(): void {
    try {
      const fact = this.#read()
      const seen = this.#signatureOf(fact, this.#clock.now())
      if (seen === this.#before) return
      this.#before = seen
      this.#write(fact)
    } catch {
      // Called from a timer and from within a machine's step; the next look may succeed.
    }
  }
}
