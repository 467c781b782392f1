import type { Choice } from '../engine/choice.ts'
import type { Graph } from '../engine/graph.ts'
import { PairMap } from '../engine/pair-map.ts'
import type { Effect } from '../engine/state.ts'
import { assertFields } from '../options.ts'
import type { Property, Violation } from './property.ts'

export interface Confluence {
  /**
   * Whether one of the two may make the other impossible; then their order matters by intention,
   * and nothing is compared. Default: never.
   */
  readonly mayDisable?: (one: Choice, other: Choice) => boolean
}

/**
 * Two choices that `independent` names lead to the same state in either order, in every state where
 * both are possible, and the same is said on the way, in whatever order.
 */
export const confluent = (
  id: string,
  text: string,
  independent: (one: Choice, other: Choice) => boolean,
  options: Confluence = {},
): Property => {
  assertFields(options, { mayDisable: true } satisfies Record<keyof Confluence, true>, `${id}: options`)
  const { mayDisable = () => false } = options
  return {
    id,
    text,
    violation({ graph }): Violation | undefined {
      const areIndependent = remembering(graph, independent)
      const said = unordered(graph)
      for (let state = 0; state < graph.stateCount; state++) {
        const end = graph.endEdge(state)
        for (let one = graph.firstEdge(state); one < end; one++) {
          for (let other = one + 1; other < end; other++) {
            if (!areIndependent(one, other)) continue
            const finding = difference(graph, one, other, mayDisable, said)
            if (finding === undefined) continue
            const next = after(graph, one, other)
            return { finding, edges: [...graph.pathTo(state), one, ...(next === undefined ? [] : [next])] }
          }
        }
      }
      return undefined
    },
    vacuous: ({ graph }) => (isAnyPair(graph, independent) ? undefined : 'the property applies to no two choices of any state'),
  }
}

function isAnyPair(graph: Graph, independent: (one: Choice, other: Choice) => boolean): boolean {
  const areIndependent = remembering(graph, independent)
  return graph.states.some((_, state) => {
    const edges = Array.from({ length: graph.endEdge(state) - graph.firstEdge(state) }, (_, i) => graph.firstEdge(state) + i)
    return edges.some((one, i) => edges.slice(i + 1).some((other) => areIndependent(one, other)))
  })
}

/** The same of two edges; of choices there are few, and the same two meet in most states. */
function remembering(graph: Graph, independent: (one: Choice, other: Choice) => boolean): (one: number, other: number) => boolean {
  const known: (boolean | undefined)[][] = []
  return (one, other) => {
    const [first, second] = [graph.choiceIndex(one), graph.choiceIndex(other)]
    const ofFirst = known[first] ?? []
    known[first] = ofFirst
    const answer = ofFirst[second] ?? independent(graph.choice(one), graph.choice(other))
    ofFirst[second] = answer
    return answer
  }
}

function difference(
  graph: Graph,
  one: number,
  other: number,
  mayDisable: (one: Choice, other: Choice) => boolean,
  said: (one: number, other: number) => string,
): string | undefined {
  const oneThenOther = after(graph, one, other)
  const otherThenOne = after(graph, other, one)
  const isSame =
    oneThenOther !== undefined &&
    otherThenOne !== undefined &&
    graph.to(oneThenOther) === graph.to(otherThenOne) &&
    said(one, oneThenOther) === said(other, otherThenOne)
  if (isSame) return undefined
  const [a, b] = [graph.choice(one), graph.choice(other)]
  if (oneThenOther === undefined || otherThenOne === undefined) {
    if (mayDisable(a, b)) return undefined
    const [first, second] = oneThenOther === undefined ? [a, b] : [b, a]
    return `after "${first.label}", "${second.label}" is no longer possible`
  }
  const pair = `"${a.label}" and then "${b.label}"`
  const differs = graph.to(oneThenOther) === graph.to(otherThenOne) ? 'says other things' : 'leads to another state'
  return `${pair} ${differs} than the two in the other order`
}

/** What two edges say, without its order; most states have the same two. */
function unordered(graph: Graph): (one: number, other: number) => string {
  const known = new PairMap<string>()
  return (one, other) => {
    const [first, second] = [graph.saidIndex(one), graph.saidIndex(other)]
    let text = known.get(first, second)
    if (text === undefined) {
      text = sorted([...graph.effects(one), ...graph.effects(other)])
      known.set(first, second, text)
    }
    return text
  }
}

const sorted = (effects: readonly Effect[]): string =>
  effects
    .map(({ index }) => index)
    .sort((x, y) => x - y)
    .join()

/** The edge of the same choice as `next`, after `edge`. */
function after(graph: Graph, edge: number, next: number): number | undefined {
  const [state, choice] = [graph.to(edge), graph.choiceIndex(next)]
  const end = graph.endEdge(state)
  for (let index = graph.firstEdge(state); index < end; index++) if (graph.choiceIndex(index) === choice) return index
  return undefined
}
