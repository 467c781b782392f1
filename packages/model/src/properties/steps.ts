import type { AnyStateMachine } from 'xstate'
import type { Exploration } from '../engine/explore.ts'
import type { Edge } from '../engine/graph.ts'
import type { ActorState } from '../engine/state.ts'
import { type ActorView, viewOf } from '../engine/view.ts'

type OfStep<M extends AnyStateMachine, T> = (before: ActorView<M>, after: ActorView<M>, step: Edge) => T

/** What is asked of every single step. */
export interface StepCondition<M extends AnyStateMachine = AnyStateMachine> {
  /** The steps that it is asked of. Default: all. */
  readonly when?: OfStep<M, boolean> | undefined
  /** True, or what is wrong. */
  readonly holds: OfStep<M, boolean | string>
}

/** What has come of a condition. */
export interface Asked {
  /** Whether there was a step that it was asked of. */
  readonly isMeant: boolean
  /** The first step that it does not hold for. */
  readonly failed: Failed | undefined
}

interface Failed {
  readonly step: Edge
  readonly answer: false | string
}

class Asking<M extends AnyStateMachine> implements Asked {
  readonly condition: StepCondition<M>
  isMeant = false
  failed: Failed | undefined = undefined

  constructor(condition: StepCondition<M>) {
    this.condition = condition
  }

  /** Asks about a step; whether it goes on. */
  ask(before: ActorView<M>, after: ActorView<M>, step: Edge): boolean {
    const { when, holds } = this.condition
    if (when !== undefined && !when(before, after, step)) return true
    this.isMeant = true
    const answer = holds(before, after, step)
    if (answer === true) return true
    this.failed = { step, answer }
    return false
  }
}

/** Walks all steps once, whatever the number of conditions, in the order of the states. */
function walk<M extends AnyStateMachine>({ graph }: Exploration<M>, conditions: readonly StepCondition<M>[]): readonly Asking<M>[] {
  const all = conditions.map((condition) => new Asking(condition))
  const view = (number: number) => viewOf(graph.states[number] as ActorState) as ActorView<M>
  let open = all
  for (let from = 0; from < graph.stateCount && open.length > 0; from++) {
    const before = view(from)
    const end = graph.endEdge(from)
    for (let index = graph.firstEdge(from); index < end; index++) {
      const step = graph.edgeOf(from, index)
      const after = view(step.to)
      let isOneOver = false
      for (const one of open) if (!one.ask(before, after, step)) isOneOver = true
      if (isOneOver) open = open.filter(({ failed }) => failed === undefined)
    }
  }
  return all
}

/** What was asked together, while it is checked. */
const together = new WeakMap<Exploration, ReadonlyMap<StepCondition, Asked>>()

/**
 * Asks several conditions in one walk, and has {@link askedAlong} give what came of each for as
 * long as `meanwhile` takes.
 */
export function askedTogether<T>(exploration: Exploration, conditions: readonly StepCondition[], meanwhile: () => T): T {
  together.set(exploration, new Map(walk(exploration, conditions).map((one) => [one.condition, one])))
  try {
    return meanwhile()
  } finally {
    together.delete(exploration)
  }
}

export const askedAlong = <M extends AnyStateMachine>(exploration: Exploration<M>, condition: StepCondition<M>): Asked =>
  together.get(exploration)?.get(condition as StepCondition) ?? (walk(exploration, [condition])[0] as Asked)
