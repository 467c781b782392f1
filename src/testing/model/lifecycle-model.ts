import { type Composition, composeLifecycle, effectiveWiring } from '../../machines/lifecycle.ts'
import type { LifecycleInEvent, LifecycleInput } from '../../machines/vocabulary.ts'
import { type OpaqueChild, rejects, resolves } from './environment.ts'
import { type Exploration, explore } from './explore.ts'
import { lifecycleInvariants } from './lifecycle-invariants.ts'
import type { Property } from './property.ts'

/** What may come from outside, by short names. */
const OUTSIDE = {
  start: { type: 'start' },
  'start-refused': { type: 'start.refused', error: { name: 'Error', message: 'refused' } },
  stop: { type: 'stop.requested', reason: { kind: 'stop', reason: 'model' } },
  signal: { type: 'process.signalled', signal: 'SIGTERM', interactive: false },
  'ctrl-c': { type: 'process.signalled', signal: 'SIGINT', interactive: true },
  crash: { type: 'process.crashed', origin: 'uncaughtException', error: { name: 'Error', message: 'crash' } },
  'listener-death': { type: 'listener.died', address: 'listener', error: { name: 'Error', message: 'listener died' } },
  ready: { type: 'readyz.passed' },
} as const satisfies Readonly<Record<string, LifecycleInEvent>>

export type OutsideEvent = keyof typeof OUTSIDE

export interface LifecycleModelOptions extends Composition {
  readonly input: LifecycleInput
  /** What may come from outside, in every order and any number of times. Mux-complete signals come as well. Default: start and stop. */
  readonly outside?: readonly OutsideEvent[]
  /** Default 1 000 000. */
  readonly statesMax?: number
}

/** Effects whose answer is looked at, or that are one synchronous step and cannot fail to answer. */
const EFFECTS: Readonly<Record<string, OpaqueChild>> = {
  drainWatches: { outcomes: [resolves({ after: 0 }), resolves({ after: 1 }), rejects()] },
}

/** All states of a life of this composition: every effect may answer, fail or never answer, at any time. */
export function exploreLifecycle({ input, outside = ['start', 'stop'], statesMax, ...composition }: LifecycleModelOptions): Exploration {
  const mux = (composition.muxSignals ?? []).map((name) => ({ type: `mux.${name}` }))
  return explore(composeLifecycle(composition), {
    input,
    events: [...outside.map((name) => OUTSIDE[name]), ...mux],
    children: EFFECTS,
    ...(statesMax !== undefined && { statesMax }),
  })
}

/** What has to hold for a life of this composition. */
export const invariantsOf = (composition: Composition): Property[] => lifecycleInvariants(composition.mode, effectiveWiring(composition))
