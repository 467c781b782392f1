import type { Graph } from '../engine/graph.ts'

/**
 * The strongly connected components of the part of a graph that `within` names (Tarjan's algorithm,
 * with a stack of its own: a graph is deeper than the engine's call stack).
 */
export function stronglyConnected(graph: Graph, within: readonly boolean[]): number[][] {
  const components: number[][] = []
  const order = new Int32Array(graph.stateCount).fill(-1)
  const low = new Int32Array(graph.stateCount)
  const onStack = new Uint8Array(graph.stateCount)
  const stack: number[] = []
  let visited = 0

  const visit = (root: number): void => {
    const calls: { readonly state: number; edge: number }[] = []
    const enter = (state: number): void => {
      order[state] = low[state] = visited++
      onStack[state] = 1
      stack.push(state)
      calls.push({ state, edge: graph.firstEdge(state) })
    }
    enter(root)
    for (let call = calls.at(-1); call; call = calls.at(-1)) {
      const { state } = call
      if (call.edge < graph.endEdge(state)) {
        const to = graph.to(call.edge++)
        if (!within[to]) continue
        if (order[to] === -1) enter(to)
        else if (onStack[to]) low[state] = Math.min(low[state] as number, order[to] as number)
        continue
      }
      calls.pop()
      const caller = calls.at(-1)
      if (caller) low[caller.state] = Math.min(low[caller.state] as number, low[state] as number)
      if (low[state] === order[state]) components.push(popComponent(state))
    }
  }

  const popComponent = (root: number): number[] => {
    const component: number[] = []
    for (let state = -1; state !== root; ) {
      state = stack.pop() as number
      onStack[state] = 0
      component.push(state)
    }
    return component
  }

  for (let state = 0; state < graph.stateCount; state++) if (within[state] && order[state] === -1) visit(state)
  return components
}
