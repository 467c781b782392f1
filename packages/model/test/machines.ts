import type { AnyStateMachine } from 'xstate'
import { check, type Exploration, type ExploreOptions, explore, type Property, type Verdict } from '../src/index.ts'

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
  events(...machine.events.filter((type) => !type.startsWith('xstate.') && !type.includes('*')))
