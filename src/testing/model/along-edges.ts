import type { Edge } from './graph.ts'
import type { Property, Violation } from './property.ts'
import type { ActorState } from './state.ts'
import { type ActorView, viewOf } from './view.ts'

/** A property of every single step. `holds` returns true, or says what is wrong; `step` has what happened and what was said. */
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
      for (let edge = graph.firstEdge(from); edge < graph.endEdge(from); edge++) {
        const answer = holds(before, viewOf(graph.states[graph.to(edge)] as ActorState), graph.edge(edge))
        if (answer !== true) return { finding: answer || `this step violates: ${text}`, edges: [...graph.pathTo(from), edge] }
      }
    }
    return undefined
  },
})
