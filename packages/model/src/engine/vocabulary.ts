import type { AnyStateMachine, StateValue } from 'xstate'
import { ModelError } from '../errors.ts'
import { hint } from '../near.ts'
import { isInline, kindOf, OWN } from './internals.ts'
import { remembered } from './memo.ts'
import { allNodes, transitionsOf } from './regions.ts'

/** What there is in a machine, by name: what is named in options and properties has to be in it. */

const patterns = new WeakMap<AnyStateMachine, ReadonlySet<string>>()

/** The types of events that transitions of the machine are for, as they are written. */
export const patternsOf = (machine: AnyStateMachine): ReadonlySet<string> =>
  remembered(
    patterns,
    machine,
    () => new Set(allNodes(machine.root).flatMap((node) => transitionsOf(node).map(({ eventType }) => eventType))),
  )

/** The same without xstate's own, and without patterns. */
export const eventsHeardBy = (machine: AnyStateMachine): readonly string[] =>
  [...patternsOf(machine)].filter((type) => !isPattern(type) && !type.startsWith(OWN) && type !== '')

/** Whether some transition of the machine is for events of this type, if only by a pattern. */
export const hears = (machine: AnyStateMachine, type: string): boolean =>
  patternsOf(machine).has(type) || [...patternsOf(machine)].some((pattern) => isFor(pattern, type))

const isPattern = (type: string): boolean => type === '*' || type.endsWith('.*')

/** Whether a transition that is written for this type, or pattern, is for events of that type. */
export const isFor = (pattern: string, type: string): boolean =>
  pattern === type ||
  pattern === '*' ||
  (pattern.endsWith('.*') && (type === pattern.slice(0, -2) || type.startsWith(pattern.slice(0, -1))))

const machines = new WeakMap<AnyStateMachine, readonly AnyStateMachine[]>()

/** A machine and all that it declares as children of its own, however deep. */
export const machinesBelow = (root: AnyStateMachine): readonly AnyStateMachine[] =>
  remembered(machines, root, () => {
    const found = new Set([root])
    for (const machine of found)
      for (const logic of Object.values(actorsOf(machine))) if (kindOf(logic) === 'machine') found.add(logic as AnyStateMachine)
    return [...found]
  })

const actorsOf = ({ implementations }: AnyStateMachine) => implementations.actors as Readonly<Record<string, unknown>>

/** Ids of the children that a machine invokes. */
export const invokedBy = ({ root }: AnyStateMachine): readonly string[] =>
  allNodes(root).flatMap(({ invoke }) => invoke.map(({ id }) => id))

/** Names by which what a child does can be given: sources, and ids of invoked children. */
export const childNames = (root: AnyStateMachine): ReadonlySet<string> =>
  new Set(
    machinesBelow(root).flatMap((machine) => [...Object.keys(actorsOf(machine)).filter((name) => !isInline(name)), ...invokedBy(machine)]),
  )

/** The name of a source that is a machine, for the message that it is explored itself. */
export const isMachineSource = (root: AnyStateMachine, name: string): boolean => {
  const named = machinesBelow(root).flatMap((machine) => (Object.hasOwn(actorsOf(machine), name) ? [actorsOf(machine)[name]] : []))
  return named.length > 0 && named.every((logic) => kindOf(logic) === 'machine')
}

const known = new WeakMap<AnyStateMachine, Set<StateValue>>()

/**
 * Refuses a state that the machine does not have: nothing would ever match it.
 * @throws ModelError ERR_MODEL_UNKNOWN
 */
export function assertState(machine: AnyStateMachine, value: StateValue): void {
  const states = remembered(known, machine, () => new Set<StateValue>())
  // Objects that are made for each call would only fill the memory.
  if (states.has(value)) return
  const unknown = unknownState(machine, typeof value === 'string' ? nested(value) : value)
  if (unknown)
    throw new ModelError('ERR_MODEL_UNKNOWN', `${machine.id}: there is no state "${unknown.name}"${hint(unknown.name, unknown.names)}`, {
      machine: machine.id,
      ...unknown,
    })
  if (typeof value === 'string') states.add(value)
}

/** `a.b` as xstate reads it; a dot behind a backslash is part of the name. */
const nested = (text: string): StateValue => {
  const parts = text.split(/(?<!\\)\./).map((part) => part.replaceAll('\\.', '.'))
  return parts.reduceRight<StateValue | undefined>((inner, key) => (inner === undefined ? key : { [key]: inner }), undefined) ?? ''
}

/** A state that the value names and that the machine does not have, with those it has there. */
function unknownState(
  { root }: AnyStateMachine,
  value: StateValue,
): { readonly name: string; readonly names: readonly string[] } | undefined {
  const wrong = (node: AnyStateMachine['root'], part: StateValue, path: string): { name: string; names: string[] } | undefined => {
    const parts = typeof part === 'string' ? { [part]: undefined } : part
    for (const [key, inner] of Object.entries(parts)) {
      const child = node.states[key]
      const name = `${path}${key}`
      if (!child) return { name, names: Object.keys(node.states).map((state) => `${path}${state}`) }
      const found = inner === undefined ? undefined : wrong(child, inner, `${name}.`)
      if (found) return found
    }
    return undefined
  }
  return wrong(root, value, '')
}
