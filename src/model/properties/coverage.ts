import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate'
import type { Exploration } from '../engine/explore.ts'
import { remembered } from '../engine/remembered.ts'
import type { LocalState } from '../engine/state.ts'
import { constantKeys, readsOnly } from './folded.ts'

/** A transition that no run takes, and why. */
export interface Untaken {
  readonly machine: string
  /** Id of the state that it leaves. */
  readonly source: string
  /** Type of the event; empty for an eventless one. */
  readonly event: string
  readonly targets: readonly string[]
  /** `unreached`: its state is never entered; `unheard`: its event never comes there; `refused`: its condition, or another transition, never lets it; `constant`: its condition depends on constant input only, which says no. */
  readonly why: 'unreached' | 'unheard' | 'refused' | 'constant'
}

/**
 * The transitions of every machine of the system that no run takes. Conditions on constant input show as `refused`: what a
 * configuration makes impossible is told apart from what nothing makes possible.
 */
export function untaken({ model }: Exploration): Untaken[] {
  const machines = new Map(model.steps.logics.all.flatMap(({ machine }) => (machine ? [[machine, new Visits()] as const] : [])))
  for (const { from, event, step } of model.steps.taken) {
    const visits = machines.get(step.local.logic.machine as AnyStateMachine)
    visits?.add(step.transitions, from, event?.type)
    visits?.add([], step.local)
  }
  return [...machines].flatMap(([machine, visits]) => {
    const locals = model.steps.locals.all.filter(({ logic }) => logic.machine === machine)
    const keys = constantKeys(locals)
    const context = locals[0]?.standing?.context ?? {}
    return transitionsOf(machine.root)
      .flatMap((transition) => visits.untaken(machine, transition).map((found) => ({ found, transition })))
      .map(
        ({ found, transition: { guard } }): Untaken =>
          found.why === 'refused' && guard !== undefined && readsOnly(guard, keys, machine, context)
            ? { ...found, why: 'constant' }
            : found,
      )
  })
}

class Visits {
  readonly #taken = new Set<AnyTransitionDefinition>()
  readonly #entered = new Set<AnyStateNode>()
  readonly #heard = new Map<AnyStateNode, Set<string>>()

  add(taken: readonly AnyTransitionDefinition[], at?: LocalState, event?: string): void {
    for (const transition of taken) {
      this.#taken.add(transition)
      this.#hear(transition.source, transition.eventType)
    }
    for (const node of at?.standing?.nodes ?? []) {
      this.#entered.add(node)
      if (event !== undefined) this.#hear(node, event)
    }
  }

  #hear(node: AnyStateNode, event: string): void {
    this.#entered.add(node)
    remembered(this.#heard, node, () => new Set<string>()).add(event)
  }

  untaken(machine: AnyStateMachine, transition: AnyTransitionDefinition): Untaken[] {
    const { source, eventType, target = [] } = transition
    if (this.#taken.has(transition)) return []
    const why = !this.#entered.has(source)
      ? 'unreached'
      : eventType === '' || this.#heard.get(source)?.has(eventType)
        ? 'refused'
        : 'unheard'
    return [
      { machine: machine.id, source: source.id, event: eventType, targets: (target as readonly AnyStateNode[]).map(({ id }) => id), why },
    ]
  }
}

const transitionsOf = (node: AnyStateNode): AnyTransitionDefinition[] => [
  ...[...node.transitions.values()].flat(),
  ...(node.always ?? []),
  ...Object.values(node.states).flatMap(transitionsOf),
]
