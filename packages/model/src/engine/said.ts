import type { AnyStateMachine } from 'xstate'
import { ModelError } from '../errors.ts'
import { hint } from '../near.ts'
import type { Exploration } from './explore.ts'
import { EMIT } from './internals.ts'
import { allNodes, transitionsOf } from './regions.ts'
import type { Effect } from './state.ts'
import { childNames, machinesBelow } from './vocabulary.ts'

/** What an effect says by name, or undefined for one that is of no interest. */
export type NameOf = (effect: Effect) => string | undefined

/** All names that some run says. */
export const namesSaid = ({ model }: Exploration, nameOf: NameOf): ReadonlySet<string> =>
  new Set(model.steps.effects.all.flatMap((effect) => nameOf(effect) ?? []))

/**
 * Refuses a name that is said in no run and that no machine could say.
 * @throws ModelError ERR_MODEL_UNKNOWN
 */
export function assertSayable(exploration: Exploration, nameOf: NameOf, names: readonly string[], property: string): void {
  const said = namesSaid(exploration, nameOf)
  if (names.every((name) => said.has(name))) return
  const sayable = new Set([...said, ...(exploration.sayable ?? []), ...declared(exploration.model.machine, nameOf)])
  for (const name of names)
    if (!sayable.has(name))
      throw new ModelError('ERR_MODEL_UNKNOWN', `${property}: no action says "${name}"${hint(name, sayable)}`, {
        property,
        name,
        names: [...sayable],
      })
}

/** Names of actions whose parameters stand in the machine, and not in a function. */
function declared(root: AnyStateMachine, nameOf: NameOf): string[] {
  const actions = machinesBelow(root).flatMap(({ root: top }) =>
    allNodes(top).flatMap((node) => [...node.entry, ...node.exit, ...transitionsOf(node).flatMap((transition) => transition.actions)]),
  )
  return actions.flatMap((action) => {
    const effect = effectOf(action)
    return (effect && nameOf({ index: -1, ...effect })) ?? []
  })
}

function effectOf(action: unknown): { readonly type: string; readonly params: unknown } | undefined {
  if (typeof action === 'string') return { type: action, params: undefined }
  const { type, params, event } = action as { readonly type?: unknown; readonly params?: unknown; readonly event?: unknown }
  if (type === EMIT) return typeof event === 'function' ? undefined : { type: 'emit', params: event }
  return typeof type !== 'string' || typeof action === 'function' || typeof params === 'function' ? undefined : { type, params }
}

/** @throws ModelError ERR_MODEL_UNKNOWN for a child that there is not, by its id or its source */
export function assertChildNamed({ model }: Exploration, name: string, property: string): void {
  const names = new Set([...childNames(model.machine), ...model.steps.childIds, ...model.steps.logics.all.map((logic) => logic.name)])
  if (!names.has(name))
    throw new ModelError('ERR_MODEL_UNKNOWN', `${property}: there is no child "${name}"${hint(name, names)}`, { property, name })
}
