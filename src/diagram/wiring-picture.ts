import type { Consequence } from '../base/events.ts'
import { CONSEQUENCES, ON_SIGNAL } from '../machines/on-signal.ts'
import { stateKey } from '../machines/region.ts'
import type { Mode, PhaseRow, Wiring } from '../machines/wiring.ts'
import { type ChartState, decoded } from './drawing/chart.ts'
import { type Layout, type LayoutGraph, merged, moved, type Placed, type Size, titled } from './drawing/graph.ts'
import { LANE_TITLES } from './drawing/lifecycle-picture.ts'
import { rowsLayout } from './drawing/rows-layout.ts'
import { type Box, type Link, PADDING, type Scene, sizeOf, type Text } from './drawing/scene.ts'

/**
 * The wiring table as a flowchart: who waits for whom. A phase is a box with the signal that it
 * fires; what comes from outside is a rounded one. Conditions that are no dependencies (what arms a
 * phase, what cuts it short) are words in its box.
 */
export interface WiringFlow {
  readonly nodes: readonly FlowNode[]
  readonly edges: readonly { readonly from: string; readonly to: string; readonly signal: string }[]
}

export interface FlowNode {
  readonly id: string
  readonly name: string
  readonly lane: PhaseRow['lane']
  /** The row of the phase that fires it; none for a signal that comes from outside. */
  readonly row?: PhaseRow
  /** The consequence of a signal from outside. */
  readonly does?: Consequence
}

const consequenceOf = (signal: string): { readonly does?: Consequence } =>
  Object.hasOwn(ON_SIGNAL, signal) ? { does: ON_SIGNAL[signal as keyof typeof ON_SIGNAL] } : {}

export function flowOf(wiring: Wiring): WiringFlow {
  const rows = Object.entries(wiring)
  const firedBy = new Map(rows.map(([phase, { fires }]) => [fires, stateKey(phase)]))
  const given = new Map<string, FlowNode>()
  for (const [, { after, lane }] of rows) {
    for (const signal of after)
      if (!firedBy.has(signal) && !given.has(signal))
        given.set(signal, { id: `given ${signal}`, name: decoded(signal), lane, ...consequenceOf(signal) })
  }
  return {
    nodes: [...given.values(), ...rows.map(([name, row]): FlowNode => ({ id: stateKey(name), name, lane: row.lane, row }))],
    edges: rows.flatMap(([phase, { after }]) =>
      after.map((signal) => ({ from: firedBy.get(signal) ?? `given ${signal}`, to: stateKey(phase), signal })),
    ),
  }
}

const GAP = 40
const LANE_WIDTH = { start: 330, stop: 560 }

/** The picture of the wiring; without a layout, in rows. */
export async function wiringPicture(
  wiring: Wiring,
  mode: Mode,
  layout?: Layout,
): Promise<{ readonly scene: Scene; readonly placed: Placed }> {
  const flow = flowOf(wiring)
  const boxes = new Map(flow.nodes.map((node) => [node.id, boxOf(node, mode)]))
  const links = flow.edges.map(
    ({ from, to, signal }): Link => ({ id: `${from} ${signal} ${to}`, from, to, kind: 'signal', signal, edges: [], texts: [] }),
  )
  const place = (lane: PhaseRow['lane']): Promise<Placed> => {
    const inLane = new Set(flow.nodes.flatMap((node) => (node.lane === lane ? [node.id] : [])))
    const nodes = [...inLane].map((id) => ({ id, size: (boxes.get(id) as Box).size }))
    const lines = links.filter(({ from, to }) => inLane.has(from) && inLane.has(to))
    return layout ? layout({ nodes, lines }) : Promise.resolve(rowsLayout(withPorts({ nodes, lines }), { widthMax: LANE_WIDTH[lane] }))
  }
  const start = titled(await place('start'), LANE_TITLES.start)
  const stop = titled(await place('stop'), LANE_TITLES.stop)
  const width = start.size.width + GAP + stop.size.width
  const parts = [start, moved(stop, { x: start.size.width + GAP, y: 0 })]
  return {
    scene: { boxes, links, parents: new Map() },
    placed: merged({ width, height: Math.max(start.size.height, stop.size.height) }, parts),
  }
}

function boxOf(node: FlowNode, mode: Mode): Box {
  const { id, name, row } = node
  const state: ChartState = {
    id,
    key: name,
    title: name,
    kind: 'atomic',
    isInitial: false,
    work: [],
    raises: [],
    meta: row?.work ? { phase: name } : { rounded: true },
    states: [],
  }
  const texts: Text[] = [
    { role: row ? 'title' : 'raised', text: name, edges: [] },
    ...conditions(node, mode).map((text): Text => ({ role: 'plain', text, edges: [] })),
    ...(row ? [{ role: 'raised', text: row.fires, edges: [] } as const] : []),
  ]
  const { width, height }: Size = sizeOf(texts)
  return { state, texts, size: { width: width + 2 * PADDING.width, height: height + 2 * PADDING.height } }
}

/** What a box says beside its dependencies. */
export function conditions({ row, does }: Pick<FlowNode, 'row' | 'does'>, mode: Mode): string[] {
  if (!row) return does ? [CONSEQUENCES[does]] : []
  return [
    ...(row.awaits ? [`waits for ${row.awaits.join(', ')}`] : []),
    ...(row.unless ? [`skipped without ${row.unless}`] : []),
    ...(row.until ? [`ended by ${row.until[mode]}`] : []),
    ...(row.cut ? [`cut at ${row.cut}`] : []),
    ...(row.does ? [CONSEQUENCES[row.does]] : []),
  ]
}

/** One place to leave a box, and one for each line that comes. */
function withPorts({ nodes, lines }: LayoutGraph): LayoutGraph {
  return {
    nodes: nodes.map((node) => ({
      ...node,
      ports: [
        { id: `out ${node.id}`, x: 20, side: 'bottom' },
        ...lines.filter(({ to }) => to === node.id).map(({ id }, i) => ({ id: `in ${id}`, x: 20 + 12 * i, side: 'top' as const })),
      ],
    })),
    lines: lines.map((line) => ({ ...line, from: `out ${line.from}`, to: `in ${line.id}` })),
  }
}
