import type { Exploration } from '../engine/explore.ts'
import type { Graph } from '../engine/graph.ts'
import { remembered } from '../engine/memo.ts'
import { assertSayable, type NameOf, namesSaid } from '../engine/said.ts'
import type { Effect } from '../engine/state.ts'
import { checkGiven } from '../errors.ts'
import { assertFields } from '../options.ts'
import type { Broken, Monitor, Property, Violation } from './property.ts'

export const broken = (message: string): Broken => ({ broken: message })

/** @throws ModelError ERR_MODEL_OPTION for a field of the monitor that nothing reads */
export function monitored(id: string, text: string, monitor: Monitor): Property {
  assertFields(monitor, MONITOR, `${id}: monitor`)
  return {
    id,
    text,
    monitor,
    violation: ({ graph }) => new Run(graph, monitor).violation(),
    vacuous: (exploration) => (isMoved(exploration, monitor) ? undefined : 'the monitor reacts to nothing that happens in any run'),
  }
}

const MONITOR: Readonly<Record<keyof Monitor, true>> = { initial: true, next: true, heard: true, atRest: true, concerns: true }

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
    initial: '',
    next: (said, effect) => {
      const name = nameOf(effect)
      if (name === undefined) return said
      const names = said.split('\n')
      return names.includes(name) ? broken(`${name} is said a second time`) : [...names, name].sort().join('\n')
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

/** A state of the graph with one of the monitor, and the edge by which it was first reached. */
interface Node {
  readonly state: number
  readonly at: string
  readonly from: number
  readonly edge: number
}

/** The product of a graph and a monitor, walked breadth-first. */
class Run {
  readonly #graph: Graph
  readonly #monitor: Monitor
  readonly #nodes: Node[] = []
  readonly #seen = new Map<string, Set<number>>()
  readonly #read = new Map<string, Map<readonly Effect[], string | Broken>>()

  constructor(graph: Graph, monitor: Monitor) {
    this.#graph = graph
    this.#monitor = monitor
  }

  violation(): Violation | undefined {
    const graph = this.#graph
    const start = this.#readAll(this.#monitor.initial, this.#monitor.initial, graph.initialEffects)
    if (typeof start !== 'string') return { finding: start.broken, edges: [] }
    this.#visit(0, start, -1, -1)
    for (let i = 0; i < this.#nodes.length; i++) {
      const { state, at } = this.#nodes[i] as Node
      for (let edge = graph.firstEdge(state); edge < graph.endEdge(state); edge++) {
        const next = this.#readAll(at, this.#monitor.heard?.(at, graph.choice(edge)) ?? at, graph.effects(edge))
        if (typeof next !== 'string') return { finding: next.broken, edges: [...this.#wayTo(i), edge] }
        this.#visit(graph.to(edge), next, i, edge)
      }
    }
    return undefined
  }

  #visit(state: number, at: string, from: number, edge: number): void {
    const states = remembered(this.#seen, at, () => new Set<number>())
    if (states.has(state)) return
    states.add(state)
    this.#nodes.push({ state, at, from, edge })
  }

  /** The same lists of effects are read again and again. */
  #readAll(before: string, at: string, effects: readonly Effect[]): string | Broken {
    if (effects.length === 0 && at === before) return at
    const known = remembered(this.#read, at, () => new Map<readonly Effect[], string | Broken>())
    return remembered(known, effects, () => this.#readEach(at, effects))
  }

  #readEach(at: string, effects: readonly Effect[]): string | Broken {
    let state = at
    for (const effect of effects) {
      const next = this.#monitor.next(state, effect)
      if (typeof next !== 'string') return next
      state = next
    }
    const wrong = this.#monitor.atRest?.(state)
    return wrong === undefined ? state : broken(wrong)
  }

  #wayTo(node: number): number[] {
    const way: number[] = []
    for (let i = node; i > 0; ) {
      const { edge, from } = this.#nodes[i] as Node
      way.push(edge)
      i = from
    }
    return way.reverse()
  }
}
