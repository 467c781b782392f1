import { broken, type Monitor } from '#model'
import type { Consequence } from '../../base/events.ts'
import type { SignalName } from '../../machines/signals.ts'
import { factOf } from './facts.ts'

/**
 * What each signal has to lead to outside the machines: stated here apart from `on-signal.ts`,
 * which is what is checked.
 */
const OWED: Readonly<Record<Consequence, SignalName>> = {
  // A hook that is added later would never be launched.
  closePostStartHooks: 'Serving',
  resolveStart: 'PostStartHooksLaunched',
  // A hook that is added later would not be waited for.
  closePreShutdownHooks: 'StopRequested',
  countFates: 'ShutdownInitiated',
  // @see kubernetes/apiserver pkg/server/config.go DefaultBuildHandlerChain: what refuses asks
  // NotAcceptingNewRequest
  stopAccepting: 'NotAcceptingNewRequest',
}
const owedBy = (signal: string): Consequence | undefined =>
  (Object.keys(OWED) as Consequence[]).find((consequence) => OWED[consequence] === signal)

/** A signal does what it owes, in its own step, and nothing else. */
export const doesWhatItOwes = (): Monitor => ({
  initial: '',
  next: (state, effect) => {
    const fact = factOf(effect)
    if (fact?.type !== 'signal') return state
    const owed = owedBy(fact.name)
    return fact.does === owed ? state : broken(`${fact.name} does ${fact.does ?? 'nothing'}, and owes ${owed ?? 'nothing'}`)
  },
  concerns: (effect) => factOf(effect)?.type === 'signal',
})
