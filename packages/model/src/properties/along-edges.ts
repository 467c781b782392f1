import type { AnyStateMachine } from 'xstate'
import type { Edge } from '../engine/graph.ts'
import type { ActorView } from '../engine/view.ts'
import type { Property, Violation } from './property.ts'
import { type When, whenOf } from './safety.ts'
import { askedAlong, type StepCondition } from './steps.ts'

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
  const condition: StepCondition<M> = { when: whenOf(options, id).when, holds }
  return {
    id,
    text,
    condition,
    violation(exploration): Violation | undefined {
      const { failed } = askedAlong(exploration, condition)
      if (failed === undefined) return undefined
      const { step, answer } = failed
      return { finding: answer || `this step violates: ${text}`, edges: [...exploration.graph.pathTo(step.from), step.index] }
    },
    vacuous: (exploration) => (askedAlong(exploration, condition).isMeant ? undefined : 'the property applies to no step'),
  }
}
