import type { AnyStateMachine } from 'xstate'
import type { Graph } from '../engine/graph.ts'
import type { ActorState } from '../engine/state.ts'
import { type ActorView, viewOf } from '../engine/view.ts'
import { askedOfState } from './asked.ts'
import type { Property, Violation } from './property.ts'

export const isDone = ({ status }: Pick<ActorView, 'status'>): boolean => status === 'done'

/**
 * Possibility: from every state, some way leads to one that satisfies `isEnd` (default: the root is
 * done).
 */
export const endReachable = <M extends AnyStateMachine = AnyStateMachine>(
  id: string,
  text: string,
  isEnd: (root: ActorView<M>) => boolean = isDone,
): Property<M> => ({
  id,
  text,
  violation({ graph }): Violation | undefined {
    const canEnd = statesThatReach(graph, (state) => askedOfState(id, 'its function', isEnd, viewOf(state) as ActorView<M>))
    const lost = canEnd.indexOf(0)
    if (lost < 0) return undefined
    const count = canEnd.filter((can) => can === 0).length
    return {
      finding: `the end cannot be reached from this state (${count} of ${graph.stateCount} states cannot reach it)`,
      edges: graph.pathTo(lost),
    }
  },
})

/**
 * 1 for every state from which one that satisfies `isTarget` can be reached, the targets included.
 */
function statesThatReach(graph: Graph, isTarget: (state: ActorState) => boolean): Uint8Array {
  const reaches = new Uint8Array(graph.stateCount)
  graph.states.forEach((state, i) => {
    if (isTarget(state)) reaches[i] = 1
  })
  // Breadth-first numbering makes most edges point forwards, so going backwards through the states
  // settles most of them at once.
  for (let changed = true; changed; ) {
    changed = false
    for (let state = graph.stateCount - 1; state >= 0; state--) {
      if (reaches[state]) continue
      for (let edge = graph.firstEdge(state); edge < graph.endEdge(state); edge++) {
        if (!reaches[graph.to(edge)]) continue
        reaches[state] = 1
        changed = true
        break
      }
    }
  }
  return reaches
}
