import type { AnyStateMachine } from 'xstate'
import type { Exploration } from '../engine/explore.ts'
import type { Edge } from '../engine/graph.ts'
import type { ActorState } from '../engine/state.ts'
import { type ActorView, viewOf } from '../engine/view.ts'
import { asked, assertAnswer, inState } from './asked.ts'
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
  const { when } = whenOf(options, id)
  /** The first step for which `isIt` says so. */
  function firstStep(
    { graph }: Exploration<M>,
    isIt: (before: ActorView<M>, after: ActorView<M>, step: Edge) => boolean,
  ): Edge | undefined {
    const view = (number: number) => viewOf(graph.states[number] as ActorState) as ActorView<M>
    let what = ''
    let edge: Edge | undefined
    let before = view(0)
    // One call for all steps: of millions, a call for each would cost more than the property.
    return asked(
      id,
      () => ({ what, where: `at ${edge?.choice.label} ${inState(before)}` }),
      () => {
        for (let from = 0; from < graph.stateCount; from++) {
          before = view(from)
          const end = graph.endEdge(from)
          for (let index = graph.firstEdge(from); index < end; index++) {
            edge = graph.edgeOf(from, index)
            const after = view(edge.to)
            what = 'when'
            if (when && !when(before, after, edge)) continue
            what = 'its function'
            if (isIt(before, after, edge)) return edge
          }
        }
        return undefined
      },
    )
  }
  return {
    id,
    text,
    violation(exploration): Violation | undefined {
      let finding = ''
      const step = firstStep(exploration, (before, after, edge) => {
        const answer = holds(before, after, edge)
        assertAnswer(answer)
        if (answer === true) return false
        finding = answer || `this step violates: ${text}`
        return true
      })
      return step && { finding, edges: [...exploration.graph.pathTo(step.from), step.index] }
    },
    vacuous: (exploration) => (firstStep(exploration, () => true) ? undefined : 'the property applies to no step'),
  }
}
