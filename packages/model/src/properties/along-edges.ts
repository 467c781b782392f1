import type { AnyStateMachine } from 'xstate'
import type { Exploration } from '../engine/explore.ts'
import type { Edge } from '../engine/graph.ts'
import type { ActorState } from '../engine/state.ts'
import { type ActorView, viewOf } from '../engine/view.ts'
import type { Property, Violation } from './property.ts'
import { type When, whenOf } from './safety.ts'

/**
 * A property of every single step. `holds` returns true, or says what is wrong; `step` has what
 * happened and what was said.
 */
export function alongEdges<M extends AnyStateMachine = AnyStateMachine>(
  id: string,
  text: string,
  holds: (before: ActorView<M>, after: ActorView<M>, step: Edge) => boolean | string,
  options: When<[before: ActorView<M>, after: ActorView<M>, step: Edge]> = {},
): Property<M> {
  const { when = () => true } = whenOf(options, id)
  function* steps({ graph }: Exploration<M>) {
    const view = (number: number) => viewOf(graph.states[number] as ActorState) as ActorView<M>
    for (let from = 0; from < graph.stateCount; from++)
      for (const edge of graph.edgesOf(from)) {
        const step = [view(from), view(edge.to), edge] as const
        if (when(...step)) yield step
      }
  }
  return {
    id,
    text,
    violation(exploration): Violation | undefined {
      for (const step of steps(exploration)) {
        const answer = holds(...step)
        const [, , { from, index }] = step
        if (answer !== true) return { finding: answer || `this step violates: ${text}`, edges: [...exploration.graph.pathTo(from), index] }
      }
      return undefined
    },
    vacuous: (exploration) => (steps(exploration).next().done ? 'the property applies to no step' : undefined),
  }
}
