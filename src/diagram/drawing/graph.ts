/**
 * What a layout gets and gives back: boxes and lines between them. Sizes of texts are known before,
 * positions after. All positions are absolute, from the top left corner of the picture.
 */
export interface Point {
  readonly x: number
  readonly y: number
}

export interface Size {
  readonly width: number
  readonly height: number
}

export interface Rect extends Point, Size {}

/** Where a line has to begin or end: on the top or bottom side of its node. */
export interface Port {
  readonly id: string
  readonly x: number
  readonly side: 'top' | 'bottom'
}

export interface LayoutNode {
  readonly id: string
  readonly size: Size
  readonly ports?: readonly Port[]
  /** Whether it has to stand above all others. */
  readonly isFirst?: boolean
}

export interface LayoutLine {
  readonly id: string
  /** Id of a node or of a port. */
  readonly from: string
  readonly to: string
  readonly label?: Size
}

export interface LayoutGraph {
  readonly nodes: readonly LayoutNode[]
  readonly lines: readonly LayoutLine[]
}

export interface PlacedNode extends Rect {
  /** How far from the left its own texts begin. */
  readonly indent?: number
}

export interface PlacedLine {
  readonly points: readonly Point[]
  readonly label?: Rect
}

/** Words above a group of nodes; `y` is their base line. */
export interface GroupTitle extends Point {
  readonly words: string
}

export interface Placed {
  readonly size: Size
  readonly titles?: readonly GroupTitle[]
  readonly nodes: ReadonlyMap<string, PlacedNode>
  readonly lines: ReadonlyMap<string, PlacedLine>
}

/** Places a graph top to bottom. The same graph is placed the same way every time. */
export type Layout = (graph: LayoutGraph) => Promise<Placed>

const shift = <P extends Point>(point: P, by: Point): P => ({ ...point, x: point.x + by.x, y: point.y + by.y })

/** A picture at another place. */
export function moved(placed: Placed, by: Point): Placed {
  return {
    size: placed.size,
    ...(placed.titles && { titles: placed.titles.map((title) => shift(title, by)) }),
    nodes: new Map([...placed.nodes].map(([id, rect]) => [id, shift(rect, by)])),
    lines: new Map(
      [...placed.lines].map(([id, { points, label }]) => [
        id,
        { points: points.map((point) => shift(point, by)), ...(label && { label: shift(label, by) }) },
      ]),
    ),
  }
}

const TITLE_HEIGHT = 22

/** A group under its title. */
export function titled(placed: Placed, words: string): Placed {
  const { size, titles = [], ...below } = moved(placed, { x: 0, y: TITLE_HEIGHT })
  return { ...below, size: { ...size, height: size.height + TITLE_HEIGHT }, titles: [{ x: 0, y: 12, words }, ...titles] }
}

/** Parts that are placed already, as one. */
export const merged = (size: Size, parts: readonly Placed[]): Placed => ({
  size,
  titles: parts.flatMap(({ titles = [] }) => titles),
  nodes: new Map(parts.flatMap(({ nodes }) => [...nodes])),
  lines: new Map(parts.flatMap(({ lines }) => [...lines])),
})
