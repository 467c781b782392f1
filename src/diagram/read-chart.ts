import type { AnyStateMachine, AnyStateNode } from 'xstate'
import { RAISE_ACTION } from '../machines/vocabulary.ts'
import { type Chart, type ChartEdge, type ChartState, decoded } from './drawing/chart.ts'

/**
 * What there is to draw of a machine, read from its state nodes as they will run and not from the
 * configuration they were made from: `machine.definition` and xstate's own graph leave out
 * `always`, and know nothing of the signals that regions raise for each other.
 */
export function chartOf(machine: AnyStateMachine): Chart {
  const nodes = nodesOf(machine.root)
  const raises = new Map<string, Set<string>>(nodes.map((node) => [node.id, new Set<string>()]))
  const edges = new Map<string, ChartEdge>()
  const add = (edge: Omit<ChartEdge, 'id'>) => {
    const id = edgeId(edge.from, edge.event, edge.to)
    if (!edges.has(id)) edges.set(id, { ...edge, id })
  }
  for (const node of nodes) {
    for (const event of raisedBy(node.entry)) raises.get(node.id)?.add(event)
    for (const { event, target, actions, guard } of transitionsOf(node)) {
      for (const to of target ?? [node]) {
        const kind = target === undefined ? 'internal' : 'transition'
        add({ from: node.id, to: to.id, event, kind, ...(guard !== undefined && { guard }) })
        // Where the line begins: at the end that says it, or at the state that was left for no end.
        for (const raised of raisedBy(actions)) raises.get(isEnd(to) ? to.id : node.id)?.add(raised)
      }
    }
  }
  for (const [from, events] of raises) {
    for (const event of events) {
      for (const node of nodes) if (node.transitions.has(event)) add({ from, to: node.id, event, kind: 'signal' })
    }
  }
  return { root: stateOf(machine.root, raises), edges: [...edges.values()] }
}

const edgeId = (from: string, event: string, to: string): string => `${from}|${event}|${to}`

const nodesOf = (node: AnyStateNode): AnyStateNode[] => [node, ...Object.values(node.states).flatMap(nodesOf)]

/**
 * What a machine does not leave by itself: a final state, or one that nothing leads out of and in
 * which nothing runs.
 */
const isEnd = (node: AnyStateNode): boolean =>
  node.type === 'final' ||
  (node.type === 'atomic' && node.parent?.type === 'compound' && node.invoke.length + transitionsOf(node).length === 0)

function stateOf(node: AnyStateNode, raises: ReadonlyMap<string, ReadonlySet<string>>): ChartState {
  const { parent } = node
  return {
    id: node.id,
    key: node.key,
    title: titleOf(node),
    kind: isEnd(node) ? 'final' : node.type === 'history' ? 'atomic' : node.type,
    isInitial: parent?.type === 'compound' && parent.initial.target[0] === node,
    work: node.invoke.map(({ src }) => (typeof src === 'string' ? src : node.key)),
    raises: [...(raises.get(node.id) ?? [])],
    meta: (node.meta ?? {}) as Record<string, unknown>,
    states: Object.values(node.states).map((child) => stateOf(child, raises)),
  }
}

function titleOf({ key, id, meta }: AnyStateNode): string {
  const phase = (meta as Record<string, unknown> | undefined)?.['phase']
  if (typeof phase === 'string') return phase
  return decoded(key || id)
}

interface Transition {
  readonly event: string
  readonly target: readonly AnyStateNode[] | undefined
  readonly actions: readonly unknown[]
  readonly guard: string | undefined
}

function transitionsOf(node: AnyStateNode): Transition[] {
  const own = [...node.transitions].flatMap(([event, transitions]) => transitions.map((transition) => ({ ...transition, event })))
  const always = (node.always ?? []).map((transition) => ({ ...transition, event: '' }))
  return [...own, ...always].map(({ event, target, actions, guard }) => ({ event, target, actions, guard: nameOf(guard) }))
}

const nameOf = (guard: unknown): string | undefined =>
  guard === undefined ? undefined : typeof guard === 'string' ? guard : (guard as { type?: string }).type || 'condition'

/**
 * What is raised. What an event computed from another carries does not matter here, only its type.
 */
function raisedBy(actions: readonly unknown[]): string[] {
  return actions.flatMap((action) => {
    const { type, params } = action as { type?: string; params?: Raised | ((args: unknown) => Raised) }
    if (type !== RAISE_ACTION || params === undefined) return []
    return [(typeof params === 'function' ? params({ event: {}, context: {} }) : params).event.type]
  })
}

interface Raised {
  readonly event: { readonly type: string }
}
