import { LifeChart, type Lights } from '../chart/life-chart.ts'
import { activeStates, settledStates, statusOfPhase, workingPhases } from '../core/states.ts'
import { edgeKey, type View } from '../core/view.ts'
import { element, setText } from '../dom.ts'
import type { Frame, Panel } from '../frame.ts'
import type { Chart } from '../quiesce.ts'
import { route } from '../source.ts'

const OF_A_REPORT = 'A report has no machines: how each phase has ended is shown, but no states.'

/** The statechart of the root machine: how its regions stand, and what has just happened. */
export class ChartPanel implements Panel {
  readonly #follow = element<HTMLInputElement>('chart-follow')
  readonly #note = element('chart-note')
  readonly #chart = new LifeChart(element('chart-body'), element('chart'))
  #followed = ''
  #shown: Pick<View, 'taken' | 'lastTaken' | 'actors' | 'phases'> | undefined

  constructor() {
    element('chart-smaller').addEventListener('click', () => this.#chart.smaller())
    element('chart-larger').addEventListener('click', () => this.#chart.larger())
    element('chart-fit').addEventListener('click', () => this.#chart.viewport.fit())
    this.#follow.addEventListener('change', () => {
      this.#followed = ''
      this.#shown = undefined
    })
  }

  /** Gets the picture, or says why there is none; the rest of the page does without. */
  async load(): Promise<void> {
    if (!this.#chart.isEmpty) return
    try {
      const response = await fetch(route('chart.json'))
      if (!response.ok) throw new Error((await response.text()).trim() || String(response.status))
      this.#chart.put((await response.json()) as Chart)
      this.#shown = undefined
      setText(this.#note, '')
    } catch (error) {
      setText(this.#note, `There is no picture: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  draw({ view }: Frame): void {
    const shown = this.#shown
    const { taken, lastTaken, actors, phases } = view
    if (this.#chart.isEmpty) return
    if (shown?.taken === taken && shown.lastTaken === lastTaken && shown.actors === actors && shown.phases === phases) return
    this.#shown = { taken, lastTaken, actors, phases }
    setText(this.#note, view.opening?.source === 'report' ? OF_A_REPORT : '')
    this.#chart.light(lightsOf(view))
    this.#followTo(followed(view))
  }

  /**
   * Goes there once: what the user looks at meanwhile keeps its place until something else is to be
   * seen.
   */
  #followTo(regions: readonly string[]): void {
    const key = regions.join()
    if (key === this.#followed || key === '' || !this.#follow.checked) return
    this.#followed = key
    this.#chart.reveal(regions)
  }
}

/** What works; while nothing does, the phase that the last step led to. */
function followed(view: View): readonly string[] {
  const working = workingPhases(view)
  if (working.length > 0) return working
  const targets = view.lastTaken.flatMap(({ to = '' }) => [...view.phases.keys()].filter((phase) => to.includes(`.${phase}.`)))
  return targets.slice(-1)
}

function lightsOf(view: View): Lights {
  const root = [...view.actors.values()].find(({ parent, value }) => parent === undefined && value !== undefined)
  const machine = root?.machine ?? root?.name ?? 'lifecycle'
  const active = [...new Set([...(root ? activeStates(machine, root.value) : []), ...settledStates(view, machine)])]
  const regions = new Map<string, { workStatus: string | undefined; now: string | undefined }>()
  const states = new Map<string, readonly string[]>()
  for (const id of active) {
    const [region, now] = partsOf(id)
    const workStatus = statusOfPhase(view, id)
    states.set(id, workStatus === undefined ? ['active'] : ['active', workStatus])
    regions.set(region, { workStatus, now })
  }
  // A report says how phases have ended, and nothing of states.
  for (const { name, workStatus } of view.phases.values()) {
    if (!regions.has(name)) regions.set(name, { workStatus, now: undefined })
  }
  const edges = new Map<string, readonly string[]>([...view.taken].map((key) => [key, ['taken']]))
  for (const edge of view.lastTaken) edges.set(edgeKey(edge), ['taken', 'latest'])
  return { regions, states, edges }
}

/** `lifecycle.running.notify-clients.working` is `working` in the region `notify-clients`. */
function partsOf(id: string): readonly [region: string, now: string] {
  const [, , region = '', ...inner] = id.split('.')
  return [region, inner.join('.')]
}
