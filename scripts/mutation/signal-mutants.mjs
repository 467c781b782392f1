// @ts-check
// Mutants of what signals lead to outside the machines: a consequence that is missing, or that
// hangs on another signal.
import { ON_SIGNAL } from '../../build/src/machines/on-signal.js'

/** @typedef {import('../../build/src/machines/on-signal.js').OnSignal} OnSignal */

/** Signals with no consequence of their own, one of each lane. */
const OTHERS = /** @type {const} */ (['Bound', 'AfterShutdownDelayDuration'])

/** @returns {{ operator: string, site: string, onSignal: OnSignal }[]} */
export function signalMutants() {
  const entries = Object.entries(ON_SIGNAL)
  const without = (/** @type {string} */ signal) => Object.fromEntries(entries.filter(([other]) => other !== signal))
  return entries.flatMap(([signal, consequence]) => [
    { operator: 'consequence dropped', site: `on-signal ${signal}`, onSignal: without(signal) },
    ...OTHERS.map((other) => ({
      operator: 'consequence of another signal',
      site: `on-signal ${signal}: ${other}`,
      onSignal: { ...without(signal), [other]: consequence },
    })),
  ])
}
