import type { StateValue } from 'xstate'
import { matchesState } from 'xstate'
import type { ActorState } from '../engine/state.ts'
import type { Property, Violation } from './property.ts'

/** An event that a machine may ignore, everywhere or in one state. */
export interface Ignored {
  /** The machine's id. */
  readonly machine: string
  /** Its type; `*` at the end stands for any rest. */
  readonly event: string
  /** One of these states. Default any. */
  readonly in?: StateValue | readonly StateValue[]
}

/**
 * Whatever reaches a machine moves it or makes it act, unless it is listed: events are not lost by
 * oversight.
 */
export const handlesOrIgnores = (id: string, ignored: readonly Ignored[] = []): Property => ({
  id,
  text: 'every event that reaches a machine is handled there or listed as ignored',
  violation({ model, graph }): Violation | undefined {
    for (const { from, event, step } of model.steps.taken) {
      if (!from?.standing || !event || step.transitions.length > 0) continue
      const { value } = from.standing
      const isListed = (entry: Ignored): boolean =>
        entry.machine === from.logic.name &&
        (entry.event.endsWith('*') ? event.type.startsWith(entry.event.slice(0, -1)) : entry.event === event.type) &&
        (entry.in === undefined || [entry.in].flat().some((state) => matchesState(state, value)))
      if (ignored.some(isListed)) continue
      const isHere = (actor: ActorState): boolean => actor.local === from || actor.children.some(isHere)
      // Between two macrosteps of one delivery an actor may be in a state in which it never rests.
      const state = Math.max(0, graph.states.findIndex(isHere))
      return { finding: `${from.logic.name} ignores ${event.type} in ${JSON.stringify(value)}`, edges: graph.pathTo(state) }
    }
    return undefined
  },
})
