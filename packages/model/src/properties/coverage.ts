import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate'
import type { Exploration } from '../engine/explore.ts'
import { remembered } from '../engine/memo.ts'
import { type ActiveStates, allNodes } from '../engine/regions.ts'
import type { LocalState, ModelEvent } from '../engine/state.ts'
import type { Step } from '../engine/step-table.ts'
import { isFor, machinesBelow } from '../engine/vocabulary.ts'
import { checkGiven, EXPLORED } from '../errors.ts'
import { constantKeys, readsOnly } from './folded.ts'

/** A transition that no run takes, and why. */
export interface Untaken {
  readonly machine: string
  /** Id of the state that it leaves. */
  readonly source: string
  /** Type of the event; empty for an eventless one. */
  readonly event: string
  readonly targets: readonly string[]
  /**
   * `unreached`: its state is never entered; `unheard`: its event never comes there; `refused`: its
   * condition, or another transition, never lets it; `constant`: its condition depends on constant
   * input only, which says no.
   */
  readonly why: 'unreached' | 'unheard' | 'refused' | 'constant'
}

/** A state of a machine that no run enters. */
export interface Unreached {
  readonly machine: string
  /** Its id. */
  readonly state: string
}

/**
 * The states of every machine of the system that no run enters, not even on the way. Of a machine
 * that no run starts it is the outermost state.
 */
export function unreached(exploration: Exploration): Unreached[] {
  checkGiven('unreached(exploration)', 'exploration', exploration, EXPLORED, 'graph', 'model')
  const { model } = exploration
  const visits = [...visitsOf(model)]
  const started = new Set(visits.map(([{ id }]) => id))
  const idle = machinesBelow(model.machine).filter(({ id }) => !started.has(id))
  return [
    ...visits.flatMap(([machine, visit]) => visit.unreached(machine).map((state) => ({ machine: machine.id, state }))),
    ...idle.map(({ id, root }) => ({ machine: id, state: root.id })),
  ]
}

/**
 * The transitions of every machine of the system that no run takes. Conditions on constant input
 * show as `refused`: what a configuration makes impossible is told apart from what nothing makes
 * possible.
 */
export function untaken(exploration: Exploration): Untaken[] {
  checkGiven('untaken(exploration)', 'exploration', exploration, EXPLORED, 'graph', 'model')
  const { model } = exploration
  return [...visitsOf(model)].flatMap(([machine, visits]) => {
    const locals = model.steps.locals.all.filter(({ logic }) => logic.machine === machine)
    const keys = constantKeys(locals)
    const context = locals[0]?.configuration?.context ?? {}
    return visits.untaken(machine).map(({ transition, why }): Untaken => {
      const { source, eventType, target = [], guard } = transition
      const isConstant = why === 'refused' && guard !== undefined && readsOnly(guard, keys, machine, context)
      const targets = (target as readonly AnyStateNode[]).map(({ id }) => id)
      return { machine: machine.id, source: source.id, event: eventType, targets, why: isConstant ? 'constant' : why }
    })
  })
}

/** What was visited until now: a model may take more steps later. */
function visitsOf({ steps }: Exploration['model']): ReadonlyMap<AnyStateMachine, Visits> {
  const { machines, count } = remembered(visited, steps, () => ({ machines: new Map<AnyStateMachine, Visits>(), count: 0 }))
  for (const { machine } of steps.logics.all) if (machine) remembered(machines, machine, () => new Visits())
  for (const { from, event, step } of steps.taken.slice(count))
    machines.get(step.local.logic.machine as AnyStateMachine)?.add(step, from, event)
  visited.set(steps, { machines, count: steps.taken.length })
  return machines
}
const visited = new WeakMap<object, { readonly machines: Map<AnyStateMachine, Visits>; readonly count: number }>()

/** `loader.waiting on go → loader.over (refused)` */
export const untakenText = ({ source, event, targets, why }: Untaken): string =>
  `${source} ${event === '' ? 'by itself' : `on ${event}`}${targets.length === 0 ? '' : ` → ${targets.join(', ')}`} (${why})`

interface Found {
  readonly transition: AnyTransitionDefinition
  readonly why: 'unreached' | 'unheard' | 'refused'
}

class Visits {
  readonly #taken = new Set<AnyTransitionDefinition>()
  /** What steps led to: they lead to the same again and again. */
  readonly #reached = new Set<LocalState>()
  /**
   * Types of events, by the states that were active together when they came: of these there are
   * few, and of whole configurations many.
   */
  readonly #heard = new Map<ActiveStates, Set<string>>()

  add({ transitions, local }: Step, from: LocalState | undefined, event: ModelEvent | undefined): void {
    for (const transition of transitions) this.#taken.add(transition)
    if (!this.#reached.has(local)) this.#visit(local)
    this.#reached.add(local)
    if (from) this.#visit(from, event?.type)
  }

  #visit({ configuration }: LocalState, event?: string): void {
    if (!configuration) return
    this.#hear(configuration.frame.trunk, event)
    for (const region of configuration.regions) this.#hear(region, event)
  }

  #hear(states: ActiveStates, event: string | undefined): void {
    const heard = remembered(this.#heard, states, () => new Set<string>())
    if (event !== undefined) heard.add(event)
  }

  unreached(machine: AnyStateMachine): string[] {
    const places = this.#places()
    return allNodes(machine.root).flatMap((node) => (places.has(node) || node.type === 'history' ? [] : [node.id]))
  }

  untaken(machine: AnyStateMachine): Found[] {
    const places = this.#places()
    return transitionsOf(machine.root).flatMap((transition): Found[] => {
      if (this.#taken.has(transition)) return []
      const heard = places.get(transition.source)
      if (!heard) return [{ transition, why: 'unreached' }]
      return [
        {
          transition,
          why: transition.eventType === '' || [...heard].some((type) => isFor(transition.eventType, type)) ? 'refused' : 'unheard',
        },
      ]
    })
  }

  /**
   * The states that were entered, if only on the way, with the types of events that came to them.
   */
  #places(): ReadonlyMap<AnyStateNode, ReadonlySet<string>> {
    const places = new Map<AnyStateNode, Set<string>>()
    const add = (node: AnyStateNode, events: Iterable<string>): void => {
      const heard = remembered(places, node, () => new Set<string>())
      for (const event of events) heard.add(event)
    }
    for (const [{ nodes }, events] of this.#heard) for (const node of nodes) add(node, events)
    for (const { source, eventType } of this.#taken) add(source, [eventType])
    return places
  }
}

const transitionsOf = (node: AnyStateNode): AnyTransitionDefinition[] => [
  ...[...node.transitions.values()].flat(),
  ...(node.always ?? []),
  ...Object.values(node.states).flatMap(transitionsOf),
]
