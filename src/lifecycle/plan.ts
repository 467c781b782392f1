import { effectiveWiring, type LifePlan } from '../machines/lifecycle.ts'
import { BUDGET_INSTANTS, cutSignal } from '../machines/signals.ts'
import type { LifecycleInput } from '../machines/vocabulary.ts'
import type { ResolvedOptions } from '../options/options.ts'
import type { Registrations } from './registrations.ts'

/**
 * What a life is made of by now, as plain data: its machine is composed from it, and so it is checked and drawn without being started.
 * @throws QuiesceError ERR_UNKNOWN_REFERENCE when the `after` of a hook names no hook
 */
export function planOf(options: ResolvedOptions, registrations: Registrations): LifePlan {
  registrations.checkReferences()
  return {
    mode: options.whileDraining,
    postStartHooks: registrations.postStartHooks.entries().map(([name]) => ({ kind: 'post-start', name, timeoutMs: 0 })),
    muxSignals: registrations.muxSignals.entries().map(([name]) => name),
    userPhases: registrations.plannedPhases(),
    input: inputOf(options, registrations),
  }
}

export const inputOf = (options: ResolvedOptions, registrations: Registrations): LifecycleInput => ({
  profiles: options.profiles,
  tell: options.tell,
  connectionTimeoutMs: options.connectionTimeoutMs,
  preShutdownHooks: registrations.plannedHooks(),
  destroyFunctions: registrations.plannedDestroyFunctions(),
})

/** Every signal that such a life may fire. */
export function signalNamesOf(options: ResolvedOptions, registrations: Registrations): string[] {
  const wiring = effectiveWiring({ mode: options.whileDraining, userPhases: registrations.plannedPhases() })
  return ['Start', 'StopRequested', ...Object.values(wiring).map((row) => row.fires), ...BUDGET_INSTANTS.map(cutSignal)]
}
