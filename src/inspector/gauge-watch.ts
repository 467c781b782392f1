import type { Clock } from '../base/clock.ts'
import type { LifecycleEvent, Straggler } from '../base/events.ts'
import type { Gauges } from '../report/gauges.ts'
import type { JournalFact, Source } from './journal.ts'

/**
 * How often it is looked. A person sees no more, and a shutdown of a second still has some points.
 */
const PERIOD_MS = 250
/**
 * What is going on, some times per second and whenever a signal fires, while there is a reader. An
 * entry is written when it says more than that everything has become older.
 */
export class GaugeWatch implements Source {
  readonly #clock: Clock
  readonly #read: () => Gauges
  readonly #write: (fact: JournalFact) => void
  #timer: unknown
  #before = ''

  constructor(clock: Clock, read: () => Gauges, write: (fact: JournalFact) => void) {
    this.#clock = clock
    this.#read = read
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
      const gauges = this.#read()
      const seen = signatureOf(gauges, this.#clock.now())
      if (seen === this.#before) return
      this.#before = seen
      this.#write({ kind: 'gauges', ...gauges })
    } catch {
      // Called from a timer and from within a machine's step; the next look may succeed.
    }
  }
}

/** Everything but the ages: they are the same as long as it is the same that blocks. */
function signatureOf({ blocking, ...counts }: Gauges, now: number): string {
  const names = Object.values(blocking).map((stragglers: readonly Straggler[]) =>
    stragglers.map(({ name, ageMs }) => [name, Math.round(now - ageMs)]),
  )
  return JSON.stringify([counts, names])
}
