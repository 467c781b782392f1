import type { ChartState } from './chart.ts'
import {
  type GroupTitle,
  moved,
  type Placed,
  type PlacedLine,
  type PlacedNode,
  type Point,
  type Port,
  type Rect,
  type Size,
} from './graph.ts'
import { type Box, LINE_HEIGHT, type Link, PADDING, type Scene, sizeOf, titleMiddle } from './scene.ts'

/**
 * A state with everything inside it as a narrow card, by rules simple enough to need no library:
 * states stand below each other, a transition to the next one is an arrow between them, any other
 * is a line of text in its state and a rail on the right. Parallel regions stand side by side.
 * Signals from other cards come in, and leave, by rails on the left.
 */
export interface Card {
  readonly placed: Placed
  readonly ports: readonly Port[]
}

export interface CardOptions {
  /** Signals from outside that are heard inside, and those from inside that are heard outside. */
  readonly heard?: readonly Link[]
  readonly raised?: readonly Link[]
  /** What is already laid out: it takes the place of that state's children. */
  readonly content?: ReadonlyMap<string, Placed>
  /** How many parallel regions stand beside each other. Default 3. */
  readonly columnsMax?: number
}

const INSET = 8
const GAP = 7
const ARROW = 17
const RAIL = 8
const COLUMNS_MAX = 3
/** How far from the left of a box the arrow to the next one stands. */
const STEM = 22

export const portIn = (link: Link): string => `in ${link.id}`
export const portOut = (card: string, state: string): string => `out ${card} ${state}`

export function cardOf(scene: Scene, state: ChartState, options: CardOptions = {}): Card {
  const card = new CardLayout(scene, options.content ?? new Map(), options.columnsMax ?? COLUMNS_MAX)
  const heard = options.heard ?? []
  const sources = [...new Set((options.raised ?? []).map(({ from }) => from))]
  const rails = Math.max(heard.length, sources.length)
  const left = INSET + rails * RAIL
  const size = card.sizeOf(state, left)
  card.place(state, { x: 0, y: 0, ...size }, left)

  const ports: Port[] = []
  // The topmost gets the rail next to the boxes, so that no line crosses another.
  const byHeight = [...heard].sort((a, b) => card.rect(a.to).y - card.rect(b.to).y)
  byHeight.forEach((link, i) => {
    const x = left - RAIL * (i + 1)
    const target = card.rect(link.to)
    const y = titleMiddle(target)
    card.lines.set(portIn(link), {
      points: [
        { x, y: 0 },
        { x, y },
        { x: target.x, y },
      ],
    })
    ports.push({ id: portIn(link), x, side: 'top' })
  })
  sources.forEach((from, i) => {
    const x = left - RAIL * (i + 1)
    const source = card.rect(from)
    const y = titleMiddle(source)
    const id = portOut(state.id, from)
    card.lines.set(id, {
      points: [
        { x: source.x, y },
        { x, y },
        { x, y: size.height },
      ],
    })
    ports.push({ id, x, side: 'bottom' })
  })
  return { placed: { size, titles: card.titles, nodes: card.nodes, lines: card.lines }, ports }
}

class CardLayout {
  readonly nodes = new Map<string, PlacedNode>()
  readonly lines = new Map<string, PlacedLine>()
  readonly titles: GroupTitle[] = []
  readonly #scene: Scene
  readonly #content: ReadonlyMap<string, Placed>
  readonly #columnsMax: number

  constructor(scene: Scene, content: ReadonlyMap<string, Placed>, columnsMax: number) {
    this.#scene = scene
    this.#content = content
    this.#columnsMax = columnsMax
  }

  rect(id: string): Rect {
    return this.nodes.get(id) as Rect
  }

