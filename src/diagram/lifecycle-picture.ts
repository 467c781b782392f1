import type { PhaseRow } from '../machines/wiring.ts'
import { type Chart, type ChartEdge, type ChartState, statesOf } from './chart.ts'
import { type Layout, moved, type Placed, type Rect, type Size } from './graph.ts'
import { graphOf, type Scene, sceneOf } from './scene.ts'

/**
 * The whole life on one sheet: what starts on the left, with what bounds the end below it, and what stops on the right. Within a
 * lane every signal that a phase waits for is a line; any other, which would cross the sheet to reach nearly everybody, is named
 * where it is heard.
 */
type Lane = 'start' | 'stop' | 'bounds'

const GAP = 16
const MARGIN = 6

export async function lifecyclePicture(chart: Chart, layout: Layout): Promise<{ readonly scene: Scene; readonly placed: Placed }> {
  const [running, ...afterwards] = chart.root.states as [ChartState, ...ChartState[]]
  const lanes = lanesOf(running)
  const scene = sceneOf(chart, waitedFor(running, lanes))
  const place = (lane: Lane) =>
    layout(
      graphOf(
        scene,
        running.states.filter(({ id }) => lanes.get(id) === lane),
      ),
    )
  const [start, stop, bounds] = await Promise.all([place('start'), place('stop'), place('bounds')])

  const header = scene.boxes.get(running.id)?.size.height ?? 0
  const leftWidth = Math.max(start.size.width, bounds.size.width)
  const inner: Size = {
    width: leftWidth + GAP + stop.size.width,
    height: header + Math.max(start.size.height + GAP + bounds.size.height, stop.size.height),
  }
  const parts = [
    moved(start, { x: MARGIN, y: header }),
    moved(bounds, { x: MARGIN, y: inner.height - bounds.size.height }),
    moved(stop, { x: MARGIN + leftWidth + GAP, y: header }),
  ]
  const outer = await layout({
    nodes: [
      { id: running.id, size: { width: inner.width + 2 * MARGIN, height: inner.height + MARGIN }, header: 0, children: [] },
      ...graphOf(scene, afterwards).nodes,
    ],
    lines: graphOf(scene, [{ ...running, states: [] }, ...afterwards]).lines,
  })
  const at = outer.nodes.get(running.id) as Rect
  return { scene, placed: framed(chart.root.id, merged([outer, ...parts.map((part) => moved(part, at))], outer.size), scene) }
}

/** The root's own frame around everything. */
function framed(id: string, placed: Placed, scene: Scene): Placed {
  const header = scene.boxes.get(id)?.size.height ?? 0
  const shifted = moved(placed, { x: 0, y: header })
  const size = { width: placed.size.width, height: placed.size.height + header }
  return { ...shifted, size, nodes: new Map([[id, { x: 0.5, y: 0.5, width: size.width - 1, height: size.height - 1 }], ...shifted.nodes]) }
}

const merged = (parts: readonly Placed[], size: Size): Placed => ({
  size,
  nodes: new Map(parts.flatMap(({ nodes }) => [...nodes])),
  lines: new Map(parts.flatMap(({ lines }) => [...lines])),
})

const rowOf = ({ meta }: ChartState): PhaseRow | undefined => meta['row'] as PhaseRow | undefined

/** A phase stands in the lane of its row, and what raises the first signal of a lane stands at its top. */
function lanesOf(running: ChartState): Map<string, Lane> {
  const opens = (region: ChartState, signal: string) => statesOf(region).some(({ raises }) => raises.includes(signal))
  return new Map(
    running.states.map((region) => [
      region.id,
      rowOf(region)?.lane ?? (opens(region, 'Start') ? 'start' : opens(region, 'StopRequested') ? 'stop' : 'bounds'),
    ]),
  )
}

function waitedFor(running: ChartState, lanes: ReadonlyMap<string, Lane>): (edge: ChartEdge) => boolean {
  const regions = new Map(running.states.flatMap((region) => statesOf(region).map(({ id }) => [id, region] as const)))
  const waiting = new Set(
    running.states.flatMap(({ states }) =>
      states
        .filter(({ key }) => key === 'waiting')
        .flatMap(statesOf)
        .map(({ id }) => id),
    ),
  )
  return ({ from, to, event }) => {
    const source = regions.get(from)
    const target = regions.get(to)
    return (
      source !== undefined &&
      target !== undefined &&
      waiting.has(to) &&
      rowOf(target)?.after.includes(event) === true &&
      lanes.get(source.id) === lanes.get(target.id)
    )
  }
}
