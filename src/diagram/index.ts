import { type Composition, composeLifecycle } from '../machines/lifecycle.ts'
import { chartOf } from './chart.ts'
import { lifecyclePicture } from './lifecycle-picture.ts'
import { svgOf } from './svg.ts'

/**
 * The whole life of a composition as one SVG. Every state carries `data-state` with the id of its state node, as in
 * `lifecycle.running.stop.requested` or `request-drain.working`; every edge `data-edge` with `<from id>|<event type>|<to id>`, for the
 * transitions and, between the state that raises a signal and those that hear it, for the signals. A page lights them by adding the
 * class `active` to a state and `taken` to an edge. Deterministic.
 */
export function lifecycleSvg(composition: Composition): string {
  const chart = chartOf(composeLifecycle(composition))
  return svgOf({ ...lifecyclePicture(chart), title: `A server's life (${composition.mode})` })
}
