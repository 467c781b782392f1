import type { LifecycleInEvent } from '../../machines/vocabulary.ts'

/** What may come from outside, by short names. */
export const OUTSIDE = {
  start: { type: 'start' },
  'start-refused': { type: 'start.refused', error: { name: 'Error', message: 'refused' } },
  stop: { type: 'stop.requested', reason: { kind: 'stop', reason: 'model' } },
  'stop-now': { type: 'stop.now', reason: 'model' },
  signal: { type: 'process.signalled', signal: 'SIGTERM', interactive: false },
  'ctrl-c': { type: 'process.signalled', signal: 'SIGINT', interactive: true },
  crash: { type: 'process.crashed', origin: 'uncaughtException', error: { name: 'Error', message: 'crash' } },
  rejection: { type: 'process.crashed', origin: 'unhandledRejection', error: { name: 'Error', message: 'rejection' } },
  'listener-death': { type: 'listener.died', address: 'listener', error: { name: 'Error', message: 'listener died' } },
  ready: { type: 'readyz.passed' },
  'work-left': { type: 'work.left', exitCode: 5 },
} as const satisfies Readonly<Record<string, LifecycleInEvent>>

/**
 * What may come from outside: `start()` and its refusal, `stop()`, a stop that means now, an OS
 * signal, Ctrl-C, a crash by an exception or by a rejection, the death of a listener, a passing
 * `/readyz`, work that the end of the process cuts.
 */
export type OutsideEvent = keyof typeof OUTSIDE
export const OUTSIDE_EVENTS = Object.keys(OUTSIDE) as readonly OutsideEvent[]
