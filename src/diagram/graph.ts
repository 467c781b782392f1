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

export interface Node {
  readonly id: string
  readonly size: Size
  readonly ports?: readonly Port[]
  /** Whether it has to stand above all others. */
  readonly isFirst?: boolean
}

export interface Line {
  readonly id: string
  /** Id of a node or of a port. */
  readonly from: string
  readonly to: string
  readonly label?: Size
}

export interface Graph {
  readonly nodes: readonly Node[]
  readonly lines: readonly Line[]
}

export interface PlacedNode extends Rect {
  /** How far from the left its own texts begin. */
  readonly indent?: number
}

export interface PlacedLine {
  readonly points: readonly Point[]
  readonly label?: Rect
}

export interface Placed {
  readonly size: Size
  readonly nodes: ReadonlyMap<string, PlacedNode>
  readonly lines: ReadonlyMap<string, PlacedLine>
}

/** Places a graph top to bottom. The same graph is placed the same way every time. */
export type Layout = (graph: Graph) => Promise<Placed>

const shift = <P extends Point>(point: P, by: Point): P => ({ ...point, x: point.x + by.x, y: point.y + by.y })

/** A picture at another place. */
export function moved(placed: Placed, by: Point): Placed {
  return {
    size: placed.size,
    nodes: new Map([...placed.nodes].map(([id, rect]) => [id, shift(rect, by)])),
    lines: new Map(
      [...placed.lines].map(([id, { points, label }]) => [
        id,
        { points: points.map((point) => shift(point, by)), ...(label && { label: shift(label, by) }) },
      ]),
    ),
  }
}
