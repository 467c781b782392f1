import { StateMachine } from 'xstate'
import { type Composition, composeLifecycle, effectiveWiring, type LifePlan } from '../machines/lifecycle.ts'
import { type Chart, chartOf } from './chart.ts'
import type { Layout } from './graph.ts'
import { type Lane, lifecyclePicture, regionsPicture } from './lifecycle-picture.ts'
import { machinePicture } from './machine-picture.ts'
import { lifecycleMermaid, machineMermaid, sequenceMermaid, wiringMermaid } from './mermaid.ts'
import { sequenceOf } from './sequence.ts'
import { sequenceSvg } from './sequence-svg.ts'
import { svgOf } from './svg.ts'
import { wiringPicture } from './wiring-picture.ts'

export { elkLayout } from './elk-layout.ts'

/**
 * Pictures of a life, read from its machines. Every one is a text that depends on nothing but the
 * plan: the same plan gives the same bytes.
 */

/**
 * The whole life as one SVG, without any library. Every state carries `data-state` with the id of
 * its state node, as in `lifecycle.running.stop.requested` or `request-drain.working`; every edge
 * `data-edge` with `<from id>|<event type>|<to id>`, for the transitions and, between the state
 * that raises a signal and those that hear it, for the signals. A page lights them by adding the
 * class `active` to a state and `taken` to an edge; the colours are CSS variables of the svg
 * element.
 * @throws QuiesceError as start() does for what does not fit together
 */
export function lifecycleSvg(composition: Composition): string {
  return svgOf({
    ...lifecyclePicture(chartOf(composeLifecycle(composition))),
    title: `A server's life (whileDraining: ${composition.mode})`,
  })
}

const LANE_TITLES: Readonly<Record<Lane, string>> = { start: 'what starts', stop: 'what stops', bounds: 'what bounds the end' }

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
  /** Of flowcharts and phase machines; without one they are laid out by simple rules. */
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
  const titles = {
    lifecycle: 'The whole life',
    wiring: 'Who waits for whom',
    sequence: 'One life from start to end',
  }
  const life = chartOf(composeLifecycle(plan))
  const machines = phaseCharts(plan)
  const machineTitle = (id: string) => `The machine ${id}`
  if (format === 'mermaid') {
    return [
      ...Object.entries(lifecycleMermaid(life)).map(([lane, text]) => ({
        name: `lifecycle-${lane}`,
        title: `${titles.lifecycle}: ${LANE_TITLES[lane as Lane]}`,
        text,
      })),
      { name: 'wiring', title: titles.wiring, text: wiringMermaid(wiring, plan.mode) },
      { name: 'sequence', title: titles.sequence, text: sequenceMermaid(moments) },
      ...machines.map(([id, chart]) => ({ name: `machines/${id}`, title: machineTitle(id), text: machineMermaid(chart) })),
    ]
  }
  return [
    { name: 'lifecycle', title: titles.lifecycle, text: lifecycleSvg(plan) },
    { name: 'wiring', title: titles.wiring, text: svgOf({ ...(await wiringPicture(wiring, plan.mode, layout)), title: titles.wiring }) },
    { name: 'sequence', title: titles.sequence, text: sequenceSvg(moments, titles.sequence) },
    ...regionGroups(plan).map(([name, regions, title]) => ({
      name: `machines/${name}`,
      title,
      text: svgOf({ ...regionsPicture(life, regions), title }),
    })),
    ...(await Promise.all(
      machines.map(async ([id, chart]) => ({
        name: `machines/${id}`,
        title: machineTitle(id),
        text: svgOf({ ...(await machinePicture(chart, layout)), title: machineTitle(id) }),
      })),
    )),
  ]
}

/**
 * Regions of the root that are worth a picture of their own, named after the files they come from.
 */
function regionGroups({ postStartHooks = [], userPhases = [] }: LifePlan): [string, readonly string[], string][] {
  return [
    ['region', ['bind', 'not-accepting', 'tell'], 'Three phases as regions: of the start lane, a join, of the stop lane'],
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
