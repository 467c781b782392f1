import type { AnyStateMachine } from 'xstate'
import type { Graph } from '../engine/graph.ts'
import type { ActorState } from '../engine/state.ts'
import { type ActorView, viewOf } from '../engine/view.ts'
import { assertFields } from '../options.ts'
import { askedOfState, assertAnswer } from './asked.ts'
import type { Property, Violation } from './property.ts'

/** When a property is asked. Default always; where it never comes true, the property is vacuous. */
export interface When<T extends readonly unknown[]> {
  readonly when?: (...args: T) => boolean
}

/** @throws ModelError ERR_MODEL_OPTION */
export function whenOf<T extends readonly unknown[]>(options: When<T>, id: string): When<T> {
  assertFields(options, { when: true } satisfies Record<keyof When<T>, true>, `${id}: options`)
  return options
}

/**
 * A property of every state. `holds` returns true, or says what is wrong; the trace is a shortest
 * one.
 */
export function always<M extends AnyStateMachine = AnyStateMachine>(
  id: string,
  text: string,
  holds: (root: ActorView<M>) => boolean | string,
  options: When<[root: ActorView<M>]> = {},
): Property<M> {
  const { when } = whenOf(options, id)
  const answered = (root: ActorView<M>): boolean | string => {
    const answer = holds(root)
    assertAnswer(answer)
    return answer
  }
  const isMeant = (state: ActorState): boolean => (when ? askedOfState(id, 'when', when, viewOf(state) as ActorView<M>) : true)
  return {
    id,
    text,
    violation({ graph }): Violation | undefined {
      for (const [number, state] of graph.states.entries()) {
        if (!isMeant(state)) continue
        const answer = askedOfState(id, 'its function', answered, viewOf(state) as ActorView<M>)
        if (answer !== true) return { finding: answer || `this state violates: ${text}`, edges: graph.pathTo(number) }
      }
      return undefined
    },
    vacuous: ({ graph }) => (graph.states.some(isMeant) ? undefined : 'its condition is true in no state'),
  }
}

/** No machine throws, and no child's error goes unheard: the root never ends in an error. */
export const noErrors = (id = 'no-errors'): Property =>
  always(id, 'the root never ends in an error', ({ status, error }) => status !== 'error' || `the root ends in an error: ${message(error)}`)

/**
 * A system that is not over can go on. What leads back to the same state and says nothing, such as
 * an event that is ignored there, is no way on.
 */
export const noDeadlock = (id = 'no-deadlock'): Property => ({
  id,
  text: 'in every state something can happen, or the root is done',
  violation({ graph }): Violation | undefined {
    for (const [state, { local }] of graph.states.entries()) {
      if (local.status === 'active' && !goesOn(graph, state))
        return {
          finding: `nothing can happen in this state${idleEvents(graph, state)}, and the root is not done`,
          edges: graph.pathTo(state),
        }
    }
    return undefined
  },
})

function goesOn(graph: Graph, state: number): boolean {
  for (let edge = graph.firstEdge(state); edge < graph.endEdge(state); edge++)
    if (graph.to(edge) !== state || graph.effects(edge).length > 0) return true
  return false
}

/** What may happen in a state from which nothing leads on, in words. */
function idleEvents(graph: Graph, state: number): string {
  const labels = [...graph.edgesOf(state)].map(({ choice }) => choice.label)
  return labels.length === 0 ? '' : ` (${labels.join(', ')} would change nothing)`
}

const message = (error: unknown): string => (error instanceof Error ? error.message : String(error))
