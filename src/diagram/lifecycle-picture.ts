import type { PhaseRow } from '../machines/wiring.ts'
import { type Card, cardOf, portIn, portOut } from './card.ts'
import { type Chart, type ChartEdge, type ChartState, statesOf } from './chart.ts'
import { moved, type Placed, type Point } from './graph.ts'
import { rowsLayout } from './rows-layout.ts'
import { type Link, type Scene, sceneOf } from './scene.ts'

/**
 * The whole life on one sheet: what starts on the left, with what bounds the end below it, and what
 * stops on the right. Within a lane every signal that a phase waits for is a line; any other, which
 * would cross the sheet to reach nearly everybody, is named where it is heard.
 */
export type Lane = 'start' | 'stop' | 'bounds'

const GAP = 18
const START_WIDTH = 270
const STOP_WIDTH = 640

/** What there is to be seen of a whole life, and in which lane each of its regions stands. */
export function lifecycleScene(chart: Chart): {
  readonly running: ChartState
  readonly lanes: ReadonlyMap<string, Lane>
  readonly scene: Scene
} {
  const [running] = chart.root.states as [ChartState]
  const lanes = lanesOf(running)
  return { running, lanes, scene: sceneOf(chart, waitedFor(running, lanes)) }
}

export function lifecyclePicture(chart: Chart): { readonly scene: Scene; readonly placed: Placed } {
  const { running, lanes, scene } = lifecycleScene(chart)
  const place = (lane: Lane, widthMax: number) =>
    laneOf(
      scene,
      running.states.filter(({ id }) => lanes.get(id) === lane),
      widthMax,
    )
  const start = place('start', START_WIDTH)
  const stop = place('stop', STOP_WIDTH)
  const bounds = place('bounds', START_WIDTH + STOP_WIDTH)
  const lower = Math.max(start.size.height, stop.size.height) + GAP
  const width = Math.max(start.size.width + GAP + stop.size.width, bounds.size.width)
  const sheet = merged({ width, height: lower + bounds.size.height }, [
    start,
    moved(stop, { x: start.size.width + GAP, y: 0 }),
    moved(bounds, { x: 0, y: lower }),
  ])
  return { scene, placed: cardOf(scene, chart.root, { content: new Map([[running.id, sheet]]) }).placed }
}

/** Some regions only, beside each other as far as they fit. */
export function regionsPicture(chart: Chart, names: readonly string[]): { readonly scene: Scene; readonly placed: Placed } {
  const [running] = chart.root.states as [ChartState]
  const regions = running.states.filter(({ key, meta }) => names.includes(String(meta['phase'] ?? key)))
  const scene = sceneOf(chart, () => false)
  return { scene, placed: laneOf(scene, regions, START_WIDTH + STOP_WIDTH) }
}

/** The regions of a lane as cards, with the signals between them as lines from card to card. */
function laneOf(scene: Scene, regions: readonly ChartState[], widthMax: number): Placed {
  // A narrow lane has no room for hooks beside each other.
  const columnsMax = widthMax < STOP_WIDTH ? 1 : undefined
  const regionOf = new Map(regions.flatMap((region) => statesOf(region).map(({ id }) => [id, region.id] as const)))
  const links = scene.links.filter(({ kind, from, to }) => kind === 'signal' && regionOf.has(from) && regionOf.has(to))
  const cards = new Map(
    regions.map((region): [string, Card] => [
      region.id,
      cardOf(scene, region, {
        heard: links.filter(({ to }) => regionOf.get(to) === region.id),
        raised: links.filter(({ from }) => regionOf.get(from) === region.id),
        ...(columnsMax !== undefined && { columnsMax }),
      }),
    ]),
  )
  const out = ({ from }: Link) => portOut(regionOf.get(from) as string, from)
  const between = rowsLayout(
    {
      nodes: [...cards].map(([id, { placed, ports }]) => ({ id, size: placed.size, ports })),
      lines: links.map((link) => ({ id: link.id, from: out(link), to: portIn(link) })),
    },
    { widthMax },
  )
  const parts = [...cards].map(([id, { placed }]) => moved(placed, between.nodes.get(id) as Point))
  const inside = merged(between.size, parts)
  const points = (id: string): readonly Point[] => inside.lines.get(id)?.points ?? []
  const whole = links.map(({ id, ...link }) => [
    id,
    { points: [...points(out({ id, ...link })), ...(between.lines.get(id)?.points ?? []), ...points(portIn({ id, ...link }))] },
  ])
  return { ...inside, lines: new Map([...inside.lines, ...(whole as [string, { points: Point[] }][])]) }
}

const merged = (size: Placed['size'], parts: readonly Placed[]): Placed => ({
  size,
  nodes: new Map(parts.flatMap(({ nodes }) => [...nodes])),
  lines: new Map(parts.flatMap(({ lines }) => [...lines])),
})

const rowOf = ({ meta }: ChartState): PhaseRow | undefined => meta['row'] as PhaseRow | undefined

/**
 * A phase stands in the lane of its row, and what raises the first signal of a lane stands at its
 * top.
 */
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
