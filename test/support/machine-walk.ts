import type { AnyStateMachine, AnyStateNode } from 'xstate'
import { StateMachine } from 'xstate'

/**
 * Reads a machine by its state nodes, as it will run, rather than by the configuration it was made
 * from: what each region of the root waits for, does and raises, and every name that any machine
 * uses.
 */
export function nodesOf(node: AnyStateNode): AnyStateNode[] {
  return [node, ...Object.values(node.states).flatMap(nodesOf)]
}

/**
 * The events by which a state is left or acts, without those that xstate makes for timers, children
 * and joins.
 */
const eventsOf = (node: AnyStateNode): string[] => [...node.transitions.keys()].filter((event) => !event.startsWith('xstate.'))

const transitionsOf = (node: AnyStateNode) => [...node.transitions.values()].flat()

/**
 * A generated action: an object with a `type`, or one of xstate's own functions, which carry
 * theirs.
 */
const typeOf = (action: unknown): string => (typeof action === 'string' ? action : ((action as { type?: string }).type ?? 'inline'))

interface Raised {
  readonly event: { readonly type: string }
}

const raisedBy = (actions: readonly unknown[]): string[] =>
  actions.flatMap((action) => {
    if (typeOf(action) !== 'xstate.raise') return []
    const { params } = action as { params?: Raised | ((args: unknown) => Raised) }
    // xstate's own, of timers, has none.
    return params === undefined ? [] : [(typeof params === 'function' ? params({ event: {} }) : params).event.type]
  })

/** Everything a machine raises by itself, from whichever state. */
export const raisesOf = (machine: AnyStateMachine): Set<string> =>
  new Set(
    nodesOf(machine.root).flatMap((node) => [
      ...raisedBy(node.entry),
      ...transitionsOf(node).flatMap((transition) => raisedBy(transition.actions)),
    ]),
  )

/** Everything a machine listens to, in whichever state. */
export const listensTo = (machine: AnyStateMachine): Set<string> => new Set(nodesOf(machine.root).flatMap(eventsOf))

/** A phase as its region shows it. The words are those of a row of the wiring table. */
export interface RegionRow {
  readonly lane: 'start' | 'stop'
  readonly after: readonly string[]
  readonly unless?: string
  readonly work?: string
  /** Signals that end the work, in the order of the budget. */
  readonly cuts: readonly string[]
  /** Signals with which the children of the work are told to end. */
  readonly until: readonly string[]
  /** Signals that cut the children of the work that have not. */
  readonly abandonedAt: readonly string[]
  /** Signals that are passed on to work that lasts. */
  readonly hears: readonly string[]
  readonly fires: readonly string[]
}

const targetsOf = (node: AnyStateNode, event: string): string[] =>
  (node.transitions.get(event) ?? []).flatMap((transition) => transition.target ?? []).map((target) => target.key)

export function regionRow(region: AnyStateNode): RegionRow {
  const { hooks, signals } = region.states['launched']?.states ?? {}
  const { waiting, working, unarmed, fired, open } = { ...region.states, ...hooks?.states }
  if (!waiting || !fired) throw new Error(`${region.key} is no phase`)
  const isSkip = (event: string) => targetsOf(waiting, event).some((target) => target === 'skipped' || target === 'over')
  const works = working ?? open
  const arming = unarmed && eventsOf(unarmed).filter((event) => targetsOf(unarmed, event).includes('waiting'))
  const inside = working ? nodesOf(working).filter((node) => node !== working) : []
  const notified = signals ? nodesOf(signals).flatMap(eventsOf) : []
  return {
    lane: eventsOf(waiting).some(isSkip) ? 'start' : 'stop',
    after: nodesOf(waiting)
      .flatMap(eventsOf)
      .filter((event) => !(event === 'StopRequested' && isSkip(event))),
    ...(arming?.[0] !== undefined && { unless: arming[0] }),
    ...(works?.invoke[0] && { work: String(works.invoke[0].src) }),
    cuts: working ? eventsOf(working).filter((event) => event.startsWith('Cut.')) : [],
    until: notified,
    abandonedAt: [...new Set(inside.flatMap(eventsOf))].filter((event) => !notified.includes(event)),
    hears: open ? eventsOf(open) : [],
    fires: raisedBy(fired.entry),
  }
}

/** The regions of the root's `running` state that are phases, by their `meta.phase`. */
export const phaseRegions = (machine: AnyStateMachine): Map<string, AnyStateNode> =>
  new Map(
    Object.values((machine.root.states['running'] as AnyStateNode).states).flatMap((region) => {
      const { phase } = (region.meta ?? {}) as { phase?: string }
      return phase === undefined ? [] : [[phase, region]]
    }),
  )

/** The names a machine uses, by kind. */
export interface Names {
  readonly actors: ReadonlySet<string>
  readonly actions: ReadonlySet<string>
  readonly guards: ReadonlySet<string>
  readonly delays: ReadonlySet<string>
}

export function namesUsedBy(machine: AnyStateMachine): Names {
  const actors = new Set<string>()
  const actions = new Set<string>()
  const guards = new Set<string>()
  const delays = new Set<string>()
  const isBuiltIn = (type: string) => type.startsWith('xstate.')
  for (const node of nodesOf(machine.root)) {
    for (const { src } of node.invoke) actors.add(String(src))
    for (const action of [...node.entry, ...node.exit]) if (!isBuiltIn(typeOf(action))) actions.add(typeOf(action))
    for (const { delay } of node.after) if (typeof delay === 'string') delays.add(delay)
    for (const { guard, actions: taken } of [...transitionsOf(node), ...(node.always ?? [])]) {
      for (const action of taken) if (!isBuiltIn(typeOf(action))) actions.add(typeOf(action))
      if (guard !== undefined) guards.add(typeOf(guard))
    }
  }
  return { actors, actions, guards, delays }
}

/** A machine and, by name, every machine among its actors, and theirs. */
export function machinesOf(machine: AnyStateMachine, name = machine.id): [string, AnyStateMachine][] {
  const children = Object.entries(machine.implementations.actors as Record<string, unknown>).flatMap(([child, logic]) =>
    logic instanceof StateMachine ? machinesOf(logic as AnyStateMachine, `${name}/${child}`) : [],
  )
  return [[name, machine], ...children]
}
