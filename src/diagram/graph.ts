/**
 * What a layout gets and gives back: boxes in boxes and lines between them. Sizes of texts are known before, positions after.
 * All positions are absolute, from the top left corner of the picture.
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

export interface Node {
  readonly id: string
  /** For a node without children; with children it is the least that the node's own header needs. */
  readonly size: Size
  /** Height of what stands above the children. */
  readonly header: number
  readonly children: readonly Node[]
}

export interface Line {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly label?: Size
}

export interface Graph {
  readonly nodes: readonly Node[]
  readonly lines: readonly Line[]
}

export interface Placed {
  readonly size: Size
  readonly nodes: ReadonlyMap<string, Rect>
  /** The points of every line, and where its label stands. */
  readonly lines: ReadonlyMap<string, { readonly points: readonly Point[]; readonly label?: Rect }>
}

/** Places a graph top to bottom. The same graph is placed the same way every time. */
export type Layout = (graph: Graph) => Promise<Placed>

/** A picture moved to another place. */
export function moved(placed: Placed, by: Point): Placed {
  const move = <P extends Point>(point: P): P => ({ ...point, x: point.x + by.x, y: point.y + by.y })
  return {
    size: placed.size,
    nodes: new Map([...placed.nodes].map(([id, rect]) => [id, move(rect)])),
    lines: new Map(
      [...placed.lines].map(([id, { points, label }]) => [id, { points: points.map(move), ...(label && { label: move(label) }) }]),
    ),
  }
}
