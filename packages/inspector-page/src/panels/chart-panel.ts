import { activeStates, settledStates, standingOf, workingState } from '../core/states.ts'
import { edgeKey, type View } from '../core/view.ts'
import { element, make, setStyle, setText } from '../dom.ts'
import type { Frame, Panel } from '../frame.ts'
import { route } from '../source.ts'

/**
 * What the page adds to the picture's own style: where the life has been, and what was taken last.
 */
const OWN_STYLE = `
  :host { display: block; }
  svg { display: block; --ground: transparent; }
  .state.active > rect { fill: var(--accent-ground); stroke: var(--accent); stroke-width: 2; }
  .edge.taken [class^="line"] { stroke: var(--accent); stroke-width: 2; }
  .edge.taken [class^="head"] { fill: var(--accent); }
  .state > rect, .edge path { transition: stroke 200ms, fill 200ms, stroke-width 200ms; }
  .edge.taken:not(.latest) [class^="line"] { stroke-width: 1.5; }
  .edge.latest [class^="line"] { stroke-width: 3.5; }
  .state.visited:not(.active) > rect { stroke: var(--edge); }
  // As in the timeline: what works, and how each phase has ended; dashes say so without colour.
  .state.active.waiting > rect { fill: none; stroke: var(--edge); stroke-width: 1; }
  .state.active.ok > rect { fill: var(--good-ground); stroke: var(--good); }
  .state.active.failed > rect { fill: var(--bad-ground); stroke: var(--bad); stroke-dasharray: 2 2; }
  .state.active.cut > rect { fill: var(--cut-ground); stroke: var(--cut); stroke-dasharray: 7 3; }
  .state.active.skipped > rect { fill: var(--sunken); stroke: var(--muted); stroke-dasharray: 1 3; }
  .state.latest > rect { stroke-width: 3.5; }
  @media (prefers-reduced-motion: reduce) { .state > rect, .edge path { transition: none; } }
`

const ZOOM_STEP = 1.25
/** So much of a wheel is a zoom by e. */
const WHEEL_PX = 300
const ZOOM = { min: 0.1, max: 3 }
/** Before the user has chosen a size: the width, as long as it is legible. */
const LEGIBLE = 0.55

/**
 * The statechart of the root machine, its active states and the edges it has taken lit. The picture
 * comes from the server and stands in a shadow tree, where its style reaches nothing else.
 */
export class ChartPanel implements Panel {
  readonly #body = element('chart-body')
  readonly #follow = element<HTMLInputElement>('chart-follow')
  readonly #host = make('div')
  readonly #states = new Map<string, Element>()
  readonly #edges = new Map<string, Element[]>()
  /** Signals by their name and the state that hears them: who raised one is not in the journal. */
  readonly #signals = new Map<string, Element[]>()
  #picture: SVGSVGElement | undefined
  #size = { width: 1, height: 1 }
  #zoom: number | 'width' | 'whole' = 'width'
  #followed: string | undefined
  #lit = new Map<Element, Set<string>>()
  #shown: Pick<View, 'taken' | 'lastTaken' | 'actors' | 'phases'> | undefined