  sizeOf(state: ChartState, left = INSET): Size {
    const own = this.#ownSize(state)
    const inside = this.#insideSize(state)
    if (!inside) return { ...own, width: own.width + (this.#isRailed(left) ? left - PADDING.width : 0) }
    return {
      width: Math.max(own.width - PADDING.width + left, left + inside.width + this.#railsWidth(state) + INSET),
      height: own.height + inside.height + INSET,
    }
  }

  place(state: ChartState, rect: Rect, left = INSET): void {
    const { height: header } = this.#ownSize(state)
    const isFrame = this.#insideSize(state) !== undefined
    const indent = isFrame || this.#isRailed(left) ? left : INSET
    this.nodes.set(state.id, { ...rect, ...(indent !== INSET && { indent }) })
    const at = { x: rect.x + left, y: rect.y + header }
    const content = this.#content.get(state.id)
    if (content) this.#add(moved(content, at))
    else if (isRow(state, this.#scene)) this.#placeRow(state, at)
    else if (isColumns(state, this.#scene)) this.#placeColumns(state, at)
    else this.#placeStack(state, at, rect.width - left - this.#railsWidth(state) - INSET)
  }

  /** Whether signals come in on its left. */
  #isRailed(left: number): boolean {
    return left > INSET
  }

  #add({ nodes, lines, titles = [] }: Placed): void {
    this.titles.push(...titles)
    for (const [id, node] of nodes) this.nodes.set(id, node)
    for (const [id, line] of lines) this.lines.set(id, line)
  }

  /** The state's own texts, with those of the transitions that leave it by a rail. */
  #ownSize(state: ChartState): Size {
    const { texts } = this.#scene.boxes.get(state.id) as Box
    const { width, height } = sizeOf([...texts, ...this.#exits(state).flatMap((link) => link.texts)])
    return { width: width + 2 * PADDING.width, height: height + 2 * PADDING.height }
  }

  #insideSize(state: ChartState): Size | undefined {
    const content = this.#content.get(state.id)
    if (content) return content.size
    const sizes = state.states.map((child) => this.sizeOf(child))
    if (sizes.length === 0) return undefined
    const widths = sizes.map(({ width }) => width)
    const heights = sizes.map(({ height }) => height)
    if (isRow(state, this.#scene)) return { width: sum(widths) + ARROW, height: Math.max(...heights) }
    if (isColumns(state, this.#scene)) {
      const rows = chunks(sizes, this.#columnsMax)
      return {
        width: Math.max(...rows.map((row) => sum(row.map(({ width }) => width)) + GAP * (row.length - 1))),
        height: sum(rows.map((row) => Math.max(...row.map(({ height }) => height)))) + GAP * (rows.length - 1),
      }
    }
    const ordered = inOrder(state)
    const gaps = ordered.slice(1).map((next, i) => this.#gap(ordered[i] as ChartState, next))
    return {
      width: Math.max(...widths, ...ordered.slice(1).map((next, i) => this.#labelWidth(ordered[i] as ChartState, next))),
      height: sum(heights) + sum(gaps),
    }
  }

  #placeRow(state: ChartState, at: Point): void {
    let { x } = at
    const [first, second] = state.states as [ChartState, ChartState]
    for (const child of [first, second]) {
      const size = this.sizeOf(child)
      this.place(child, { x, y: at.y, ...size })
      x += size.width + ARROW
    }
    const link = this.#linkBetween(first, second)
    const from = this.rect(first.id)
    const y = titleMiddle(from)
    if (link)
      this.lines.set(link.id, {
        points: [
          { x: from.x + from.width, y },
          { x: this.rect(second.id).x, y },
        ],
      })
  }

  #placeColumns(state: ChartState, at: Point): void {
    let { y } = at
    for (const row of chunks(state.states, this.#columnsMax)) {
      let { x } = at
      const height = Math.max(...row.map((child) => this.sizeOf(child).height))
      for (const child of row) {
        const { width } = this.sizeOf(child)
        this.place(child, { x, y, width, height })
        x += width + GAP
      }
      y += height + GAP
    }
  }

  #placeStack(state: ChartState, at: Point, width: number): void {
    const ordered = inOrder(state)
    let { y } = at
    ordered.forEach((child, i) => {
      const { height } = this.sizeOf(child)
      this.place(child, { x: at.x, y, width, height })
      y += height
      const next = ordered[i + 1]
      if (!next) return
      const link = this.#linkBetween(child, next)
      const gap = this.#gap(child, next)
      if (link) {
        const x = at.x + STEM
        const label = sizeOf(link.texts)
        this.lines.set(link.id, {
          points: [
            { x, y },
            { x, y: y + gap },
          ],
          ...(link.texts.length > 0 && { label: { x: x + 7, y: y + (gap - label.height) / 2 - 1, ...label } }),
        })
      }
      y += gap
    })
    this.#placeRails(state, at.x + width)
  }

  #placeRails(state: ChartState, right: number): void {
    for (const child of state.states) {
      const { texts } = this.#scene.boxes.get(child.id) as Box
      const from = this.rect(child.id)
      const left = from.x + (this.nodes.get(child.id)?.indent ?? PADDING.width)
      let row = texts.length
      for (const link of this.#exits(child)) {
        const to = this.rect(link.to)
        const label = sizeOf(link.texts)
        const top = from.y + PADDING.height + row * LINE_HEIGHT
        const y = link.texts.length > 0 ? top + LINE_HEIGHT / 2 : titleMiddle(from) + (row - texts.length)
        const x = right + RAIL * (this.#railTargets(state).indexOf(link.to) + 1) - 2
        const end = titleMiddle(to)
        this.lines.set(link.id, {
          points: [
            { x: from.x + from.width, y },
            { x, y },
            { x, y: end },
            { x: to.x + to.width, y: end },
          ],
          ...(link.texts.length > 0 && { label: { x: left, y: top, ...label } }),
        })
        row += link.texts.length
      }
    }
  }

  #gap(from: ChartState, to: ChartState): number {
    const link = this.#linkBetween(from, to)
    return link ? Math.max(ARROW, sizeOf(link.texts).height + 9) : GAP
  }

  #labelWidth(from: ChartState, to: ChartState): number {
    const link = this.#linkBetween(from, to)
    return link ? STEM + 7 + sizeOf(link.texts).width : 0
  }

  #linkBetween(from: ChartState, to: ChartState): Link | undefined {
    return this.#scene.links.find((link) => link.kind === 'transition' && link.from === from.id && link.to === to.id)
  }

  /** Transitions to any state but the next one. */
  #exits(state: ChartState): Link[] {
    const parent = this.#scene.parents.get(state.id)
    if (!parent || isRow(parent, this.#scene)) return []
    const ordered = inOrder(parent)
    const next = ordered[ordered.findIndex(({ id }) => id === state.id) + 1]
    return this.#scene.links.filter(({ kind, from, to }) => kind === 'transition' && from === state.id && to !== next?.id)
  }

  /** The rail of the lowest target is the outermost, so that rails do not cross. */
  #railTargets(state: ChartState): string[] {
    if (isRow(state, this.#scene) || isColumns(state, this.#scene)) return []
    const targets = new Set(state.states.flatMap((child) => this.#exits(child).map(({ to }) => to)))
    return inOrder(state).flatMap(({ id }) => (targets.has(id) ? [id] : []))
  }

  #railsWidth(state: ChartState): number {
    return this.#railTargets(state).length * RAIL
  }
}

/** The initial state first, then as they are written. */
const inOrder = ({ states }: ChartState): ChartState[] => [...states].sort((a, b) => Number(b.isInitial) - Number(a.isInitial))

/**
 * Two states and one way from the first to the second, which needs no words and says nothing to
 * others: a latch.
 */
const isRow = ({ kind, states: [first, second, ...others] }: ChartState, { links }: Scene): boolean => {
  if (kind !== 'compound' || !first || !second || others.length > 0 || isMore(first) || isMore(second)) return false
  const [link, ...more] = links.filter((candidate) => candidate.kind === 'transition' && [first.id, second.id].includes(candidate.from))
  return link?.from === first.id && link.to === second.id && link.texts.length === 0 && more.length === 0
}

const isMore = ({ states, raises, work }: ChartState): boolean => states.length + raises.length + work.length > 0

const isColumns = ({ kind, states }: ChartState, scene: Scene): boolean =>
  kind === 'parallel' && !states.every((child) => isRow(child, scene))

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))
}
