import type { AnyMachineSnapshot, AnyStateMachine, AnyStateNode, AnyTransitionDefinition, StateValue, StateValueMap } from 'xstate'
import { type GuardParts, nodesOf } from './internals.ts'
import { Interner } from './interner.ts'

/**
 * A configuration (the active states of a machine) taken apart into regions, which most steps leave
 * alone: those of the outermost active parallel state. A machine that is in none, or whose regions
 * may look at each other, is one region.
 */
export class RegionFrame {
  readonly index: number
  /** The parallel state that the regions are of; undefined when the whole machine is one region. */
  readonly parallel: AnyStateNode | undefined
  readonly roots: readonly AnyStateNode[]
  /** The states above the regions; they are active as long as this frame is. */
  readonly trunk: ActiveStates
  /**
   * Atomic states with eventless transitions, in the order in which xstate tries them: the order in
   * which they were entered.
   */
  readonly eventless: readonly AnyStateNode[]
  readonly historyValue: AnyMachineSnapshot['historyValue']
  /** Positions of the regions that ever do something when they are left. */
  readonly withExit: readonly number[]
  /** All states of each region, active or not. */
  readonly #within: readonly (readonly AnyStateNode[])[]
  readonly #byEvent = new Map<string, readonly number[]>()

  constructor(index: number, parts: Pick<RegionFrame, 'parallel' | 'roots' | 'trunk' | 'eventless' | 'historyValue'>) {
    this.index = index
    this.parallel = parts.parallel
    this.roots = parts.roots
    this.trunk = parts.trunk
    this.eventless = parts.eventless
    this.historyValue = parts.historyValue
    this.#within = parts.roots.map(allNodes)
    this.withExit = this.#positions(doesSomethingOnExit)
  }

  /**
   * Positions of the regions that ever have a transition for events of this type, or eventless
   * ones; there are few.
   */
  regionsFor(type: string): readonly number[] {
    let found = this.#byEvent.get(type)
    if (found === undefined) {
      found = this.#positions((node) => node.always !== undefined || isFor(node, type))
      this.#byEvent.set(type, found)
    }
    return found
  }

  /** The part of a configuration's value that events of this type concern. */
  heardPart(value: StateValue, type: string): StateValue {
    const above = this.trunk.nodes.slice(1).map(({ key }) => key)
    let regions = value as StateValueMap
    for (const key of above) regions = regions[key] as StateValueMap
    let part: StateValueMap = {}
    for (const i of this.regionsFor(type)) {
      const { key } = this.roots[i] as AnyStateNode
      part[key] = regions[key]
    }
    for (const key of above.reverse()) part = { [key]: part }
    return part
  }

  #positions(suits: (node: AnyStateNode) => boolean): number[] {
    return this.#within.flatMap((nodes, i) => (nodes.some(suits) ? [i] : []))
  }
}

const isFor = ({ transitions }: AnyStateNode, type: string): boolean =>
  transitions.has(type) || [...transitions.keys()].some((key) => key.endsWith('*'))

const doesSomethingOnExit = ({ exit, invoke }: AnyStateNode): boolean => exit.length + invoke.length > 0

/** States that are active together. */
export class ActiveStates {
  readonly nodes: readonly AnyStateNode[]
  readonly #hears = new Map<string, boolean>()

  constructor(nodes: readonly AnyStateNode[]) {
    this.nodes = nodes
  }

  /**
   * Whether one of them has a transition for an event of this type; whether the transition is
   * possible is not asked.
   */
  hears(type: string): boolean {
    let answer = this.#hears.get(type)
    if (answer === undefined) {
      answer = this.nodes.some((node) => isFor(node, type))
      this.#hears.set(type, answer)
    }
    return answer
  }
}

/** Where one region stands. */
export class Region extends ActiveStates {
  readonly index: number
  readonly value: StateValue
  readonly isFinal: boolean
  /** Whether it has eventless transitions, which every step tries. */
  readonly isEventless: boolean
  /** Whether it does something when it is left. */
  readonly hasExit: boolean

  constructor(index: number, value: StateValue, nodes: readonly AnyStateNode[]) {
    super(nodes)
    this.index = index
    this.value = value
    this.isFinal = isInFinalState(nodes[0] as AnyStateNode, new Set(nodes))
    this.isEventless = nodes.some(({ always }) => always !== undefined)
    this.hasExit = nodes.some(doesSomethingOnExit)
  }
}

/** A configuration taken apart. */
interface Parts {
  readonly frame: RegionFrame
  readonly regions: readonly Region[]
}

/** The frames and regions of one machine; equal ones are one object. */
export class Regions {
  readonly #frames = new Interner<RegionFrame>()
  readonly #regions = new Interner<Region>()
  readonly #machine: AnyStateMachine
  readonly #isSeparable: boolean
  /**
   * Whether the microsteps of a step depend on nothing but where the one before it led to and on
   * their own event.
   */
  readonly areStepsDivisible: boolean

  constructor(machine: AnyStateMachine) {
    this.#machine = machine
    this.#isSeparable = isSeparable(machine)
    this.areStepsDivisible = this.#isSeparable && allNodes(machine.root).every(({ always }) => always === undefined)
  }

