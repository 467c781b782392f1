import { matchesState, type StateValue } from 'xstate'
import type { Exploration } from '../engine/explore.ts'
import type { ActorState } from '../engine/state.ts'
import { assertState, hears, machinesBelow, patternsOf } from '../engine/vocabulary.ts'
import { ModelError } from '../errors.ts'
import { hint } from '../near.ts'
import { assertFields, shown } from '../options.ts'
import type { Property, Violation } from './property.ts'

/** An event that a machine may ignore, everywhere or in one state. */
export interface Ignored {
  /** The machine's id. */
  readonly machine: string
  /** Its type; `*` at the end stands for any rest. */
  readonly event: string
  /** The states in which it is ignored. Default any. */
  readonly in?: StateValue | readonly StateValue[]
  /** The reason, for those who read the list. */
  readonly why?: string
}

/**
 * Events are not lost by oversight: each that reaches a machine moves it or makes it act, unless it
 * is listed.
 */
export const handlesOrIgnores = (id: string, ignored: readonly Ignored[] = []): Property => {
  if (!Array.isArray(ignored))
    throw new ModelError('ERR_MODEL_OPTION', `${id}: ignored: got ${shown(ignored)}, allowed: a list of { machine, event, in?, why? }`)
  for (const [i, entry] of ignored.entries()) assertFields(entry, IGNORED, `${id}: ignored[${i}]`)
  return {
    id,
    text: 'every event that reaches a machine is handled there or listed as ignored',
    violation(exploration): Violation | undefined {
      const { model, graph } = exploration
      for (const entry of ignored) assertNamed(exploration, entry, id)
      for (const { from, event, step } of model.steps.taken) {
        if (!from?.configuration || !event || step.transitions.length > 0) continue
        const { value } = from.configuration
        const isListed = (entry: Ignored): boolean =>
          entry.machine === from.logic.name &&
          (entry.event.endsWith('*') ? event.type.startsWith(entry.event.slice(0, -1)) : entry.event === event.type) &&
          (entry.in === undefined || [entry.in].flat().some((state) => matchesState(state, value)))
        if (ignored.some(isListed)) continue
        const isHere = (actor: ActorState): boolean => actor.local === from || actor.children.some(isHere)
        // Between two macrosteps of one delivery an actor may be in a state where it never rests.
        const state = Math.max(0, graph.states.findIndex(isHere))
        return { finding: `${from.logic.name} ignores ${event.type} in ${JSON.stringify(value)}`, edges: graph.pathTo(state) }
      }
      return undefined
    },
    vacuous: ({ model }) => (model.steps.taken.some(({ event }) => event) ? undefined : 'no event reaches any machine'),
  }
}

const IGNORED: Readonly<Record<keyof Ignored, true>> = { machine: true, event: true, in: true, why: true }

/** @throws ModelError ERR_MODEL_UNKNOWN for a machine, an event or a state that there is not */
function assertNamed({ model }: Exploration, { machine: name, event, in: states }: Ignored, property: string): void {
  const machines = [...new Set([...machinesBelow(model.machine), ...model.steps.logics.all.flatMap(({ machine }) => machine ?? [])])]
  const named = machines.filter(({ id }) => id === name)
  const refuse = (what: string, word: string, names: Iterable<string>): never => {
    throw new ModelError('ERR_MODEL_UNKNOWN', `${property}: there is no ${what} "${word}"${hint(word, names)}`, { property, [what]: word })
  }
  if (named.length === 0)
    refuse(
      'machine',
      name,
      machines.map(({ id }) => id),
    )
  for (const state of states === undefined ? [] : [states].flat()) for (const machine of named) assertState(machine, state)
  const types = new Set([...model.steps.events.all.map(({ type }) => type), ...machines.flatMap((machine) => [...patternsOf(machine)])])
  // A pattern may be for what only other systems have.
  const isKnown = event.endsWith('*') || types.has(event) || machines.some((machine) => hears(machine, event))
  if (!isKnown) refuse('event', event, types)
}
