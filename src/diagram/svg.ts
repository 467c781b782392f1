import type { ChartEdge } from './chart.ts'
import type { Placed, PlacedLine, PlacedNode, Point, Rect } from './graph.ts'
import { type Box, FONT, LINE_HEIGHT, type Link, MARK, PADDING, type Scene, type Text, widthOf } from './scene.ts'

/**
 * A scene as one SVG: no script, no font, no file beside it. Every state carries `data-state` with
 * the id of its state node, every edge `data-edge` with `<from>|<event>|<to>`, so that a page can
 * light them: add `active` to a state's class, `taken` to an edge's.
 */
export const STYLE = `
  svg { --ground: #ffffff; --frame: #f6f8fa; --card: #ffffff; --box: #eef2f7; --border: #8c959f; --text: #1f2328; --muted: #59636e; --line: #59636e; --signal: #bc4c00; --active: #dafbe1; --active-border: #1a7f37; color-scheme: light dark; }
  @media (prefers-color-scheme: dark) {
    svg { --ground: #0d1117; --frame: #151b23; --card: #0d1117; --box: #212830; --border: #656c76; --text: #f0f6fc; --muted: #9198a1; --line: #9198a1; --signal: #f0883e; --active: #12361f; --active-border: #3fb950; }
  }
  text { font-family: Helvetica, Arial, 'Liberation Sans', sans-serif; font-size: 11px; fill: var(--text); }
  .title { font-size: 12.5px; font-weight: 600; }
  .work, .plain { fill: var(--muted); }
  .raised, .heard { fill: var(--signal); }
  .raised { font-weight: 600; }
  .state > rect { fill: var(--box); stroke: var(--border); }
  .region > rect { fill: var(--card); }
  .frame > rect { fill: var(--frame); }
  .parallel > rect { stroke-dasharray: 4 3; }
  .final > rect + rect { fill: none; stroke: var(--border); }
  .initial { fill: var(--text); }
  .edge path { fill: none; stroke: var(--line); }
  .edge.signal path { stroke: var(--signal); stroke-dasharray: 4 3; }
  .edge .head { fill: var(--line); stroke: none; }
  .edge.signal .head { fill: var(--signal); }
  .state.active > rect { fill: var(--active); stroke: var(--active-border); stroke-width: 2; }
  .edge.taken path { stroke: var(--active-border); stroke-width: 2; }
  .edge.taken .head { fill: var(--active-border); }
`

export interface Picture {
  readonly scene: Scene
  readonly placed: Placed
  /** Said to those who cannot see it. */
  readonly title: string
}

export function svgOf({ scene, placed, title }: Picture): string {
  const { width, height } = placed.size
  const size = `width="${round(width)}" height="${round(height)}" viewBox="0 0 ${round(width)} ${round(height)}"`
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="${escaped(title)}">`,
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}</style>`,
    `<rect width="100%" height="100%" fill="var(--ground)"/>`,
    // What is outside comes first, so that what is inside lies above it; lines lie above all boxes.
    ...[...scene.boxes.values()].flatMap((box) => boxSvg(box, placed.nodes.get(box.state.id))),
    ...scene.links.flatMap((link) => linkSvg(link, placed.lines.get(link.id))),
    '</svg>',
  ].join('\n')}\n`
}

function boxSvg({ state, texts }: Box, rect: PlacedNode | undefined): string[] {
  if (!rect) return []
  const classes = [
    'state',
    state.kind,
    ...(state.states.length > 0 ? ['frame'] : []),
    ...(state.meta['phase'] !== undefined ? ['region'] : []),
  ]
  const inner = { x: rect.x + 3, y: rect.y + 3, width: rect.width - 6, height: rect.height - 6 }
  return [
    `<g class="${classes.join(' ')}" data-state="${escaped(state.id)}">`,
    rectSvg(rect, state.meta['rounded'] === true ? 13 : 6),
    ...(state.kind === 'final' ? [rectSvg(inner, 4)] : []),
    ...(state.isInitial ? [`<circle class="initial" cx="${round(rect.x + 1)}" cy="${round(rect.y + 1)}" r="3.5"/>`] : []),
    ...textsSvg(texts, { x: rect.x + (rect.indent ?? PADDING.width), y: rect.y + PADDING.height }),
    '</g>',
  ]
}

function linkSvg({ kind, edges, texts }: Link, placed: PlacedLine | undefined): string[] {
  if (!placed || placed.points.length < 2) return []
  const path = pathData(placed.points)
  const head = headOf(placed.points)
  return [
    ...(edges.length === 0 ? [''] : edges.map(({ id }) => ` data-edge="${escaped(id)}"`)).map(
      (data) => `<g class="edge ${kind}"${data}><path d="${path}"/><path class="head" d="${head}"/></g>`,
    ),
    ...(placed.label ? textsSvg(texts, placed.label) : []),
  ]
}

/** Texts below each other, each with the marks of the edges that it stands for. */
function textsSvg(texts: readonly Text[], { x, y: top }: Point): string[] {
  return texts.flatMap((text, i) => {
    const y = top + i * LINE_HEIGHT
    const hasMark = text.role === 'raised' || text.role === 'heard'
    const mark = hasMark ? MARK : 0
    // A browser with another font squeezes or stretches it a little; nothing ever overlaps.
    const length = `textLength="${widthOf(text) - mark}" lengthAdjust="spacingAndGlyphs"`
    return [
      ...(hasMark ? markSvg(text.edges, { x, y: y + LINE_HEIGHT / 2 }) : edgesWithoutLine(text.edges)),
      `<text class="${text.role}" x="${round(x + mark)}" y="${round(y + LINE_HEIGHT / 2 + FONT[text.role].size * 0.35)}" ${length}>${escaped(text.text)}</text>`,
    ]
  })
}

/** A short dashed arrow before the name of a signal: comes from, or goes to, elsewhere. */
function markSvg(edges: readonly ChartEdge[], { x, y }: Point): string[] {
  const shape = `<path d="M${round(x)} ${round(y)}h9"/><path class="head" d="M${round(x + 12)} ${round(y)}l-5 -3v6z"/>`
  if (edges.length === 0) return [`<g class="edge signal">${shape}</g>`]
  return edges.map(({ id }) => `<g class="edge signal" data-edge="${escaped(id)}">${shape}</g>`)
}

const edgesWithoutLine = (edges: readonly ChartEdge[]): string[] =>
  edges.map(({ id }) => `<g class="edge internal" data-edge="${escaped(id)}"/>`)

const rectSvg = ({ x, y, width, height }: Rect, radius: number): string =>
  `<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" rx="${radius}"/>`

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

const round = (value: number): string => String(Math.round(value * 10) / 10)

export const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[character] as string)