  /**
   * Takes a snapshot apart. Given the configuration before, the regions that have not moved need
   * not be searched for.
   */
  takeApart(snapshot: AnyMachineSnapshot, before?: Parts): Parts {
    const { value, historyValue } = snapshot
    const nodes = nodesOf(snapshot)
    const { root } = this.#machine
    const trunk: AnyStateNode[] = []
    let at: AnyStateNode | undefined = root
    let below: StateValue = value
    while (this.#isSeparable && at?.type === 'compound' && typeof below === 'object') {
      const [key] = Object.keys(below) as [string]
      trunk.push(at)
      at = at.states[key] as AnyStateNode
      below = below[key] as StateValue
    }
    if (!this.#isSeparable || at.type !== 'parallel' || typeof below !== 'object')
      return { frame: this.#frame(undefined, [root], [], nodes, historyValue), regions: [this.#region(root, value)] }
    const values = below
    const roots = Object.values(at.states) as AnyStateNode[]
    const known = before?.frame.parallel === at ? before.regions : []
    return {
      frame: this.#frame(at, roots, [...trunk, at], nodes, historyValue),
      regions: roots.map((root, i) => {
        const value = values[root.key] as StateValue
        return known[i]?.value === value ? known[i] : this.#region(root, value)
      }),
    }
  }

  #frame(
    parallel: AnyStateNode | undefined,
    roots: readonly AnyStateNode[],
    trunk: readonly AnyStateNode[],
    nodes: readonly AnyStateNode[],
    historyValue: RegionFrame['historyValue'],
  ): RegionFrame {
    const tried = nodes.filter(triesEventless)
    // The order of one is none.
    const eventless = tried.length > 1 ? tried : []
    const history = Object.entries(historyValue)
      .map(([id, remembered]) => `${id}=${remembered.map((node) => node.id)}`)
      .sort()
    return this.#frames.intern(
      `${parallel?.id} ${eventless.map(({ id }) => id)} ${history}`,
      (index) => new RegionFrame(index, { parallel, roots, trunk: new ActiveStates(trunk), eventless, historyValue }),
    )
  }

  #region(root: AnyStateNode, value: StateValue): Region {
    const nodes = activeNodes(root, value)
    return this.#regions.intern(nodes.map(({ order }) => order).join(), (index) => new Region(index, value, nodes))
  }
}

function activeNodes(node: AnyStateNode, value: StateValue): AnyStateNode[] {
  if (typeof value === 'string') return [node, node.states[value] as AnyStateNode]
  return [node, ...Object.entries(value).flatMap(([key, inner]) => activeNodes(node.states[key] as AnyStateNode, inner as StateValue))]
}

/**
 * Whether its eventless transitions are tried; those of the machine's own root are the same in any
 * order of the regions.
 */
const triesEventless = (node: AnyStateNode): boolean => {
  if (node.type !== 'atomic' && node.type !== 'final') return false
  for (let at = node; at.parent; at = at.parent) if (at.always) return true
  return false
}

function isInFinalState(node: AnyStateNode, active: ReadonlySet<AnyStateNode>): boolean {
  const children = Object.values(node.states) as AnyStateNode[]
  if (node.type === 'compound') return children.some((child) => child.type === 'final' && active.has(child))
  if (node.type === 'parallel') return children.every((child) => child.type === 'history' || isInFinalState(child, active))
  return node.type === 'final'
}

/** Whether a transition changes one region and nothing else of the configuration. */
export function staysInRegion(
  { source, target, reenter }: Transition,
  { roots, parallel }: Pick<RegionFrame, 'roots' | 'parallel'>,
): boolean {
  if (parallel === undefined || !target || target.length === 0) return true
  const root = roots.find((other) => other === source || isBelow(source, other))
  if (!root || (source === root && reenter)) return false
  return (target as readonly AnyStateNode[]).every((node) => isBelow(node, root))
}

type Transition = Pick<AnyTransitionDefinition, 'source' | 'target' | 'reenter'>

const isBelow = (node: AnyStateNode, ancestor: AnyStateNode): boolean => {
  for (let at = node.parent; at; at = at.parent) if (at === ancestor) return true
  return false
}

/**
 * Whether the regions of this machine can only influence each other by what is accounted for:
 * events, context, the names of children, being final together, and being left together. Three
 * things look further, and a machine that uses one is not taken apart: history, conditions on the
 * state, and eventless transitions that leave their region.
 */
function isSeparable({ root, implementations }: AnyStateMachine): boolean {
  const nodes = allNodes(root)
  const guards = [
    ...Object.values(implementations.guards as object),
    ...nodes.flatMap((node) => transitionsOf(node).map(({ guard }) => guard)),
  ]
  return (
    nodes.every(({ type }) => type !== 'history') && !guards.some(readsState) && nodes.every((node) => !node.always || staysEventless(node))
  )
}

/**
 * Whether the eventless transitions of a state stay in its region; above all regions there may be
 * none.
 */
function staysEventless(node: AnyStateNode): boolean {
  let parallel: AnyStateNode | undefined
  for (let at = node.parent; at; at = at.parent) if (at.type === 'parallel') parallel = at
  if (!parallel) return allNodes(node).every(({ type }) => type !== 'parallel')
  const frame = { parallel, roots: Object.values(parallel.states) as AnyStateNode[] }
  return (node.always ?? []).every((transition) => staysInRegion(transition, frame))
}

/**
 * Whether a guard reads the state; those that `enqueueActions` asks by its `check` are seen when it
 * asks.
 */
export function readsState(guard: unknown): boolean {
  if (typeof guard !== 'function') return false
  const { stateValue, guards } = guard as GuardParts
  return stateValue !== undefined || (guards ?? []).some(readsState)
}

export const allNodes = (node: AnyStateNode): AnyStateNode[] => [node, ...(Object.values(node.states) as AnyStateNode[]).flatMap(allNodes)]

export const transitionsOf = ({ transitions, always }: AnyStateNode) => [...[...transitions.values()].flat(), ...(always ?? [])]
