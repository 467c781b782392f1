import type { AnyStateMachine } from 'xstate'
import type { Choice } from '../engine/choice.ts'
import type { Exploration, Model } from '../engine/explore.ts'
import type { Edge, Graph } from '../engine/graph.ts'
import { remembered } from '../engine/memo.ts'
import { assertChildNamed } from '../engine/said.ts'
import type { ActorState } from '../engine/state.ts'
import { type ActorView, viewOf } from '../engine/view.ts'
import { assertFields } from '../options.ts'
import { Anew } from './anew.ts'
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
   * What is sure to happen when it stays possible; a timer that is set again, or a child that is
   * started again, has not stayed. Default timers only: no answer is owed, and time passes.
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
      return stuck(graph, concerned, isFair) ?? circling(exploration, concerned, isFair)
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

function circling(
  { graph, model }: Exploration,
  concerned: readonly boolean[],
  isFair: (choice: Choice) => boolean,
): Violation | undefined {
  for (const states of stronglyConnected(graph, concerned)) {
    const component = new Component(graph, model, states, isFair)
    const circle = component.circle()
    if (!circle) continue
    const way = graph.pathTo(circle.from)
    return { finding: 'these steps may repeat for ever', edges: [...way, ...circle.edges], loopsFrom: way.length }
  }
  return undefined
}

/** States that lead to each other, and whether a fair run may stay among them. */
class Component {
  readonly #graph: Graph
  readonly #model: Model
  readonly #states: readonly number[]
  readonly #members: ReadonlySet<number>
  readonly #isFair: (choice: Choice) => boolean
  readonly #anew = new Map<number, Anew>()

  constructor(graph: Graph, model: Model, states: readonly number[], isFair: (choice: Choice) => boolean) {
    this.#graph = graph
    this.#model = model
    this.#states = [...states].sort((a, b) => a - b)
    this.#members = new Set(states)
    this.#isFair = isFair
  }

  /**
   * A circle that fair choices never force a run to leave; undefined when there is none. It comes
   * by what keeps it fair: for each fair choice a state where it is impossible, or a step that
   * takes it or has it begin anew. Of all circles, one that something drives is worth showing.
   */
  circle(): { readonly from: number; readonly edges: readonly number[] } | undefined {
    const inside = this.#states.flatMap((state) => [...this.#graph.edgesOf(state)].filter(({ to }) => this.#members.has(to)))
    const first = inside.find(({ choice }) => this.#isFair(choice)) ?? inside[0]
    if (!first) return undefined
    const way = [first]
    for (const [choice, states] of this.#fairChoices()) {
      const isKept = ({ from, choice: taken, index, to }: Edge): boolean =>
        taken === choice || !states.has(from) || !states.has(to) || this.#anewIn(index, from, taken).renews(choice)
      if (way.some(isKept)) continue
      const keeps = inside.find(isKept)
      if (!keeps) return undefined
      way.push(...this.#wayWithin((way.at(-1) as Edge).to, keeps.from), keeps)
    }
    way.push(...this.#wayWithin((way.at(-1) as Edge).to, first.from))
    return { from: first.from, edges: way.map(({ index }) => index) }
  }

  /** Each of them with the states in which it is possible. */
  #fairChoices(): ReadonlyMap<Choice, ReadonlySet<number>> {
    const found = new Map<Choice, Set<number>>()
    for (const state of this.#states)
      for (const { choice } of this.#graph.edgesOf(state))
        if (this.#isFair(choice)) remembered(found, choice, () => new Set<number>()).add(state)
    return found
  }

  #anewIn(edge: number, from: number, choice: Choice): Anew {
    return remembered(this.#anew, edge, () => {
      const anew = new Anew()
      const state = this.#graph.states[from] as ActorState
      // Most events that lead to the same state are ignored there.
      const isIgnored = choice.kind === 'event' && this.#model.steps.next(state.local, choice.event).commands.length === 0
      if (!isIgnored) this.#model.take(state, choice, anew)
      return anew
    })
  }

  /** A shortest way from one state to another. */
  #wayWithin(from: number, to: number): Edge[] {
    const arrival = new Map<number, Edge>()
    const queue = [from]
    for (let i = 0; i < queue.length && !arrival.has(to) && from !== to; i++) {
      for (const edge of this.#graph.edgesOf(queue[i] as number)) {
        if (!this.#members.has(edge.to) || edge.to === from || arrival.has(edge.to)) continue
        arrival.set(edge.to, edge)
        queue.push(edge.to)
      }
    }
    const way: Edge[] = []
    for (let at = to; at !== from; at = (way[0] as Edge).from) way.unshift(arrival.get(at) as Edge)
    return way
  }
}

/** The fair choices: every timer, and the ends of these opaque children. */
export const timersAnd = (...children: readonly string[]): ((choice: Choice) => boolean) & NamesChildren =>
  Object.assign(({ kind, path }: Choice): boolean => kind === 'timer' || (kind === 'outcome' && children.includes(path.id)), { children })

/** A function that can be asked which children it is about. */
interface NamesChildren {
  readonly children: readonly string[]
}

const isFairOf = (isFair: object): isFair is NamesChildren => 'children' in isFair
