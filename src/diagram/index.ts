import { type AnyStateMachine, StateMachine } from 'xstate'
import { type Composition, composeLifecycle, effectiveWiring, type LifePlan } from '../machines/lifecycle.ts'
import type { Mode } from '../machines/wiring.ts'
import type { Chart } from './drawing/chart.ts'
import type { Layout } from './drawing/graph.ts'
import { LANE_TITLES, type Lane, lifecyclePicture, oneOfEachKind, regionsPicture } from './drawing/lifecycle-picture.ts'
import { svgOf } from './drawing/svg.ts'
import { machinePicture } from './machine-picture.ts'
import { lifecycleMermaid, machineMermaid, sequenceMermaid, wiringMermaid } from './mermaid.ts'
import { chartOf } from './read-chart.ts'
import { sequenceOf } from './sequence.ts'
import { sequenceSvg } from './sequence-svg.ts'
import { wiringPicture } from './wiring-picture.ts'

export { elkLayout } from './elk-layout.ts'

/**
 * Pictures of a life, read from its machines. Every one is a text that depends on nothing but the
 * plan: the same plan gives the same bytes.
 */

/** How new requests are refused, in a few words for every picture. */
const MODE_NOTES: Readonly<Record<Mode, string>> = {
  refuse: "whileDraining: 'refuse' · the listener is closed, then the requests are drained",
  'retry-after': "whileDraining: 'retry-after' · new requests are answered 429 until the others are drained, then the listener is closed",
}

/**
 * The whole life as one SVG, without any library, with every state of every region. Every state
 * carries `data-state` with the id of its state node, as in `lifecycle.running.stop.requested` or
 * `request-drain.working`; every edge `data-edge` with `<from id>|<event type>|<to id>`, for the
 * transitions and, between the state that raises a signal and those that hear it, for the signals.
 * The colours are CSS variables of the svg element.
 * @throws QuiesceError as start() does for what does not fit together
 */
export function lifecycleSvg(composition: Composition): string {
  const picture = lifecyclePicture(chartOf(composeLifecycle(composition)))
  return svgOf({ ...picture, title: TITLES.states, notes: [MODE_NOTES[composition.mode]] })
}

/**
 * What a page needs to draw the same by itself, as plain data.
 * @throws QuiesceError as start() does for what does not fit together
 */
export const lifecycleChart = (composition: Composition): Chart => chartOf(composeLifecycle(composition))

const MACHINE_NOTES = ['The same in both modes of whileDraining']

/** The picture that shows how phases look in general. */
const SAMPLES = 'region'

const TITLES = {
  lifecycle: 'The whole life',
  states: 'The whole life, with every state',
  wiring: 'Who waits for whom',
  sequence: 'One life from start to end',
}

export interface Diagram {
  /** Relative path of the file, without an extension. */
  readonly name: string
  /** What it shows, for an index. */
  readonly title: string
  readonly text: string
}

export type DiagramFormat = 'svg' | 'mermaid'

export interface DiagramOptions {
  readonly format: DiagramFormat
  /** The layout of flowcharts and phase machines; without one they are laid out by simple rules. */
  readonly layout?: Layout
}

/**
 * Everything there is to draw of a life: the whole, the dependencies between its phases, a walk
 * from start to end, and every phase machine.
 * @throws QuiesceError as start() does for what does not fit together
 */
