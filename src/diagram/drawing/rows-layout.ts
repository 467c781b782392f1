import type { LayoutGraph, LayoutLine, LayoutNode, Placed, PlacedLine, Point, Port, Rect, Size } from './graph.ts'

/**
 * Layout in rows, without a library: each node comes after those with a line to it, as many beside
 * each other as fit. Lines run in tracks between the rows; one that goes further than the next row
 * runs down a gutter on the left, so that none crosses a node. A line needs a port at both its
 * ends.
 */
export interface RowsOptions {
  readonly widthMax: number
}

const GAP = 14
const TRACK = 8

export function rowsLayout(graph: LayoutGraph, { widthMax }: RowsOptions): Placed {
  const rows = rowsOf(graph, widthMax)
  const rowOf = new Map(rows.flatMap((row, i) => row.map(({ id }) => [id, i] as const)))
  const ports = new Map(graph.nodes.flatMap((node) => (node.ports ?? []).map((port) => [port.id, { node, port }] as const)))
  const ends = graph.lines.flatMap((line): Routed[] => {
    const from = ports.get(line.from)
    const to = ports.get(line.to)
    if (!from || !to) return []
    return [{ line, from, to, leaves: rowOf.get(from.node.id) as number, enters: (rowOf.get(to.node.id) as number) - 1 }]
  })

  const far = [...new Set(ends.filter(({ leaves, enters }) => leaves !== enters).map(({ line }) => line.from))]
  const gutter = far.length * TRACK
  const nodes = new Map<string, Rect>()
  const xOf = columns(rows, gutter)
  const portX = ({ node, port }: End) => (xOf.get(node.id) as number) + port.x

  // One track for each signal that runs in a channel.
  const tracks = rows.map((_, channel) => tracksOf(ends, channel, portX))
  const channelTop: number[] = []
  let y = 0
  let width = 0
  rows.forEach((row, i) => {
    for (const node of row) {
      const rect = { x: xOf.get(node.id) as number, y, ...node.size }
      nodes.set(node.id, rect)
      width = Math.max(width, rect.x + rect.width)
    }
    y += Math.max(...row.map(({ size }) => size.height))
    channelTop.push(y)
    if (i < rows.length - 1) y += TRACK * ((tracks[i]?.length ?? 0) + 1) + GAP / 2
  })
  const trackY = (channel: number, signal: string) =>
    (channelTop[channel] as number) + TRACK * ((tracks[channel] as string[]).indexOf(signal) + 1)

  const lines = new Map<string, PlacedLine>()
  for (const { line, from, to, leaves, enters } of ends) {
    const start = { x: portX(from), y: sideY(from, nodes) }
    const end = { x: portX(to), y: sideY(to, nodes) }
    const first = trackY(leaves, line.from)
    if (leaves === enters) {
      lines.set(line.id, { points: straightened([start, { x: start.x, y: first }, { x: end.x, y: first }, end]) })
    } else {
      const x = TRACK * far.indexOf(line.from)
      const last = trackY(enters, line.from)
      const points = [start, { x: start.x, y: first }, { x, y: first }, { x, y: last }, { x: end.x, y: last }, end]
      lines.set(line.id, { points: straightened(points) })
    }
  }
  return { size: { width, height: y }, nodes, lines }
}

interface End {
  readonly node: LayoutNode
  readonly port: Port
}

interface Routed {
  readonly line: LayoutLine
  readonly from: End
  readonly to: End
  /**
   * The channel, numbered as the row above it, where the line leaves its source, and where it comes
   * to its target.
   */
  readonly leaves: number
  readonly enters: number
}

/** The nodes in the order given, but never before a node with a line to it. */
function rowsOf({ nodes, lines }: LayoutGraph, widthMax: number): LayoutNode[][] {
  const owner = new Map(nodes.flatMap(({ id, ports = [] }) => [[id, id] as const, ...ports.map((port) => [port.id, id] as const)]))
  const before = new Map(nodes.map(({ id }) => [id, new Set<string>()]))
  for (const { from, to } of lines) before.get(owner.get(to) ?? '')?.add(owner.get(from) ?? '')
  const rows: LayoutNode[][] = []
  const done = new Set<string>()
  let left = [...nodes]
  while (left.length > 0) {
    const row: LayoutNode[] = []
    for (const node of left) {
      const isReady = [...(before.get(node.id) as Set<string>)].every((other) => done.has(other) || other === node.id)
      if (isReady && (row.length === 0 || widthOf([...row, node]) <= widthMax)) row.push(node)
    }
    // Nodes that wait for each other: drawn all the same.
    if (row.length === 0) row.push(left[0] as LayoutNode)
    rows.push(row)
    for (const { id } of row) done.add(id)
    left = left.filter(({ id }) => !done.has(id))
  }
  return rows
}

const widthOf = (row: readonly { readonly size: Size }[]): number =>
  row.reduce((width, { size }) => width + size.width, 0) + GAP * (row.length - 1)

function columns(rows: readonly (readonly LayoutNode[])[], gutter: number): Map<string, number> {
  return new Map(
    rows.flatMap((row) => {
      let x = gutter
      return row.map(({ id, size }) => {
        const own = x
        x += size.width + GAP
        return [id, own] as const
      })
    }),
  )
}

/**
 * The signals of a channel from top to bottom. Where one comes down from its source at the place at
 * which another goes down to its target, the first has to turn off above.
 */
function tracksOf(ends: readonly Routed[], channel: number, portX: (end: End) => number): string[] {
  const leaving = ends.filter(({ leaves }) => leaves === channel)
  const entering = ends.filter(({ enters }) => enters === channel)
  const signals = [...new Set([...leaving, ...entering].map(({ line }) => line.from))]
  const above = (a: string, b: string) =>
    leaving.some(
      (out) => out.line.from === a && entering.some((into) => into.line.from === b && Math.abs(portX(into.to) - portX(out.from)) < TRACK),
    )
  const ordered: string[] = []
  let left = signals
  while (left.length > 0) {
    const next = left.find((signal) => !left.some((other) => other !== signal && above(other, signal))) ?? (left[0] as string)
    ordered.push(next)
    left = left.filter((signal) => signal !== next)
  }
  return ordered
}

function sideY({ node, port }: End, nodes: ReadonlyMap<string, Rect>): number {
  const { y, height } = nodes.get(node.id) as Rect
  return port.side === 'top' ? y : y + height
}

/** The points without those that do nothing. */
const straightened = (points: readonly Point[]): Point[] =>
  points.filter((point, i) => {
    const before = points[i - 1]
    return !before || before.x !== point.x || before.y !== point.y
  })
