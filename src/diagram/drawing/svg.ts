import type { ChartEdge } from './chart.ts'
import { moved, type Placed, type PlacedLine, type PlacedNode, type Point } from './graph.ts'
import { type Caption, keysOf, sheetOf } from './legend.ts'
import { escaped, GROUP_SIZE, painted, round, svgDocument } from './paint.ts'
import { type Box, fontOf, LINE_HEIGHT, type Link, lookOf, MARK, PADDING, type Scene, type Text, widthOf } from './scene.ts'
import { arrowSvg, rectSvg, textSvg } from './shapes.ts'
import { textWidth } from './text-width.ts'

/**
 * A scene as one SVG: no script, no font, no file beside it. Every state carries `data-state` with
 * the id of its state node, every edge `data-edge` with `<from>|<event>|<to>`, so that a page can
 * light them.
 */
export interface Picture extends Caption {
  readonly scene: Scene
  readonly placed: Placed
}

/** The picture with its title above it and its key below. */
export function svgOf({ scene, placed, ...caption }: Picture): string {
  const { size, body, above, below } = sheetOf(caption, keysOf(scene, placed), placed.size)
  return svgDocument(size, caption.title, [...above, ...drawing(scene, moved(placed, body)), ...below])
}

/** The picture alone, for a page that says the rest by itself. */
export const bareSvg = ({ scene, placed }: Pick<Picture, 'scene' | 'placed'>, title: string): string =>
  svgDocument(placed.size, title, drawing(scene, placed))

const drawing = (scene: Scene, placed: Placed): string[] => [
  // What is outside comes first, so that what is inside lies above it; lines lie above all boxes.
  ...[...scene.boxes.values()].flatMap((box) => boxSvg(box, placed.nodes.get(box.state.id))),
  ...scene.links.flatMap((link) => linkSvg(link, placed.lines.get(link.id))),
  ...(placed.titles ?? []).map(({ x, y, words }) => textSvg('group', { x, y }, groupWidth(words), words)),
]

const groupWidth = (words: string): number => textWidth(words, GROUP_SIZE, true)

function boxSvg({ state, texts }: Box, rect: PlacedNode | undefined): string[] {
  if (!rect) return []
  const isRegion = state.meta['phase'] !== undefined
  const look = state.kind === 'parallel' ? 'box-parallel' : state.states.length > 0 ? 'frame' : isRegion ? 'card' : 'box'
  const inner = { x: rect.x + 3, y: rect.y + 3, width: rect.width - 6, height: rect.height - 6 }
  return [
    `<g class="state" data-state="${escaped(state.id)}">`,
    rectSvg(look, rect, state.meta['rounded'] === true ? 13 : 6),
    ...(state.kind === 'final' ? [rectSvg('inner', inner, 4)] : []),
    ...(state.isInitial ? [`<circle${painted('initial')} cx="${round(rect.x + 1)}" cy="${round(rect.y + 1)}" r="3.5"/>`] : []),
    ...textsSvg(texts, { x: rect.x + (rect.indent ?? PADDING.width), y: rect.y + PADDING.height }),
    '</g>',
  ]
}

function linkSvg({ kind, signal, edges, texts }: Link, placed: PlacedLine | undefined): string[] {
  if (!placed || placed.points.length < 2) return []
  const shape = arrowSvg(signal, pathData(placed.points), headOf(placed.points))
  return [
    ...(edges.length === 0 ? [''] : edges.map(({ id }) => ` data-edge="${escaped(id)}"`)).map(
      (data) => `<g class="edge ${kind}"${data}>${shape}</g>`,
    ),
    ...(placed.label ? textsSvg(texts, placed.label) : []),
  ]
}

/** Texts below each other, each with the marks of the edges that it stands for. */
function textsSvg(texts: readonly Text[], { x, y: top }: Point): string[] {
  return texts.flatMap((text, i) => {
    const y = top + i * LINE_HEIGHT + LINE_HEIGHT / 2
    const hasMark = text.role === 'raised' || text.role === 'heard'
    const mark = hasMark ? MARK : 0
    return [
      ...(hasMark ? markSvg(text, { x, y }) : edgesWithoutLine(text.edges)),
      textSvg(lookOf(text), { x: x + mark, y: y + fontOf(text).size * 0.35 }, widthOf(text) - mark, text.text),
    ]
  })
}

/** A short dashed arrow before the name of a signal: comes from, or goes to, elsewhere. */
function markSvg({ text, edges }: Text, { x, y }: Point): string[] {
  const shape = arrowSvg(text, `M${round(x)} ${round(y)}h9`, `M${round(x + 12)} ${round(y)}l-5 -3v6z`)
  if (edges.length === 0) return [`<g class="edge signal">${shape}</g>`]
  return edges.map(({ id }) => `<g class="edge signal" data-edge="${escaped(id)}">${shape}</g>`)
}

const edgesWithoutLine = (edges: readonly ChartEdge[]): string[] =>
  edges.map(({ id }) => `<g class="edge internal" data-edge="${escaped(id)}"/>`)

const pathData = ([first, ...rest]: readonly Point[]): string => `M${pair(first)}${rest.map((point) => `L${pair(point)}`).join('')}`
const pair = (point: Point | undefined): string => (point ? `${round(point.x)} ${round(point.y)}` : '')

/** The arrow head at the end of a line, in the direction of its last segment. */
function headOf(points: readonly Point[]): string {
  const end = points.at(-1) as Point
  const before = points.at(-2) as Point
  const length = Math.hypot(end.x - before.x, end.y - before.y) || 1
  const along = { x: (end.x - before.x) / length, y: (end.y - before.y) / length }
  const corner = (side: number): Point => ({ x: end.x - along.x * 7 - along.y * side, y: end.y - along.y * 7 + along.x * side })
  return `M${pair(end)}L${pair(corner(3.5))}L${pair(corner(-3.5))}z`
}