export async function diagramsOf(plan: LifePlan, { format, layout }: DiagramOptions): Promise<readonly Diagram[]> {
  const moments = await sequenceOf(plan)
  const wiring = effectiveWiring(plan)
  const notes = [MODE_NOTES[plan.mode]]
  const life = chartOf(composeLifecycle(plan))
  const machines = phaseCharts(plan)
  if (format === 'mermaid') {
    return [
      ...Object.entries(lifecycleMermaid(life)).map(([lane, text]) => ({
        name: `lifecycle-${lane}`,
        title: `${TITLES.lifecycle}: ${LANE_TITLES[lane as Lane].toLowerCase()}`,
        text,
      })),
      { name: 'wiring', title: TITLES.wiring, text: wiringMermaid(wiring, plan.mode) },
      { name: 'sequence', title: TITLES.sequence, text: sequenceMermaid(moments) },
      ...machines.map(([id, chart]) => ({ name: `machines/${id}`, title: machineTitle(id), text: machineMermaid(chart) })),
    ]
  }
  const groups = regionGroups(plan)
  // A group of one region or of what is no phase shows all there is of it.
  const pictures = new Map(
    groups.filter(([name]) => name !== SAMPLES).flatMap(([name, regions]) => regions.map((region) => [region, `machines/${name}`])),
  )
  const whole = svgOf({
    ...lifecyclePicture(life, oneOfEachKind(life, pictures)),
    title: TITLES.lifecycle,
    notes: [...notes, 'One phase of each kind is open; lifecycle-states has all of them open.'],
  })
  const flow = svgOf({ ...(await wiringPicture(wiring, plan.mode, layout)), title: TITLES.wiring, notes })
  return [
    { name: 'lifecycle', title: TITLES.lifecycle, text: whole },
    { name: 'lifecycle-states', title: TITLES.states, text: lifecycleSvg(plan) },
    { name: 'wiring', title: TITLES.wiring, text: flow },
    { name: 'sequence', title: TITLES.sequence, text: sequenceSvg(moments, { title: TITLES.sequence, notes }) },
    ...groups.map(([name, regions, title]) => ({
      name: `machines/${name}`,
      title,
      text: svgOf({ ...regionsPicture(life, regions), title, notes }),
    })),
    ...(await Promise.all(
      machines.map(async ([id, chart]) => ({
        name: `machines/${id}`,
        title: machineTitle(id),
        text: svgOf({ ...(await machinePicture(chart, layout)), title: machineTitle(id), notes: MACHINE_NOTES }),
      })),
    )),
  ]
}

/** A machine that works outside of a life, as an SVG. */
export async function machineSvg(machine: AnyStateMachine, { notes, layout }: MachineSvgOptions): Promise<Diagram> {
  const title = machineTitle(machine.id)
  return { name: `machines/${machine.id}`, title, text: svgOf({ ...(await machinePicture(chartOf(machine), layout)), title, notes }) }
}

export interface MachineSvgOptions {
  /** Lines below the title. */
  readonly notes: readonly string[]
  readonly layout?: Layout
}

const machineTitle = (id: string): string => `The machine ${id}`

/**
 * Regions of the root that are worth a picture of their own, named after the files they come from.
 */
function regionGroups({ postStartHooks = [], userPhases = [] }: LifePlan): [string, readonly string[], string][] {
  return [
    [SAMPLES, ['bind', 'not-accepting', 'notify-clients'], 'Three phases as regions: of the start lane, a join, of the stop lane'],
    ['stop', ['start', 'stop', 'second-signal', 'crash'], 'What begins and ends a life'],
    ['budget', ['budget'], 'The budget of the end'],
    ...(postStartHooks.length > 0 ? [['post-start-hooks', ['post-start-hooks'], 'Post-start hooks'] as [string, string[], string]] : []),
    ...(userPhases.length > 0
      ? [['user-phases', userPhases.map(({ name }) => name), 'Phases of your own'] as [string, string[], string]]
      : []),
  ]
}

/** The machines that work for phases, and those that work for them, by their ids. */
function phaseCharts(plan: LifePlan): [string, Chart][] {
  const found = new Map<string, Chart>()
  const visit = (actors: Readonly<Record<string, unknown>>): void => {
    for (const logic of Object.values(actors)) {
      if (!(logic instanceof StateMachine) || found.has(logic.id)) continue
      found.set(logic.id, chartOf(logic))
      visit(logic.implementations.actors as Readonly<Record<string, unknown>>)
    }
  }
  visit(composeLifecycle(plan).implementations.actors as Readonly<Record<string, unknown>>)
  return [...found]
}
