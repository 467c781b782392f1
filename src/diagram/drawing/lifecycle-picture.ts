import type { PhaseRow } from '../../machines/wiring.ts'
import { type Card, cardOf, portIn, portOut } from './card.ts'
import { type Chart, type ChartEdge, type ChartState, statesOf } from './chart.ts'
import { collapsed, lookalikes } from './collapse.ts'
import { merged, moved, type Placed, type Point, titled } from './graph.ts'
import { rowsLayout } from './rows-layout.ts'
import { type Link, type Scene, sceneOf } from './scene.ts'

/**
 * The whole life on one sheet: what starts on the left, with what bounds the end below it, and what
 * stops on the right. Within a lane every signal that a phase waits for is a line; any other, which
 * would cross the sheet to reach nearly every phase, is named where it is heard.
 */
export type Lane = 'start' | 'stop' | 'bounds'

export const LANE_TITLES: Readonly<Record<Lane, string>> = {
  start: 'What starts',
  stop: 'What stops',
  bounds: 'What bounds the end',
}

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
  const { lanes, drawn } = lifecycleParts(chart)
  return { running, lanes, scene: sceneOf(chart, ({ id }) => drawn.has(id)) }
}

/** The signals that are lines, from the state that raises each to the one that waits for it. */
export function drawnSignals(chart: Chart): ChartEdge[] {
  const { drawn } = lifecycleParts(chart)
  return chart.edges.filter(({ id }) => drawn.has(id))
}

function lifecycleParts(chart: Chart) {
  const [running] = chart.root.states as [ChartState]
  const lanes = lanesOf(running)
  const isDrawn = waitedFor(running, lanes)
  return {
    lanes,
    regions: new Map(running.states.map((region) => [region.id, region])),
    /** Signals that are lines, by the ids of their edges. */
    drawn: new Set(chart.edges.filter((edge) => edge.kind === 'signal' && isDrawn(edge)).map(({ id }) => id)),
  }
}

/** Which regions are drawn with their states, and what else is said in those that are not. */
export interface Openness {
  readonly isOpen: (region: ChartState) => boolean
  readonly words?: (region: ChartState) => string | undefined
}

const ALL_OPEN: Openness = { isOpen: () => true }

/**
 * One phase of each kind is open; the others say which one they look like inside, and what has a
 * picture of its own, where that is.
 */
export function oneOfEachKind(chart: Chart, pictures: ReadonlyMap<string, string>): Openness {
  const [running] = chart.root.states as [ChartState]
  const models = lookalikes(running.states.filter(({ title }) => !pictures.has(title)))
  return {
    isOpen: ({ id }) => models.get(id)?.id === id,
    words: ({ id, title }) => (pictures.has(title) ? `inside: ${pictures.get(title)}` : `inside like ${models.get(id)?.title}`),
  }
}

export function lifecyclePicture(whole: Chart, { isOpen, words }: Openness = ALL_OPEN): { readonly scene: Scene; readonly placed: Placed } {
  const before = lifecycleParts(whole)
  const chart = collapsed(whole, isOpen)
  const [running] = chart.root.states as [ChartState]
  const { lanes } = before
  const scene = sceneOf(
    chart,
    ({ id }) => before.drawn.has(id),
    ({ id, states }) => {
      const said = lanes.has(id) && states.length === 0 ? words?.(before.regions.get(id) as ChartState) : undefined
      return said === undefined ? [] : [said]
    },
  )
  const place = (lane: Lane, widthMax: number) =>
    laneOf(
      scene,
      running.states.filter(({ id }) => lanes.get(id) === lane),
      widthMax,
    )
  const start = titled(place('start', START_WIDTH), LANE_TITLES.start)
  const stop = titled(place('stop', STOP_WIDTH), LANE_TITLES.stop)
  const right = moved(stop, { x: start.size.width + GAP, y: 0 })
  const besides = titled(place('bounds', START_WIDTH), LANE_TITLES.bounds)
  const upper = Math.max(start.size.height, stop.size.height)
  const width = start.size.width + GAP + stop.size.width
  // Below what starts, when there is room beside what stops; else below both.
  const isBeside = start.size.height + GAP + besides.size.height <= stop.size.height
  const below = isBeside ? besides : titled(place('bounds', START_WIDTH + STOP_WIDTH), LANE_TITLES.bounds)
  const y = (isBeside ? start.size.height : upper) + GAP
  const size = { width: Math.max(width, below.size.width), height: Math.max(upper, y + below.size.height) }
  const sheet = merged(size, [start, right, moved(below, { x: 0, y })])
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
