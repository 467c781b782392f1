import type { Edge } from '../engine/graph.ts'
import type { ActorState } from '../engine/state.ts'
import { type ActorView, viewOf } from '../engine/view.ts'
import type { Property, Violation } from './property.ts'

/**
 * A property of every single step. `holds` returns true, or says what is wrong; `step` has what
 * happened and what was said.
 */
export const alongEdges = (
  id: string,
  text: string,
  holds: (before: ActorView, after: ActorView, step: Edge) => boolean | string,
): Property => ({
  id,
  text,
  violation({ graph }): Violation | undefined {
    for (let from = 0; from < graph.stateCount; from++) {
      const before = viewOf(graph.states[from] as ActorState)
      for (const edge of graph.edgesOf(from)) {
        const answer = holds(before, viewOf(graph.states[edge.to] as ActorState), edge)
        if (answer !== true) return { finding: answer || `this step violates: ${text}`, edges: [...graph.pathTo(from), edge.index] }
      }
    }
    return undefined
  },
})
