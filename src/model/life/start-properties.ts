import { type ActorView, broken, type Monitor } from '#model'
import { stateKey } from '../../machines/region.ts'
import type { Wiring } from '../../machines/wiring.ts'
import { signalOf } from './facts.ts'
import { placeOf, regionOf } from './life-views.ts'

export const startsBeforeStop = (): Monitor => ({
  initial: '',
  next: (stopped, effect) => {
    const signal = signalOf(effect)
    if (signal === 'Start' && stopped !== '') return broken('Start is said after StopRequested')
    return signal === 'StopRequested' ? 'stopped' : stopped
  },
})

/** Stated apart from the machines: docs/architecture.md, and V10 of docs/divergences.md. */
const START_BOUND_MS = 10_000
const ECHO_MS = 500

export function isStartBounded(wiring: Wiring): (root: ActorView) => true | string {
  const phases = Object.entries(wiring).flatMap(([phase, { lane, workKind, unbounded = false }]) =>
    lane === 'start' && workKind !== 'regions' ? [{ phase, bound: `startBound.lifecycle.running.${stateKey(phase)}`, unbounded }] : [],
  )
  return (root) => {
    const isPending = (event: string, ms: number): boolean =>
      root.timers.some((timer) => timer.event.type.startsWith(`xstate.after.${event}.`) && timer.delayMs === ms)
    if (regionOf(root, 'second-signal') === 'debouncing' && !isPending('signalDebounce', ECHO_MS))
      return `the echo of a signal is not waited for ${ECHO_MS} ms`
    if (['rejected', 'thrown'].includes(regionOf(root, 'crash') as string) && !isPending('crashDebounce', ECHO_MS))
      return `the echo of a crash is not waited for ${ECHO_MS} ms`
    for (const { phase, bound, unbounded } of phases)
      if (placeOf(root, phase) === 'working' && isPending(bound, START_BOUND_MS) === unbounded)
        return `${phase} has ${unbounded ? 'a' : 'no'} bound of ${START_BOUND_MS} ms`
    return true
  }
}
