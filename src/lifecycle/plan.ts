import { type Composition, effectiveWiring, type LifePlan } from '../machines/lifecycle.ts'
import { BUDGET_INSTANTS, cutSignal } from '../machines/signals.ts'
import type { LifecycleInput } from '../machines/vocabulary.ts'
import type { Wiring } from '../machines/wiring.ts'
import { type RegisteredWork, stopProfiles } from '../options/budget.ts'
import type { ResolvedOptions } from '../options/options.ts'
import type { Registrations } from './registrations.ts'

/** The part of the listeners that the machine depends on. */
interface AwaitedListeners {
  /** Whether the owner of a server has still to call `listen()`. */
  readonly awaitsListen: boolean
}

/** What the machine of a life is composed of. */
export type LifeComposition = Composition & { readonly wiring?: never; readonly onSignal?: never }

/** What a life is made of by now, as plain data. */
export class Planner {
  readonly #options: ResolvedOptions
  readonly #registrations: Registrations
  readonly #listeners: AwaitedListeners

  constructor(options: ResolvedOptions, registrations: Registrations, listeners: AwaitedListeners) {
    this.#options = options
    this.#registrations = registrations
    this.#listeners = listeners
  }

  /** @throws QuiesceError ERR_UNKNOWN_REFERENCE when the `after` of a hook names no hook */
  composition(): LifeComposition {
    this.#registrations.checkReferences()
    return compositionOf(this.#options, this.#registrations, this.#listeners.awaitsListen)
  }

  /**
   * The life is checked and drawn from it, without being started.
   * @throws QuiesceError as {@link composition}, and as composing the machine does, for phases that
   * do not fit together
   */
  plan(): LifePlan {
    const composition = this.composition()
    return { ...composition, input: inputOf(this.#options, this.#registrations, effectiveWiring(composition)) }
  }
}

/** @param awaitsListen whether an attached server does not listen yet */
function compositionOf(options: ResolvedOptions, registrations: Registrations, awaitsListen: boolean): LifeComposition {
  return {
    mode: options.whileDraining,
    ...(awaitsListen && { awaitsListen }),
    postStartHooks: registrations.postStartHooks.entries().map(([name]) => ({ kind: 'post-start', name, timeoutMs: 0 })),
    muxSignals: registrations.muxSignals.entries().map(([name]) => name),
    userPhases: registrations.plannedPhases(),
  }
}

/** @param wiring the rows of the life, as it is composed */
export const inputOf = (options: ResolvedOptions, registrations: Registrations, wiring: Wiring): LifecycleInput => ({
  profiles: stopProfiles(options.plans, registeredIn(options, registrations, wiring)),
  notifyClients: options.notifyClients,
  ...(options.requestDrainTimeoutMs !== undefined && { requestDrainTimeoutMs: options.requestDrainTimeoutMs }),
  connectionTimeoutMs: options.connectionTimeoutMs,
  preShutdownHooks: registrations.plannedHooks(),
  destroyFunctions: registrations.plannedDestroyFunctions(),
  destroyOrder: options.destroyOrder,
})

/**
 * What time has to be kept for: hooks, audit and destroy, when something is registered that may
 * need it. A phase that is cut with them needs it, too.
 */
export function registeredIn(options: ResolvedOptions, registrations: Registrations, wiring: Wiring): RegisteredWork {
  const cuts = registrations.plannedPhases().map(({ name }) => wiring[name]?.cut)
  return {
    hooks: registrations.plannedHooks().length > 0 || cuts.includes('Cut.hooks'),
    audit: options.audit !== undefined || cuts.includes('Cut.audit'),
    destroy: registrations.plannedDestroyFunctions().length > 0 || cuts.includes('Cut.destroy'),
  }
}

/** Every signal that such a life may fire. */
export function signalNamesOf(options: ResolvedOptions, registrations: Registrations): string[] {
  const wiring = effectiveWiring({ mode: options.whileDraining, userPhases: registrations.plannedPhases() })
  return ['Start', 'StopRequested', ...Object.values(wiring).map((row) => row.fires), ...BUDGET_INSTANTS.map(cutSignal)]
}
