import type { Clock } from '../base/clock.ts'
import type { LifecycleEvent, LifecycleFact } from '../base/events.ts'
import type { StopProfile } from '../base/stop-profile.ts'
import type { MachineFact } from '../machines/phases/phase.ts'
import type { Wiring } from '../machines/wiring.ts'
import { errorOfHooks } from './hook-errors.ts'
import { crashedAt, cutsOf, hookKey, type LifeView, NOTHING_KNOWN, reduceLife } from './view.ts'

/**
 * Where everything that happens passes through: facts come from machines and actors, get their
 * time, are folded into what is known of the life, and go to the sinks in the order they were
 * added. Sinks are ours and must not throw; an observer of the user's that does is not heard here:
 * rxjs throws it from a timer.
 */
export class Recorder {
  readonly #clock: Clock
  readonly #startedAt: number
  readonly #sinks: ((event: LifecycleEvent) => void)[] = []
  #view = NOTHING_KNOWN

  constructor(clock: Clock) {
    this.#clock = clock
    this.#startedAt = clock.now()
  }

  addSink(sink: (event: LifecycleEvent) => void): void {
    this.#sinks.push(sink)
  }

  /** What is known by now. */
  get view(): LifeView {
    return this.#view
  }

  /** The life is composed of these rows. */
  composed(rows: Wiring): void {
    this.#view = { ...this.#view, cuts: cutsOf(rows) }
  }

  /** The process has crashed. */
  crashed(budget: StopProfile): void {
    this.#view = crashedAt(this.#view, this.elapsed, budget)
  }

  /** Milliseconds since the life began. */
  get elapsed(): number {
    return this.#clock.now() - this.#startedAt
  }

  /** Bound, because it is handed to every actor. */
  readonly record = (fact: MachineFact | LifecycleFact): void => {
    const at = this.elapsed
    const event = { ...this.#completed(fact, at), at } as LifecycleEvent
    this.#view = reduceLife(this.#view, event)
    for (const sink of this.#sinks) sink(event)
  }

  /** A fact with what its machine does not keep: times, and what became of hooks before. */
  #completed(fact: MachineFact | LifecycleFact, at: number): LifecycleFact {
    if (fact.type === 'late' && !('lateMs' in fact)) return { ...fact, lateMs: at - (this.#view.stop?.at ?? at) }
    if (fact.type === 'phase.ended' && fact.outcome === 'failed' && fact.error === undefined) {
      const error = errorOfHooks(fact.phase, this.#view.hooks.values())
      return error ? { ...fact, error } : fact
    }
    if (fact.type !== 'hook.ended' || 'durationMs' in fact) return fact
    // A hook that never began took no time.
    return { ...fact, durationMs: at - (this.#view.hooks.get(hookKey(fact))?.startedAt ?? at) }
  }
}
