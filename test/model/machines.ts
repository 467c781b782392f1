import type { AnyStateMachine } from 'xstate'
import type { LifecycleInput } from '#src/machines/vocabulary.ts'
import type { Exploration, ExploreOptions } from '#src/model/engine/explore.ts'
import { explore } from '#src/model/engine/explore.ts'
import { check, type Property, type Verdict } from '#src/model/properties/property.ts'
import { PROFILES } from '../support/fake-effects.ts'

/** What a life is started with: nothing of the user's, unless it is given. */
export const lifeInput = (given: Partial<LifecycleInput> = {}): LifecycleInput => ({
  profiles: PROFILES,
  tell: 'gradual',
  connectionTimeoutMs: 60_000,
  preShutdownHooks: [],
  destroyFunctions: [],
  ...given,
})

/** Events without data, by type. */
export const events = (...types: readonly string[]) => types.map((type) => ({ type }))

/** Explores with a limit that a mistake in a test reaches soon. */
export const explored = (machine: AnyStateMachine, options: ExploreOptions = {}): Exploration =>
  explore(machine, { statesMax: 5_000, ...options })

/** The verdict of one property. */
export function verdict(exploration: Exploration, property: Property): Verdict {
  const [only] = check(exploration, [property])
  if (!only) throw new Error('no verdict')
  return only
}

/** The labels of the trace of a violated property. */
export const labels = ({ trace }: Verdict): string[] => (trace?.steps ?? []).map(({ label }) => label)

/** Every event that some transition of the machine is for. */
export const alphabet = (machine: AnyStateMachine) =>
  events(...machine.events.filter((type) => !type.startsWith('xstate.') && !type.includes('*')), 'nothing')
