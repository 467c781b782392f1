import { provideEffects } from '../actors/effects.ts'
import { composeLifecycle, effectiveWiring, type LifecycleMachine } from '../machines/lifecycle.ts'
import type { Wiring } from '../machines/wiring.ts'
import type { LifeComposition } from './plan.ts'

/** A machine that lives run, and the table it is composed from. */
export interface ComposedMachine {
  readonly machine: LifecycleMachine
  readonly wiring: Wiring
}

/**
 * More different lives than a process has by design; tests and tools that compose others pay for
 * each again.
 */
const KEPT_MAX = 16
/** The oldest first. */
const kept = new Map<string, ComposedMachine>()

/**
 * The machine for such a life, with its effects. Lives of equal compositions share one: to compose
 * it takes longer than all that a life does with it, and what xstate remembers of its states makes
 * the next life quicker. Nothing of a life is in it.
 * @throws QuiesceError as {@link composeLifecycle} does
 */
export function machineFor(composition: LifeComposition): ComposedMachine {
  const { mode, awaitsListen, postStartHooks, muxSignals, userPhases } = composition
  const key = JSON.stringify({ mode, awaitsListen, postStartHooks, muxSignals, userPhases })
  const composed = kept.get(key) ?? { machine: provideEffects(composeLifecycle(composition)), wiring: effectiveWiring(composition) }
  // Taken out and put back, it is the youngest.
  kept.delete(key)
  kept.set(key, composed)
  const [oldest] = kept.keys()
  if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest)
  return composed
}
