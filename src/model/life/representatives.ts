import type { LifePlan } from '../../machines/lifecycle.ts'
import { MUX_SIGNAL, muxCompleteMachine } from '../../machines/phases/mux-complete.ts'
import { PRE_SHUTDOWN_HOOK, preShutdownHooksMachine } from '../../machines/phases/pre-shutdown-hooks.ts'
import { stateKey } from '../../machines/region.ts'
import { type UserPhase, userSignal } from '../../machines/user-phases.ts'
import { POST_START_HOOK } from './hook-properties.ts'

/**
 * Post-start hooks differ in nothing but their names: each runs beside the others, without a bound
 * and without an order, and the rest of a life sees of all of them only whether one has failed and
 * whether one still runs. So three can stand for any number, in the eyes of a property that looks
 * at one of them: the one it looks at, one that fails before all others, and one that ends after
 * them. Each further hook would double the states and more. The same holds of mux-complete signals
 * (docs/decisions/0099).
 */
export const REPRESENTATIVES = 3

/** A life whose hooks are no more, and end in no more orders, than is needed. */
export interface ReducedPlan extends LifePlan {
  /** Whether what differs in its name alone ends in the order of registration. Default false. */
  readonly endInOrder?: boolean
}

/**
 * The same life with no more post-start hooks and mux-complete signals than are needed to see what
 * all of them can do.
 * @param endInOrder false where all orders are needed
 */
export const withRepresentatives = (plan: LifePlan, endInOrder = true): ReducedPlan => ({
  ...plan,
  ...(plan.postStartHooks && { postStartHooks: plan.postStartHooks.slice(0, REPRESENTATIVES) }),
  ...(plan.muxSignals && { muxSignals: plan.muxSignals.slice(0, REPRESENTATIVES) }),
  endInOrder,
})

/**
 * What differs in nothing but its name and is started in one step, in lists of paths: a run in
 * which they end in another order is a run in which they end in this one, under other names.
 */
export function alikeIn({ postStartHooks = [], muxSignals = [], userPhases = [], input: { preShutdownHooks } }: LifePlan): string[][] {
  const lists = [
    postStartHooks.map(({ name }) => POST_START_HOOK + stateKey(name)),
    muxSignals.map((name) => `${muxCompleteMachine.id}/${MUX_SIGNAL}${name}`),
    ...inOnePlace(userPhases, ({ name, after, before, timeoutMs }) => {
      const isNamedBy = (other: UserPhase) =>
        [...other.after, ...other.before].some((named) => named === name || named === userSignal(name))
      return [sorted(after), sorted(before), userPhases.filter(isNamedBy).map((phase) => phase.name), timeoutMs]
    }).map((phases) => phases.map(({ name }) => stateKey(name))),
    ...inOnePlace(preShutdownHooks, ({ name, after, timeoutMs }) => {
      const behind = preShutdownHooks.filter((other) => other.after.includes(name))
      return [sorted(after), behind.map((hook) => hook.name), timeoutMs]
    }).map((hooks) => hooks.map(({ name }) => `${preShutdownHooksMachine.id}/${PRE_SHUTDOWN_HOOK}${name}`)),
  ]
  // A name may look like the path of another actor: both end in any order then.
  const paths = lists.flat()
  return lists.map((list) => list.filter((path) => paths.indexOf(path) === paths.lastIndexOf(path)))
}

const sorted = (names: readonly string[]): string[] => [...new Set(names)].sort()

/**
 * @param placeOf what an element waits for, what waits for it, and its time: equal for those in one
 * place
 */
function inOnePlace<T>(elements: readonly T[], placeOf: (element: T) => unknown): T[][] {
  const places = new Map<string, T[]>()
  for (const element of elements) {
    const place = JSON.stringify(placeOf(element))
    places.set(place, [...(places.get(place) ?? []), element])
  }
  return [...places.values()]
}
