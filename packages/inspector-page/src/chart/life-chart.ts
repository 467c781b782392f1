import { setAttribute, svg } from '../dom.ts'
import { bareSvg, type Chart, type ChartState, drawnSignals, lifecyclePicture, statesOf } from '../quiesce.ts'
import { Minimap } from './minimap.ts'
import { CHART_STYLE } from './style.ts'
import { Viewport } from './viewport.ts'

/** What is shown of a life in its chart; without one it is only a picture. */
export interface Lights {
  /** How a region stands, and in which of its states it is; by its key. */
  readonly regions: ReadonlyMap<string, { readonly workStatus: string | undefined; readonly now: string | undefined }>
  /** Words for states and for edges, by their ids. */
  readonly states: ReadonlyMap<string, readonly string[]>
  readonly edges: ReadonlyMap<string, readonly string[]>
}

const NOTHING: Lights = { regions: new Map(), states: new Map(), edges: new Map() }
const ZOOM_STEP = 1.25
const BADGE = 16

export interface LifeChartOptions {
  /** Hears in words what belongs to the region that is pointed at; empty for none. */
  readonly notified?: (words: string) => void
}

/**
 * The statechart of a life: its regions as boxes with their names and signals, which open to show
 * their states. It lies in a shadow tree, where its style reaches nothing else. The page needs the
 * shapes of outcomes as symbols, `#i-ok` and the like.
 */
export class LifeChart {
  readonly viewport: Viewport
  readonly #host = document.createElement('div')
  readonly #shadow = this.#host.attachShadow({ mode: 'open' })
  readonly #minimap: Minimap
  readonly #notified: (words: string) => void
  readonly #open = new Set<string>()
  #chart: Chart | undefined
  #regions: readonly ChartState[] = []
  #regionOf = new Map<string, string>()
  #picture: SVGSVGElement | undefined
  #states = new Map<string, Element>()
  #edges = new Map<string, Element[]>()
  /** Signals by their name and the state that hears them: who raised one is not in the journal. */
  #signals = new Map<string, Element[]>()
  #badges = new Map<string, SVGGElement>()
  #lights = NOTHING
  #lit = new Map<Element, readonly string[]>()
  #current = ''