  constructor() {
    this.#body.append(this.#host)
    element('chart-smaller').addEventListener('click', () => this.#zoomTo(this.#scale() / ZOOM_STEP))
    element('chart-larger').addEventListener('click', () => this.#zoomTo(this.#scale() * ZOOM_STEP))
    element('chart-fit').addEventListener('click', () => this.#zoomTo('whole'))
    // As in every map: with Ctrl, which a pinch on a touchpad sends as well, at the pointer.
    this.#body.addEventListener(
      'wheel',
      (event) => {
        if (!event.ctrlKey) return
        event.preventDefault()
        this.#zoomTo(this.#scale() * Math.exp(-event.deltaY / WHEEL_PX), event)
      },
      { passive: false },
    )
    new ResizeObserver(() => this.#resize()).observe(this.#body)
  }

  /** Gets the picture, or says why there is none; the rest of the page does without. */
  async load(): Promise<void> {
    if (this.#picture) return
    try {
      const response = await fetch(route('chart.svg'))
      const text = await response.text()
      if (!response.ok) throw new Error(text.trim() || String(response.status))
      this.#put(text)
      setText(element('chart-note'), '')
    } catch (error) {
      setText(element('chart-note'), `There is no picture: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  draw({ view }: Frame): void {
    const shown = this.#shown
    const { taken, lastTaken, actors, phases } = view
    if (!this.#picture) return
    if (shown?.taken === taken && shown.lastTaken === lastTaken && shown.actors === actors && shown.phases === phases) return
    this.#shown = { taken, lastTaken, actors, phases }
    const active = activeIn(view)
    this.#light(this.#litBy(view, active))
    this.#followTo(workingState(view, active) ?? this.#latestOf(view))
  }

  #litBy(view: View, active: readonly string[]): Map<Element, Set<string>> {
    const { taken, lastTaken } = view
    const lit = new Map<Element, Set<string>>()
    const light = (elements: readonly (Element | undefined)[], word: string): void => {
      for (const each of elements) if (each) lit.set(each, (lit.get(each) ?? new Set()).add(word))
    }
    for (const id of active) {
      light([this.#states.get(id)], 'active')
      const standing = standingOf(view, id)
      if (standing) light([this.#states.get(id)], standing)
    }
    for (const key of taken) {
      light(this.#linesOf(key), 'taken')
      light([this.#states.get(key.slice(key.lastIndexOf('|') + 1))], 'visited')
    }
    for (const edge of lastTaken) {
      light(this.#linesOf(edgeKey(edge)), 'latest')
      light([edge.to === undefined ? undefined : this.#states.get(edge.to)], 'latest')
    }
    return lit
  }

  /** Where the last step led to; of several places that of a phase, because bounds only count. */
  #latestOf({ lastTaken, phases }: View): string | undefined {
    const targets = lastTaken.flatMap(({ to }) => (to !== undefined && this.#states.has(to) ? [to] : []))
    const ofPhase = targets.findLast((id) => [...phases.keys()].some((phase) => id.includes(`.${phase}.`)))
    return ofPhase ?? targets.at(-1)
  }

  /** An edge's own line, and that of the signal which led to it. */
  #linesOf(key: string): readonly Element[] {
    const [from = '', on = ''] = key.split('|')
    return [...(this.#edges.get(key) ?? []), ...(this.#signals.get(`${on}|${from}`) ?? [])]
  }

  #light(lit: Map<Element, Set<string>>): void {
    for (const [each, words] of this.#lit) {
      for (const word of words) if (!lit.get(each)?.has(word)) each.classList.remove(word)
    }
    for (const [each, words] of lit) each.classList.add(...words)
    this.#lit = lit
  }

  #put(text: string): void {
    // Its style is taken out of the text: the policy of the page's content allows none inside of a
    // document, but sheets made by script.
    const styles: string[] = []
    const bare = text.replace(/<style>([^<]*)<\/style>/g, (_, css: string) => {
      styles.push(css)
      return ''
    })
    const picture = document.importNode(new DOMParser().parseFromString(bare, 'image/svg+xml').documentElement, true)
    if (!(picture instanceof SVGSVGElement)) throw new Error('what came is not an SVG')
    const shadow = this.#host.attachShadow({ mode: 'open' })
    shadow.adoptedStyleSheets = [...styles, OWN_STYLE].map(sheetOf)
    shadow.append(picture)
    this.#picture = picture
    const { width, height } = picture.viewBox.baseVal
    this.#size = { width: width || 1, height: height || 1 }
    for (const state of picture.querySelectorAll('[data-state]')) this.#states.set(state.getAttribute('data-state') ?? '', state)
    for (const edge of picture.querySelectorAll('[data-edge]')) {
      const key = edge.getAttribute('data-edge') ?? ''
      const [, event = '', to = ''] = key.split('|')
      if (edge.classList.contains('signal')) addTo(this.#signals, `${event}|${to}`, edge)
      else addTo(this.#edges, key, edge)
    }
    this.#resize()
  }

  /**
   * @param at the place of the window that stays where it is; the middle of what is seen without
   * one
   */
  #zoomTo(zoom: number | 'whole', at?: { readonly clientX: number; readonly clientY: number }): void {
    const { left, top, width, height } = this.#body.getBoundingClientRect()
    const [x, y] = at ? [at.clientX - left, at.clientY - top] : [width / 2, height / 2]
    const before = this.#scale()
    const place = [this.#body.scrollLeft + x, this.#body.scrollTop + y] as const
    this.#zoom = zoom === 'whole' ? zoom : Math.min(ZOOM.max, Math.max(ZOOM.min, zoom))
    this.#resize()
    const times = this.#scale() / before
    this.#body.scrollTo({ left: place[0] * times - x, top: place[1] * times - y, behavior: 'instant' })
  }

  #scale(): number {
    if (typeof this.#zoom === 'number') return this.#zoom
    const wide = this.#body.clientWidth / this.#size.width
    if (this.#zoom === 'whole') return Math.min(1, wide, this.#body.clientHeight / this.#size.height)
    return Math.min(1, Math.max(LEGIBLE, wide))
  }

  #resize(): void {
    if (!this.#picture) return
    const scale = this.#scale()
    setStyle(this.#picture, 'width', `${Math.floor(this.#size.width * scale)}px`)
    setStyle(this.#picture, 'height', `${Math.floor(this.#size.height * scale)}px`)
  }

  /**
   * Goes there once: what the user looks at meanwhile keeps its place until something else is to be
   * seen.
   */
  #followTo(state: string | undefined): void {
    if (state === this.#followed || !this.#follow.checked) return
    this.#followed = state
    this.#reveal(this.#states.get(state ?? ''))
  }

  /** Scrolls the chart, and nothing else. */
  #reveal(state: Element | undefined): void {
    if (!state) return
    const body = this.#body.getBoundingClientRect()
    const box = state.getBoundingClientRect()
    if (box.top >= body.top && box.bottom <= body.bottom && box.left >= body.left && box.right <= body.right) return
    this.#body.scrollBy({
      left: box.left + box.width / 2 - (body.left + body.width / 2),
      top: box.top + box.height / 2 - (body.top + body.height / 2),
      behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth',
    })
  }
}

function activeIn(view: View): readonly string[] {
  const root = [...view.actors.values()].find(({ parent, value }) => parent === undefined && value !== undefined)
  if (!root) return []
  const machine = root.machine ?? root.name
  return [...new Set([...activeStates(machine, root.value), ...settledStates(view, machine)])]
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
