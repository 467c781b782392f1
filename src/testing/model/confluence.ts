import type { Choice } from './choice.ts'
import type { Graph } from './graph.ts'
import type { Property, Violation } from './property.ts'

/** Two choices that `independent` names give the same state in either order, in every state where both are possible. */
export const confluent = (id: string, text: string, independent: (one: Choice, other: Choice) => boolean): Property => ({
  id,
  text,
  violation({ graph }): Violation | undefined {
    for (let state = 0; state < graph.stateCount; state++) {
      for (let one = graph.firstEdge(state); one < graph.endEdge(state); one++) {
        for (let other = one + 1; other < graph.endEdge(state); other++) {
          if (!independent(graph.choice(one), graph.choice(other))) continue
          const finding = difference(graph, one, other)
          if (finding) return { finding, edges: [...graph.pathTo(state), one, ...after(graph, one, other)] }
        }
      }
    }
    return undefined
  },
})

function difference(graph: Graph, one: number, other: number): string | undefined {
  const [oneThenOther] = after(graph, one, other)
  const [otherThenOne] = after(graph, other, one)
  const [a, b] = [graph.choice(one).label, graph.choice(other).label]
  if (oneThenOther === undefined) return `after "${a}", "${b}" is no longer possible`
  if (otherThenOne === undefined) return `after "${b}", "${a}" is no longer possible`
  return graph.to(oneThenOther) === graph.to(otherThenOne) ? undefined : `"${a}" and then "${b}" is not the same as the other way round`
}

/** The edge of the same choice as `next`, after `edge`. */
function after(graph: Graph, edge: number, next: number): number[] {
  const state = graph.to(edge)
  for (let index = graph.firstEdge(state); index < graph.endEdge(state); index++)
    if (graph.choiceIndex(index) === graph.choiceIndex(next)) return [index]
  return []
}
