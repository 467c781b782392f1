import type { Exploration } from '../engine/explore.ts'
import { type Graph, NOTHING_SAID } from '../engine/graph.ts'
import { IntList } from '../engine/int-list.ts'
import { remembered } from '../engine/memo.ts'
import { assertSayable, type NameOf, namesSaid } from '../engine/said.ts'
import type { Effect } from '../engine/state.ts'
import { checkGiven, ModelError } from '../errors.ts'
import { assertFields, shown } from '../options.ts'
import { asked } from './asked.ts'
import type { Broken, Monitor, Property, Violation } from './property.ts'

export const broken = (message: string): Broken => ({ broken: message })

/** @throws ModelError ERR_MODEL_OPTION for a field of the monitor that nothing reads */
export function monitored(id: string, text: string, monitor: Monitor): Property {
  assertFields(monitor, MONITOR, `${id}: monitor`)
  const named = namedMonitor(id, monitor)
  return {
    id,
    text,
    monitor,
    violation: ({ graph }) => new Run(graph, named).violation(),
    vacuous: (exploration) => (isMoved(exploration, named) ? undefined : 'the monitor reacts to nothing that happens in any run'),
  }
}

const MONITOR: Readonly<Record<keyof Monitor, true>> = { initial: true, next: true, heard: true, atRest: true, concerns: true }

/** The same, where what throws says what it is of. */
function namedMonitor(id: string, { initial, next, heard, atRest, concerns }: Monitor): Monitor {
  const ask = <T>(what: string, about: string, state: string | undefined, call: () => T): T =>
    asked(
      id,
      () => ({ what: `${what} of its monitor`, where: `${about}${state === undefined ? '' : ` in its state ${JSON.stringify(state)}`}` }),
      call,
    )
  return {
    initial,
    next: (state, effect) => ask('next', `at ${effect.type}`, state, () => textOrBroken(next(state, effect))),
    ...(heard && { heard: (state, choice) => ask('heard', `at ${choice.label}`, state, () => textGiven(heard(state, choice))) }),
    ...(atRest && { atRest: (state) => ask('atRest', 'at the end of a step', state, () => atRest(state)) }),
    ...(concerns && { concerns: (effect) => ask('concerns', `at ${effect.type}`, undefined, () => concerns(effect)) }),
  }
}

const textOrBroken = (given: string | Broken): string | Broken =>
  typeof (given as Partial<Broken> | undefined)?.broken === 'string' ? given : textGiven(given, ", or broken('why')")

/**
 * Without it a function that forgets to return would make a state of its own of `undefined`.
 * @throws ModelError ERR_MODEL_PROPERTY
 */
function textGiven(given: unknown, more = ''): string {
  if (typeof given === 'string') return given
  throw new ModelError('ERR_MODEL_PROPERTY', `it returns ${shown(given)}, allowed: the next state, which is a text${more}`)
}

/**
 * Whether anything makes a monitor leave its first state: as long as nothing does, it stays there,
 * and what it is about has not come.
 */
function isMoved({ model }: Exploration, { initial, next, heard, concerns }: Monitor): boolean {
  const { effects } = model.steps
  if (concerns) return effects.all.some(concerns)
  return (
    effects.all.some((effect) => next(initial, effect) !== initial) ||
    (heard !== undefined && model.choices.all.all.some((choice) => heard(initial, choice) !== initial))
  )
}

/** Nothing is said twice in one run. */
export const atMostOnce = (id: string, text: string, nameOf: NameOf): Property =>
  monitored(id, text, {
    initial: '[]',
    next: (said, effect) => {
      const name = nameOf(effect)
      if (name === undefined) return said
      const names = JSON.parse(said) as readonly string[]
      return names.includes(name) ? broken(`${name} is said a second time`) : JSON.stringify([...names, name].sort())
    },
  })

/** `later` is only said after every one of `earlier`. */
export function inOrder(id: string, text: string, nameOf: NameOf, earlier: readonly string[], later: string): Property {
  checkGiven('inOrder(id, text, nameOf, earlier, later)', 'earlier', earlier, 'a list of names', 'join')
  const ordered = monitored(id, text, {
    initial: earlier.join('\n'),
    next: (missing, effect) => {
      const name = nameOf(effect)
      if (name === later && missing !== '') return broken(`${later} is said before ${missing.split('\n').join(' and ')}`)
      return name === undefined
        ? missing
        : missing
            .split('\n')
            .filter((other) => other !== name)
            .join('\n')
    },
  })
  return {
    ...ordered,
    violation(exploration) {
      assertSayable(exploration, nameOf, [...earlier, later], id)
      return ordered.violation(exploration)
    },
    vacuous: (exploration) => (namesSaid(exploration, nameOf).has(later) ? undefined : `no run says "${later}"`),
  }
}

/** Where a monitor is after a list of effects: the number of its state, or what is wrong. */
type Reached = number | Broken

