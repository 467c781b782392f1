import type { Choice } from './choice.ts'
import type { Graph } from './graph.ts'
import type { Property, Violation } from './property.ts'
import { isDone } from './reachability.ts'
import { stronglyConnected } from './strongly-connected.ts'
import { type ActorView, viewOf } from './view.ts'

export interface Termination {
  /** The states from which the end has to come. Default all. */
  readonly from?: (root: ActorView) => boolean
  /** The end. Default: the root is done. */
  readonly isEnd?: (root: ActorView) => boolean
  /** What is sure to happen when it stays possible. Default timers only: nobody owes an answer, and time passes. */
  readonly isFair?: (choice: Choice) => boolean
}

/**
 * Every run that reaches a state of `from` reaches the end, under weak fairness: a fair choice that stays possible is taken at
 * last. A violation is a state in which nothing fair can happen, or a circle that fair choices never force the run to leave.
 */
export const terminates = (
  id: string,
  text: string,
  { from = () => true, isEnd = isDone, isFair = ({ kind }) => kind === 'timer' }: Termination = {},
): Property => ({
  id,
  text,
  violation({ graph }): Violation | undefined {
    const pending = graph.states.map((state) => !isEnd(viewOf(state)))
    const begins = graph.states.map((state, i) => pending[i] === true && from(viewOf(state)))
    const concerned = reachableFrom(graph, begins, pending)
    return stuck(graph, concerned, isFair) ?? circling(graph, concerned, isFair)
  },
})

/** The states that can be reached from those of `begins` without leaving `within`. */
function reachableFrom(graph: Graph, begins: readonly boolean[], within: readonly boolean[]): boolean[] {
  const reached = [...begins]
  const queue = begins.flatMap((is, i) => (is ? [i] : []))
  for (let state = queue.pop(); state !== undefined; state = queue.pop()) {
    for (let edge = graph.firstEdge(state); edge < graph.endEdge(state); edge++) {
      const to = graph.to(edge)
      if (reached[to] || !within[to]) continue
      reached[to] = true
      queue.push(to)
    }
  }
  return reached
}

function stuck(graph: Graph, concerned: readonly boolean[], isFair: (choice: Choice) => boolean): Violation | undefined {
  for (let state = 0; state < graph.stateCount; state++) {
    if (!concerned[state]) continue
    let fair = false
    for (let edge = graph.firstEdge(state); edge < graph.endEdge(state) && !fair; edge++) fair = isFair(graph.choice(edge))
    if (!fair) return { finding: `nothing is sure to happen here; it may wait for ever${possible(graph, state)}`, edges: graph.pathTo(state) }
  }
  return undefined
}

const possible = (graph: Graph, state: number): string => {
  const labels = [...graph.edgesOf(state)].map(({ choice }) => choice.label)
  return labels.length === 0 ? '' : ` for: ${labels.join(', ')}`
}

function circling(graph: Graph, concerned: readonly boolean[], isFair: (choice: Choice) => boolean): Violation | undefined {
  for (const component of stronglyConnected(graph, concerned)) {
    const members = new Set(component)
    const first = component.reduce((least, state) => Math.min(least, state))
    const circle = circleThrough(graph, first, members)
    if (circle && mayStay(graph, component, members, isFair)) {
      const way = graph.pathTo(first)
      return { finding: 'this circle may be gone round for ever', edges: [...way, ...circle], loopsFrom: way.length }
    }
  }
  return undefined
}

/** Whether a fair run may stay: every fair choice is impossible somewhere in the component, or can be taken without leaving it. */
function mayStay(graph: Graph, component: readonly number[], members: ReadonlySet<number>, isFair: (choice: Choice) => boolean): boolean {
  const possibleIn = new Map<number, number>()
  const stays = new Set<number>()
  for (const state of component) {
    for (const { choice, to } of graph.edgesOf(state)) {
      if (!isFair(choice)) continue
      possibleIn.set(choice.index, (possibleIn.get(choice.index) ?? 0) + 1)
      if (members.has(to)) stays.add(choice.index)
    }
  }
  return [...possibleIn].every(([choice, states]) => states < component.length || stays.has(choice))
}

/** The edges of a shortest circle from a state within its component. */
function circleThrough(graph: Graph, start: number, members: ReadonlySet<number>): number[] | undefined {
  const arrival = new Map<number, number>()
  const queue = [start]
  for (let i = 0; i < queue.length; i++) {
    for (const { index, from, to } of graph.edgesOf(queue[i] as number)) {
      if (to === start) {
        const circle = [index]
        for (let at = from; at !== start; at = graph.from(circle[0] as number)) circle.unshift(arrival.get(at) as number)
        return circle
      }
      if (!members.has(to) || arrival.has(to)) continue
      arrival.set(to, index)
      queue.push(to)
    }
  }
  return undefined
}

/** For those who name what is fair: every timer, and the ends of these opaque children. */
export const timersAnd =
  (...children: readonly string[]) =>
  ({ kind, path }: Choice): boolean =>
    kind === 'timer' || (kind === 'outcome' && children.includes(path.id))

