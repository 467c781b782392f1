import type { Choice } from './choice.ts'
import { IntList } from './int-list.ts'
import type { ActorState, Effect } from './state.ts'

/**
 * One step of the system: in state `from`, `choice` happens, `effects` are said, and the system is
 * in state `to`.
 */
export interface Edge {
  readonly index: number
  readonly from: number
  readonly to: number
  readonly choice: Choice
  readonly effects: readonly Effect[]
}

/** The number of the empty list of effects. */
export const NOTHING_SAID = 0

/**
 * All states of a system and all edges between them. States are numbered in the order of
 * breadth-first search from 0, the initial one, so a smaller number never needs a longer trace.
 * Edges are numbered by their origin.
 */
export class Graph {
  readonly states: ActorState[] = []
  /** Effects of the start, before anything else has happened. */
  initialEffects: readonly Effect[] = []
  readonly #choices: (index: number) => Choice
  readonly #firstEdge = new IntList()
  readonly #to = new IntList()
  readonly #choice = new IntList()
  readonly #said = new IntList()
  readonly #arrival = new IntList()
  readonly #saidLists: (readonly Effect[])[] = [[]]
  readonly #saidByKey = new Map<string, number>()

  constructor(choices: (index: number) => Choice) {
    this.#choices = choices
  }

  get stateCount(): number {
    return this.states.length
  }

  get edgeCount(): number {
    return this.#to.length
  }

  /** The edges of the states are added in the order of their numbers. */
  addState(state: ActorState, arrival: number): number {
    this.#arrival.push(arrival)
    return this.states.push(state) - 1
  }

  beginEdges(): void {
    this.#firstEdge.push(this.#to.length)
  }

  addEdge(to: number, choice: Choice, effects: readonly Effect[]): void {
    this.#to.push(to)
    this.#choice.push(choice.index)
    this.#said.push(effects.length === 0 ? NOTHING_SAID : this.#saidList(effects))
  }

  #saidList(effects: readonly Effect[]): number {
    const key = effects.map(({ index }) => index).join()
    let list = this.#saidByKey.get(key)
    if (list === undefined) {
      list = this.#saidLists.push([...effects]) - 1
      this.#saidByKey.set(key, list)
    }
    return list
  }

  firstEdge(state: number): number {
    return this.#firstEdge.at(state)
  }

  /** One past the last edge of a state. */
  endEdge(state: number): number {
    return state + 1 < this.#firstEdge.length ? this.#firstEdge.at(state + 1) : this.#to.length
  }

  to(edge: number): number {
    return this.#to.at(edge)
  }

  choice(edge: number): Choice {
    return this.#choices(this.#choice.at(edge))
  }

  choiceIndex(edge: number): number {
    return this.#choice.at(edge)
  }

  /** The number of the list of its effects: the same for the same list. */
  saidIndex(edge: number): number {
    return this.#said.at(edge)
  }

  effects(edge: number): readonly Effect[] {
    return this.#saidLists[this.#said.at(edge)] as readonly Effect[]
  }

  /** The origin of an edge. */
  from(edge: number): number {
    let low = 0
    let high = this.stateCount - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (this.#firstEdge.at(middle) <= edge) low = middle
      else high = middle - 1
    }
    return low
  }

  edge(index: number): Edge {
    return this.edgeOf(this.from(index), index)
  }

  /** One of the edges of a state. */
  edgeOf(state: number, index: number): Edge {
    return { index, from: state, to: this.to(index), choice: this.choice(index), effects: this.effects(index) }
  }

  *edgesOf(state: number): Iterable<Edge> {
    const end = this.endEdge(state)
    for (let index = this.firstEdge(state); index < end; index++) yield this.edgeOf(state, index)
  }

  /** The edges of a shortest way from the initial state. */
  pathTo(state: number): number[] {
    const path: number[] = []
    for (let at = state; at !== 0; at = this.from(path.at(-1) as number)) path.push(this.#arrival.at(at))
    return path.reverse()
  }
}
