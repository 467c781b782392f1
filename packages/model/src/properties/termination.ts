import type { AnyStateMachine } from 'xstate'
import type { Choice } from '../engine/choice.ts'
import type { Edge, Graph } from '../engine/graph.ts'
import { assertChildNamed } from '../engine/said.ts'
import { type ActorView, viewOf } from '../engine/view.ts'
import { assertFields } from '../options.ts'
import { askedOfState } from './asked.ts'
import type { Property, Violation } from './property.ts'
import { isDone } from './reachability.ts'
import { stronglyConnected } from './strongly-connected.ts'

export interface Termination<M extends AnyStateMachine = AnyStateMachine> {
  /** The states from which the end has to come. Default all. */
  readonly from?: (root: ActorView<M>) => boolean
  /** The end. Default: the root is done. */
  readonly isEnd?: (root: ActorView<M>) => boolean
  /**
   * What is sure to happen when it stays possible. Default timers only: no answer is owed, and time
   * passes.
   */
  readonly isFair?: (choice: Choice) => boolean
}

/**
 * Every run that reaches a state of `from` reaches the end, under weak fairness: a fair choice that
 * stays possible is taken at last. A violation is a state in which nothing fair can happen, or a
 * circle that fair choices never force the run to leave.
 */
export const terminates = <M extends AnyStateMachine = AnyStateMachine>(
  id: string,
  text: string,
  options: Termination<M> = {},
): Property<M> => {
  assertFields(options, TERMINATION, `${id}: options`)
  const { isFair = ({ kind }) => kind === 'timer' } = options
  const from = (root: ActorView<M>): boolean => (options.from ? askedOfState(id, 'from', options.from, root) : true)
  const isEnd = (root: ActorView<M>): boolean => (options.isEnd ? askedOfState(id, 'isEnd', options.isEnd, root) : isDone(root))
  return {
    id,
    text,
    violation(exploration): Violation | undefined {
      const { graph } = exploration
      if (isFairOf(isFair)) for (const child of isFair.children) assertChildNamed(exploration, child, id)
      const pending = graph.states.map((state) => !isEnd(viewOf(state) as ActorView<M>))
      const begins = graph.states.map((state, i) => pending[i] === true && from(viewOf(state) as ActorView<M>))
      const concerned = reachableFrom(graph, begins, pending)
      return stuck(graph, concerned, isFair) ?? circling(graph, concerned, isFair)
    },
    vacuous: ({ graph }) =>
      graph.states.some((state) => from(viewOf(state) as ActorView<M>)) ? undefined : 'no run reaches a state that has to lead to the end',
  }
}

const TERMINATION: Readonly<Record<keyof Termination, true>> = { from: true, isEnd: true, isFair: true }

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
    if (!fair)
      return {
        finding: `nothing has to happen in this state; the system may wait for ever${possible(graph, state)}`,
        edges: graph.pathTo(state),
      }
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
    if (!mayStay(graph, component, members, isFair)) continue
    const turn = fairEdgeWithin(graph, component, members, isFair)
    if (!turn) continue
    const way = graph.pathTo(turn.from)
    return {
      finding: 'these steps may repeat for ever',
      edges: [...way, turn.index, ...wayWithin(graph, turn.to, turn.from, members)],
      loopsFrom: way.length,
    }
  }
  return undefined
}

/**
 * The earliest fair edge that stays in a component: of all circles, one that something drives is
 * worth showing.
 */
function fairEdgeWithin(
  graph: Graph,
  component: readonly number[],
  members: ReadonlySet<number>,
  isFair: (choice: Choice) => boolean,
): Edge | undefined {
  for (const state of [...component].sort((a, b) => a - b)) {
    for (const edge of graph.edgesOf(state)) if (members.has(edge.to) && isFair(edge.choice)) return edge
  }
  return undefined
}

/**
 * Whether a fair run may stay: every fair choice is impossible somewhere in the component, or can
 * be taken without leaving it.
 */
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

/** The edges of a shortest way from one state of a component to another. */
function wayWithin(graph: Graph, from: number, to: number, members: ReadonlySet<number>): number[] {
  const arrival = new Map<number, Edge>()
  const queue = [from]
  for (let i = 0; i < queue.length && !arrival.has(to) && from !== to; i++) {
    for (const edge of graph.edgesOf(queue[i] as number)) {
      if (!members.has(edge.to) || edge.to === from || arrival.has(edge.to)) continue
      arrival.set(edge.to, edge)
      queue.push(edge.to)
    }
  }
  const way: number[] = []
  for (let at = to; at !== from; ) {
    const edge = arrival.get(at) as Edge
    way.unshift(edge.index)
    at = edge.from
  }
  return way
}

/** The fair choices: every timer, and the ends of these opaque children. */
export const timersAnd = (...children: readonly string[]): ((choice: Choice) => boolean) & NamesChildren =>
  Object.assign(({ kind, path }: Choice): boolean => kind === 'timer' || (kind === 'outcome' && children.includes(path.id)), { children })

/** A function that can be asked which children it is about. */
interface NamesChildren {
  readonly children: readonly string[]
}

const isFairOf = (isFair: object): isFair is NamesChildren => 'children' in isFair
