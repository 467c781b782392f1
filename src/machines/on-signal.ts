import type { Consequence } from '../base/events.ts'
import type { SignalName } from './signals.ts'

/**
 * What is done outside the machines in the very step in which a signal fires: flags and lists that
 * requests and registrations read, so that nothing comes between the signal and its consequence.
 * What may fail or take time is the work of a phase instead.
 */
export const CONSEQUENCES: Readonly<Record<Consequence, string>> = {
  closePostStartHooks: 'no post-start hook is taken any more',
  resolveStart: 'start() resolves',
  closePreShutdownHooks: 'no pre-shutdown hook is taken any more',
  countFates: 'how connections end is counted',
  stopAccepting: 'new requests are refused',
}

/** The consequences of signals, at most one for each. */
export type OnSignal = Readonly<Partial<Record<SignalName, Consequence>>>

export const ON_SIGNAL = {
  Serving: 'closePostStartHooks',
  PostStartHooksLaunched: 'resolveStart',
  StopRequested: 'closePreShutdownHooks',
  ShutdownInitiated: 'countFates',
  NotAcceptingNewRequest: 'stopAccepting',
} as const satisfies OnSignal

/** This line does not compile when a consequence has no signal. */
const allHaveASignal: Consequence extends (typeof ON_SIGNAL)[keyof typeof ON_SIGNAL] ? true : never = true
void allHaveASignal
