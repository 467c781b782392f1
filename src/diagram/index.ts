import { type Composition, composeLifecycle } from '../machines/lifecycle.ts'
import { chartOf } from './chart.ts'
import { elkLayout } from './elk-layout.ts'
import { lifecyclePicture } from './lifecycle-picture.ts'
import { svgOf } from './svg.ts'

/**
 * The whole life of a composition as one SVG. Every state carries `data-state` with the id of its state node, as in
 * `lifecycle.running.stop.requested` or `request-drain.working`; every edge `data-edge` with `<from id>|<event type>|<to id>`, for the
 * transitions and, between the state that raises a signal and those that hear it, for the signals. A page lights them by adding the
 * class `active` to a state and `taken` to an edge. Deterministic.
 */
export async function lifecycleSvg(composition: Composition): Promise<string> {
  const chart = chartOf(composeLifecycle(composition))
  return svgOf({ ...(await lifecyclePicture(chart, await elkLayout())), title: `A server's life (${composition.mode})` })
}
