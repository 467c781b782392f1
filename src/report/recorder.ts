import type { Clock } from '../base/clock.ts'
import type { LifecycleEvent, LifecycleFact } from '../base/events.ts'
import type { MachineFact } from '../machines/phases/phase.ts'

/**
 * Where everything that happens passes through: facts come from machines and actors, get their time, and go to the sinks in
 * the order they were added. Sinks are ours and must not throw; an observer of the user's that does is not heard here: rxjs throws it from a timer.
 */
export class Recorder {
  readonly #clock: Clock
  readonly #startedAt: number
  readonly #hooks = new Map<string, number>()
  readonly #sinks: ((event: LifecycleEvent) => void)[] = []

  constructor(clock: Clock) {
    this.#clock = clock
    this.#startedAt = clock.now()
  }

  addSink(sink: (event: LifecycleEvent) => void): void {
    this.#sinks.push(sink)
  }

  /** Milliseconds since the life began. */
  get elapsed(): number {
    return this.#clock.now() - this.#startedAt
  }

  /** Bound, because it is handed to every actor. */
  readonly record = (fact: MachineFact | LifecycleFact): void => {
    const now = this.#clock.now()
    const event = { ...this.#timed(fact, now), at: now - this.#startedAt } as LifecycleEvent
    for (const sink of this.#sinks) sink(event)
  }

  #timed(fact: MachineFact | LifecycleFact, now: number): LifecycleFact {
    if (fact.type === 'hook.started') this.#hooks.set(`${fact.kind} ${fact.name}`, now)
    if (fact.type !== 'hook.ended' || 'durationMs' in fact) return fact
    // A hook that never began took no time.
    return { ...fact, durationMs: now - (this.#hooks.get(`${fact.kind} ${fact.name}`) ?? now) }
  }
}
