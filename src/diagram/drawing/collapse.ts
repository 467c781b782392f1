import { type Chart, type ChartState, statesOf } from './chart.ts'

/**
 * A chart some of whose regions are closed: such a region is one box with its name and what others
 * hear from it. Edges keep their ids, so that what lights them need not know what is open.
 */
export function collapsed(chart: Chart, isOpen: (region: ChartState) => boolean): Chart {
  const [running] = chart.root.states
  const closed = (running?.states ?? []).filter((region) => region.states.length > 0 && !isOpen(region))
  const boxOf = new Map(closed.flatMap((region) => statesOf(region).map(({ id }) => [id, region.id] as const)))
  const place = (id: string): string => boxOf.get(id) ?? id
  const edges = chart.edges
    .filter(({ from, to }) => boxOf.get(from) === undefined || boxOf.get(from) !== boxOf.get(to))
    .map((edge) => ({ ...edge, from: place(edge.from), to: place(edge.to) }))
  const boxed = (state: ChartState): ChartState =>
    closed.includes(state)
      ? { ...state, kind: 'atomic', states: [], work: [], raises: outwards(chart, state) }
      : { ...state, states: state.states.map(boxed) }
  return { root: boxed(chart.root), edges }
}

/**
 * The number of signals of one family, such as the budget's cuts, above which the first stands for
 * all.
 */
const FAMILY_MAX = 2

/** What a region raises that is heard outside of it, or that the wiring says it fires. */
function outwards({ edges }: Chart, region: ChartState): string[] {
  const inside = new Set(statesOf(region).map(({ id }) => id))
  const heard = new Set(
    edges.flatMap(({ kind, from, to, event }) => (kind === 'signal' && inside.has(from) && !inside.has(to) ? [event] : [])),
  )
  const { fires } = (region.meta['row'] ?? {}) as { readonly fires?: string }
  const raised = [...new Set(statesOf(region).flatMap(({ raises }) => raises))].filter((signal) => heard.has(signal) || signal === fires)
  const familyOf = (signal: string): string => signal.split('.', 1)[0] as string
  return raised.flatMap((signal, i) => {
    const family = raised.filter((other) => familyOf(other) === familyOf(signal))
    if (family.length <= FAMILY_MAX) return [signal]
    return raised.findIndex((other) => familyOf(other) === familyOf(signal)) === i ? [`${signal} …`] : []
  })
}

/**
 * Regions that look the same inside, by the first of them: one that is open stands for all the
 * others.
 */
export function lookalikes(regions: readonly ChartState[]): ReadonlyMap<string, ChartState> {
  const first = new Map<string, ChartState>()
  return new Map(
    regions.map((region) => {
      const shape = shapeOf(region)
      const model = first.get(shape) ?? region
      first.set(shape, model)
      return [region.id, model]
    }),
  )
}

const shapeOf = ({ states }: ChartState): string =>
  JSON.stringify(states.map((state) => [state.key, state.kind, state.work.length > 0, shapeOf(state)]))