/**
 * The product of a graph and a monitor, walked breadth-first. A node is a state of the graph with
 * one of the monitor, both by their numbers; so is what the monitor has read already.
 */
class Run {
  readonly #graph: Graph
  readonly #monitor: Monitor
  /** Of each node: its states, the node it was first reached from, and the edge. */
  readonly #state = new IntList()
  readonly #at = new IntList()
  readonly #from = new IntList()
  readonly #edge = new IntList()
  /** The states of the monitor, and with which states of the graph each was met. */
  readonly #texts: string[] = []
  readonly #numbers = new Map<string, number>()
  readonly #seen: Members[] = []
  /** By the state of the monitor, then by the list of effects. */
  readonly #read: (Reached | undefined)[][] = []
  /** By the state of the monitor, then by the choice. */
  readonly #heard: (number | undefined)[][] = []

  constructor(graph: Graph, monitor: Monitor) {
    this.#graph = graph
    this.#monitor = monitor
  }

  violation(): Violation | undefined {
    const graph = this.#graph
    const monitor = this.#monitor
    const { initial } = monitor
    const start = graph.initialEffects.length === 0 ? this.#numberOf(initial) : this.#readEach(initial, graph.initialEffects)
    if (typeof start !== 'number') return { finding: start.broken, edges: [] }
    this.#visit(0, start, -1, -1)
    for (let i = 0; i < this.#state.length; i++) {
      const state = this.#state.at(i)
      const at = this.#at.at(i)
      const end = graph.endEdge(state)
      for (let edge = graph.firstEdge(state); edge < end; edge++) {
        const now = monitor.heard ? this.#hear(monitor.heard, at, edge) : at
        const next = now === at ? this.#next(at, edge) : this.#readAfter(now, edge)
        if (typeof next !== 'number') return { finding: next.broken, edges: [...this.#wayTo(i), edge] }
        this.#visit(graph.to(edge), next, i, edge)
      }
    }
    return undefined
  }

  #visit(state: number, at: number, from: number, edge: number): void {
    if (!(this.#seen[at] as Members).add(state)) return
    this.#state.push(state)
    this.#at.push(at)
    this.#from.push(from)
    this.#edge.push(edge)
  }

  /** After a step whose choice it does not react to: it stays where it is when nothing is said. */
  #next(at: number, edge: number): Reached {
    return this.#graph.saidIndex(edge) === NOTHING_SAID ? at : this.#readAfter(at, edge)
  }

  /** The same choices are heard again and again. */
  #hear(heard: Required<Monitor>['heard'], at: number, edge: number): number {
    const known = this.#heard[at] as (number | undefined)[]
    const choice = this.#graph.choiceIndex(edge)
    let now = known[choice]
    if (now === undefined) {
      now = this.#numberOf(heard(this.#texts[at] as string, this.#graph.choice(edge)))
      known[choice] = now
    }
    return now
  }

  /** The same lists of effects are read again and again. */
  #readAfter(at: number, edge: number): Reached {
    const known = this.#read[at] as (Reached | undefined)[]
    const said = this.#graph.saidIndex(edge)
    const reached = known[said] ?? this.#readEach(this.#texts[at] as string, this.#graph.effects(edge))
    known[said] = reached
    return reached
  }

  #readEach(at: string, effects: readonly Effect[]): Reached {
    let state = at
    for (const effect of effects) {
      const next = this.#monitor.next(state, effect)
      if (typeof next !== 'string') return next
      state = next
    }
    const wrong = this.#monitor.atRest?.(state)
    return wrong === undefined ? this.#numberOf(state) : broken(wrong)
  }

  #numberOf(text: string): number {
    return remembered(this.#numbers, text, () => {
      this.#seen.push(new Members(this.#graph.stateCount))
      this.#read.push([])
      this.#heard.push([])
      return this.#texts.push(text) - 1
    })
  }

  #wayTo(node: number): number[] {
    const way: number[] = []
    for (let i = node; i > 0; i = this.#from.at(i)) way.push(this.#edge.at(i))
    return way.reverse()
  }
}

/** A set with more than one in so many of the numbers takes more memory than a byte for each. */
const DENSE_SHARE = 64

/** Numbers below a bound: a set while there are few, then a byte for each of all. */
class Members {
  readonly #bound: number
  #few: Set<number> | undefined = new Set()
  #bytes: Uint8Array | undefined

  constructor(bound: number) {
    this.#bound = bound
  }

  /** Whether it was none before. */
  add(member: number): boolean {
    if (this.#bytes) {
      if (this.#bytes[member] === 1) return false
      this.#bytes[member] = 1
      return true
    }
    const few = this.#few as Set<number>
    const { size } = few
    if (few.add(member).size === size) return false
    if (few.size * DENSE_SHARE > this.#bound) {
      this.#bytes = new Uint8Array(this.#bound)
      for (const one of few) this.#bytes[one] = 1
      this.#few = undefined
    }
    return true
  }
}
