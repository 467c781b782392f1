import type { AnyActorRef } from 'xstate'
import type { Consequence, ErrorRecord, StopReason } from '../base/events.ts'
import type { StopProfiles } from '../base/stop-profile.ts'
import { raiseEvent, type StateConfig, say } from './region.ts'
import type { InternalEvent, LifecycleContext, LifecycleInEvent } from './vocabulary.ts'

/**
 * Everything that asks for the end. The first asker wins and its reason stands in the report; later
 * ones change nothing, except those that mean "now": a second OS signal, a second crash, and a
 * program that says so.
 */
type Asker =
  | LifecycleInEvent
  | { readonly type: 'StartFailed'; readonly phase: string; readonly error: ErrorRecord }
  | { readonly type: 'PostStartHookFailed'; readonly hook: string; readonly error: ErrorRecord }

interface Why {
  readonly reason: StopReason
  readonly profile: keyof StopProfiles
}

/**
 * Why an event ends the life, and by which profile of delays. Pure data in, pure data out: the
 * whole rule stands here.
 */
export function stopReason(event: Asker): Why {
  switch (event.type) {
    case 'stop.requested':
      return { reason: event.reason, profile: 'default' }
    case 'process.signalled':
      return { reason: { kind: 'os-signal', signal: event.signal }, profile: event.interactive ? 'interactive' : 'default' }
    case 'process.crashed':
      return { reason: { kind: 'crash', origin: event.origin, error: event.error }, profile: 'crash' }
    case 'listener.died':
      return { reason: { kind: 'listener-died', address: event.address, error: event.error }, profile: 'default' }
    case 'StartFailed':
      return { reason: { kind: 'start-failed', phase: event.phase, error: event.error }, profile: 'startFailed' }
    case 'PostStartHookFailed':
      return { reason: { kind: 'hook-failed', hook: event.hook, error: event.error }, profile: 'default' }
    default:
      throw new Error(`${event.type} does not end a life`)
  }
}

interface Args {
  readonly context: LifecycleContext
  readonly event: Asker
}

const becauseOf = ({ context, event }: Args) => {
  const { reason, profile } = stopReason(event)
  return { reason, profile: ('profile' in event && event.profile) || context.profiles[profile] }
}
const stopBy = (does: Consequence | undefined, exitCode: 0 | 4) => ({
  target: 'requested',
  actions: [
    { type: 'worsen', params: { exitCode } },
    { type: 'requestStop', params: becauseOf },
    say(({ context }) => ({
      type: 'signal',
      name: 'StopRequested',
      outcome: 'ok',
      ...(does && { does }),
      ...(context.stop && { reason: context.stop.reason, budget: context.stop.profile }),
    })),
    raiseEvent({ type: 'StopRequested' }),
  ],
})

/**
 * The life begins on the outside's word, so that a stop can come before it: then nothing is
 * acquired at all.
 */
export const startRegion: StateConfig = {
  id: 'start',
  initial: 'idle',
  states: {
    idle: {
      on: {
        start: { target: 'started', actions: [say({ type: 'signal', name: 'Start', outcome: 'ok' }), raiseEvent({ type: 'Start' })] },
        'start.refused': {
          target: 'refused',
          actions: [
            { type: 'worsen', params: { exitCode: 3 } },
            raiseEvent(({ event }) => ({ type: 'StartFailed', phase: 'start', error: event.error as ErrorRecord })),
          ],
        },
        StopRequested: 'skipped',
      },
    },
    refused: {},
    started: {},
    skipped: {},
  },
}

type Of<T extends LifecycleInEvent['type']> = Extract<LifecycleInEvent, { readonly type: T }>
const stopNow = ({ event }: { readonly event: object }): InternalEvent => ({ type: 'StopNow', reason: (event as Of<'stop.now'>).reason })

/** @param does what is done when StopRequested fires */
export const stopRegion = (does: Consequence | undefined): StateConfig => ({
  id: 'stop',
  initial: 'living',
  states: {
    living: {
      on: {
        'stop.requested': stopBy(does, 0),
        'process.signalled': stopBy(does, 0),
        // The crash region makes the exit code 1, the failed start row has made it 3.
        'process.crashed': stopBy(does, 0),
        StartFailed: stopBy(does, 0),
        'listener.died': stopBy(does, 4),
        PostStartHookFailed: stopBy(does, 4),
        // Only until then: what a stop has is decided once.
        'budget.changed': { actions: 'replaceProfiles' },
      },
    },
    requested: { on: { 'stop.now': { actions: raiseEvent(stopNow) } } },
  },
})

const secondSignal = ({ event }: { readonly event: object }): InternalEvent => ({
  type: 'SecondSignal',
  signal: (event as Of<'process.signalled'>).signal,
})
const secondCrash = ({ event }: { readonly event: object }): InternalEvent => ({
  type: 'SecondCrash',
  error: (event as Of<'process.crashed'>).error,
})

/**
 * A state of the region `second-signal`: no signal has come, one has, another ends the life now.
 */
export type SecondSignalState = 'none' | 'debouncing' | 'armed'

/** How the region `second-signal` of a life stands; undefined before the life begins. */
export function secondSignalOf(root: AnyActorRef | undefined): SecondSignalState | undefined {
  const { value } = (root?.getSnapshot() ?? {}) as { value?: { running?: { 'second-signal'?: SecondSignalState } } }
  return value?.running?.['second-signal']
}

/**
 * The second OS signal means "now" (V10); the same signal delivered twice by a forwarding parent
 * does not.
 */
export const secondSignalRegion: StateConfig = {
  id: 'second-signal',
  initial: 'none',
  states: {
    none: { on: { 'process.signalled': 'debouncing' } },
    debouncing: { after: { signalDebounce: 'armed' } },
    armed: { on: { 'process.signalled': { actions: raiseEvent(secondSignal) } } },
  },
}

const costsOne = { type: 'worsen', params: { exitCode: 1 } }

/**
 * A crash costs exit code 1 whenever it comes; a second one leaves nothing to trust and ends the
 * process at once. One defect often crashes twice in the same tick, as when two requests wait for
 * the same promise: within 500 ms of the first, what comes the same way is that defect again, and
 * cuts off no one. What comes the other way, or later, is a second crash (V10).
 */
export const crashRegion: StateConfig = {
  id: 'crash',
  initial: 'none',
  states: {
    none: {
      on: {
        'process.crashed': [
          { guard: 'isRejection', target: 'rejected', actions: costsOne },
          { target: 'thrown', actions: costsOne },
        ],
      },
    },
    rejected: {
      after: { crashDebounce: 'armed' },
      on: { 'process.crashed': { guard: 'isException', actions: raiseEvent(secondCrash) } },
    },
    thrown: {
      after: { crashDebounce: 'armed' },
      on: { 'process.crashed': { guard: 'isRejection', actions: raiseEvent(secondCrash) } },
    },
    armed: { on: { 'process.crashed': { actions: raiseEvent(secondCrash) } } },
  },
}