  /** @param frame what the minimap lies in */
  constructor(body: HTMLElement, frame: HTMLElement, { notified = () => {} }: LifeChartOptions = {}) {
    this.#notified = notified
    this.#minimap = new Minimap(() => this.viewport)
    this.#shadow.adoptedStyleSheets = [sheetOf(CHART_STYLE)]
    body.append(this.#host)
    frame.append(this.#minimap.node)
    this.viewport = new Viewport(body, () => this.#minimap.look())
    body.addEventListener('keydown', (event) => this.#key(event))
  }

  get isEmpty(): boolean {
    return this.#picture === undefined
  }

  put(chart: Chart): void {
    const [running] = chart.root.states
    this.#chart = chart
    this.#regions = running?.states ?? []
    this.#regionOf = new Map(this.#regions.flatMap((region) => statesOf(region).map(({ id }) => [id, region.id] as const)))
    this.#open.clear()
    this.#current = this.#regions[0]?.id ?? ''
    this.#draw()
  }

  light(lights: Lights): void {
    this.#lights = lights
    this.#shine()
  }

  larger(): void {
    this.viewport.zoomBy(ZOOM_STEP)
  }

  smaller(): void {
    this.viewport.zoomBy(1 / ZOOM_STEP)
  }

  /** Brings regions into view, by their titles; as many of the first ones as fit. */
  reveal(titles: readonly string[]): void {
    const ids = titles.flatMap((title) => this.#regions.find((region) => region.title === title)?.id ?? [])
    this.viewport.reveal(ids.flatMap((id) => this.#states.get(id) ?? []))
  }

  #toggle(id: string): void {
    if (this.#open.has(id)) this.#open.delete(id)
    else this.#open.add(id)
    this.viewport.holding(this.#states.get(id), () => {
      this.#draw()
      this.#focus(id)
      return this.#states.get(id)
    })
  }

  #draw(): void {
    if (!this.#chart) return
    const drawn = lifecyclePicture(this.#chart, { isOpen: ({ id }) => this.#open.has(id) })
    const { picture, styles } = parsed(bareSvg(drawn, 'Statechart of this life'))
    setAttribute(picture, 'class', 'picture')
    setAttribute(picture, 'role', 'group')
    setAttribute(picture, 'aria-label', 'Statechart: arrows go from phase to phase, Enter opens one')
    // The picture's title would be shown wherever the pointer rests.
    picture.querySelector(':scope > title')?.remove()
    this.#shadow.adoptedStyleSheets = [...styles, CHART_STYLE].map(sheetOf)
    this.#shadow.replaceChildren(picture)
    this.#picture = picture
    this.#index(picture)
    this.#badges = new Map(this.#regions.flatMap(({ id }) => this.#prepared(id)))
    picture.append(...this.#badges.values())
    picture.addEventListener('click', ({ target }) => {
      const id = this.#regionAt(target)
      if (id !== undefined) this.#toggle(id)
    })
    picture.addEventListener('pointerover', ({ target }) => this.#relate(this.#regionAt(target)))
    // By keys only: a region that was clicked keeps the focus, and would dim the others for good.
    picture.addEventListener('focusin', ({ target }) => {
      if (target instanceof Element && target.matches(':focus-visible')) this.#relate(this.#regionAt(target))
    })
    for (const type of ['pointerleave', 'focusout'] as const) picture.addEventListener(type, () => this.#relate(undefined))
    this.#lit = new Map()
    this.viewport.put(picture)
    this.#minimap.put(this.#regions.flatMap(({ id }) => ({ id, ...boxOf(this.#states.get(id)) })))
    this.#shine()
  }

  #index(picture: SVGSVGElement): void {
    this.#states = new Map()
    this.#edges = new Map()
    this.#signals = new Map()
    for (const state of picture.querySelectorAll('[data-state]')) this.#states.set(state.getAttribute('data-state') ?? '', state)
    for (const edge of picture.querySelectorAll('[data-edge]')) {
      const key = edge.getAttribute('data-edge') ?? ''
      const [, event = '', to = ''] = key.split('|')
      if (edge.classList.contains('signal')) addTo(this.#signals, `${event}|${to}`, edge)
      else addTo(this.#edges, key, edge)
    }
  }

  /** A region that can be opened by pointer and keys, and its badge. */
  #prepared(id: string): [string, SVGGElement][] {
    const region = this.#states.get(id)
    if (!region) return []
    region.classList.add('region')
    setAttribute(region, 'role', 'button')
    setAttribute(region, 'tabindex', id === this.#current ? '0' : '-1')
    setAttribute(region, 'aria-expanded', String(this.#open.has(id)))
    const { x, y, width } = boxOf(region)
    const badge = svg('g', { class: 'badge', transform: `translate(${x + width - BADGE / 2} ${y - BADGE / 2})` })
    return [[id, badge]]
  }

  #regionAt(target: EventTarget | null): string | undefined {
    const state = target instanceof Element ? target.closest('[data-state]')?.getAttribute('data-state') : undefined
    return typeof state === 'string' ? this.#regionOf.get(state) : undefined
  }

  #shine(): void {
    if (!this.#picture) return
    const lit = new Map<Element, string[]>()
    const light = (elements: readonly (Element | undefined)[], words: readonly string[]): void => {
      for (const each of elements) if (each) lit.set(each, [...(lit.get(each) ?? []), ...words])
    }
    for (const [id, words] of this.#lights.states) light([this.#states.get(id)], words)
    for (const { id, key } of this.#regions) {
      const workStatus = this.#lights.regions.get(key)?.workStatus
      light([this.#states.get(id)], workStatus === undefined ? [] : [workStatus])
    }
    for (const [key, words] of this.#lights.edges) light(this.#linesOf(key), words)
    for (const [each, words] of this.#lit) each.classList.remove(...words)
    for (const [each, words] of lit) each.classList.add(...words)
    this.#lit = lit
    for (const region of this.#regions) this.#name(region)
    this.#minimap.light(new Map(this.#regions.map(({ id, key }) => [id, this.#lights.regions.get(key)?.workStatus])))
  }

  /** Says of a region how it stands: by its badge, and to those who cannot see it. */
  #name({ id, key, title }: ChartState): void {
    const node = this.#states.get(id)
    const badge = this.#badges.get(id)
    if (!node || !badge) return
    const { workStatus, now } = this.#lights.regions.get(key) ?? {}
    setAttribute(node, 'data-now', now)
    setAttribute(node, 'aria-label', [title, workStatus ?? now].filter((word) => word !== undefined).join(': '))
    if (badge.getAttribute('data-shape') === (workStatus ?? '')) return
    setAttribute(badge, 'data-shape', workStatus ?? '')
    setAttribute(badge, 'class', `badge ${workStatus ?? ''}`.trim())
    badge.replaceChildren(...shapeOf(workStatus))
  }

  /** An edge's own line, and that of the signal which led to it. */
  #linesOf(key: string): readonly Element[] {
    const [from = '', on = ''] = key.split('|')
    return [...(this.#edges.get(key) ?? []), ...(this.#signals.get(`${on}|${from}`) ?? [])]
  }

  /** Lights what a region waits for, and what waits for it. */
  #relate(id: string | undefined): void {
    const picture = this.#picture
    if (!picture || !this.#chart) return
    for (const each of picture.querySelectorAll('.related')) each.classList.remove('related')
    const region = this.#regions.find((each) => each.id === id)
    if (!region) {
      picture.classList.remove('relating')
      this.#notified('')
      return
    }
    const place = (state: string): string => this.#regionOf.get(state) ?? state
    const signals = drawnSignals(this.#chart)
    const heard = signals.filter(({ to }) => place(to) === id)
    const fired = signals.filter(({ from }) => place(from) === id)
    const related = new Set([region.id, ...heard.map(({ from }) => place(from)), ...fired.map(({ to }) => place(to))])
    picture.classList.toggle('relating', related.size > 1)
    for (const [state, node] of this.#states) if (related.has(place(state))) node.classList.add('related')
    for (const { id: edge } of [...heard, ...fired])
      for (const node of picture.querySelectorAll(`[data-edge="${CSS.escape(edge)}"]`)) node.classList.add('related')
    this.#notified(sentence(region, [...new Set(heard.map(({ event }) => event))], fired, (state) => this.#titleOf(place(state))))
  }

  #titleOf(id: string): string {
    return this.#regions.find((region) => region.id === id)?.title ?? id
  }

  #key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const { key } = event
    const target = event.composedPath()[0]
    const id = target instanceof Element && target.classList.contains('region') ? this.#regionAt(target) : undefined
    const direction = DIRECTIONS[key]
    if (key === '+' || key === '=') this.larger()
    else if (key === '-') this.smaller()
    else if (key === '0') this.viewport.fit()
    else if (id !== undefined && (key === 'Enter' || key === ' ')) this.#toggle(id)
    else if (id !== undefined && direction) this.#focus(this.#nearest(id, direction))
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  #focus(id: string): void {
    setAttribute(this.#states.get(this.#current) ?? this.#host, 'tabindex', '-1')
    this.#current = id
    const region = this.#states.get(id)
    if (!(region instanceof SVGElement)) return
    setAttribute(region, 'tabindex', '0')
    region.focus({ preventScroll: true })
    this.viewport.reveal([region])
  }

  /** The next region that way: near, and rather straight ahead than aside. */
  #nearest(id: string, [dx, dy]: readonly [number, number]): string {
    const middle = (region: string): readonly [number, number] => {
      const { x, y, width, height } = boxOf(this.#states.get(region))
      return [x + width / 2, y + height / 2]
    }
    const [x, y] = middle(id)
    let best: { readonly id: string; readonly far: number } | undefined
    for (const region of this.#regions) {
      const [otherX, otherY] = middle(region.id)
      const ahead = (otherX - x) * dx + (otherY - y) * dy
      const aside = Math.abs((otherX - x) * dy) + Math.abs((otherY - y) * dx)
      const far = ahead + 2 * aside
      if (region.id !== id && ahead > 1 && (!best || far < best.far)) best = { id: region.id, far }
    }
    return best?.id ?? id
  }
}

const DIRECTIONS: Readonly<Record<string, readonly [number, number] | undefined>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

function sentence(
  { title, meta }: ChartState,
  waits: readonly string[],
  fired: readonly { readonly event: string; readonly to: string }[],
  titleOf: (state: string) => string,
): string {
  const { fires } = (meta['row'] ?? {}) as { readonly fires?: string }
  const waiting = [...new Set(fired.map(({ to }) => titleOf(to)))]
  return [
    waits.length > 0 ? `${title} waits for ${listed(waits)}` : title,
    ...(fires === undefined ? [] : [`fires ${fires}`]),
    ...(waiting.length > 0 ? [`${listed(waiting)} ${waiting.length === 1 ? 'waits' : 'wait'} for it`] : []),
  ].join('; ')
}

const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

/** The outcome's shape, as everywhere on the page. */
function shapeOf(workStatus: string | undefined): Node[] {
  const symbol = document.getElementById(`i-${workStatus}`)
  if (!symbol || workStatus === 'waiting') return []
  const shape = svg('svg', { x: '2.5', y: '2.5', width: '11', height: '11', viewBox: '0 0 16 16' })
  shape.append(...[...symbol.childNodes].map((node) => document.importNode(node, true)))
  return [svg('circle', { class: 'ground', cx: String(BADGE / 2), cy: String(BADGE / 2), r: String(BADGE / 2) }), shape]
}

/** The place of a state's own rectangle in the picture. */
function boxOf(state: Element | undefined): { readonly x: number; readonly y: number; readonly width: number; readonly height: number } {
  const rect = state?.querySelector(':scope > rect')
  const number = (name: string): number => Number(rect?.getAttribute(name) ?? 0)
  return { x: number('x'), y: number('y'), width: number('width'), height: number('height') }
}

/**
 * A picture from its text. Its style is taken out: the policy of the page's content allows none
 * inside of a document, but sheets made by script.
 */
function parsed(text: string): { readonly picture: SVGSVGElement; readonly styles: readonly string[] } {
  const styles: string[] = []
  const bare = text.replace(/<style>([^<]*)<\/style>/g, (_, css: string) => {
    styles.push(css)
    return ''
  })
  const picture = document.importNode(new DOMParser().parseFromString(bare, 'image/svg+xml').documentElement, true)
  if (!(picture instanceof SVGSVGElement)) throw new Error('what came is not an SVG')
  return { picture, styles }
}

function sheetOf(css: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(css)
  return sheet
}

function addTo(map: Map<string, Element[]>, key: string, value: Element): void {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}
