import { fromPromise, setup } from 'xstate'
import {
  CUT_BY_OWN_LIMIT,
  CUT_STATE,
  type CutEvent,
  FAILED_STATE,
  OK,
  type OwnLimit,
  outputOfFinalState,
  type PhaseOutput,
} from './phase.ts'

const limitMs = ({ graceMs }: { readonly graceMs: number }): number => graceMs

/**
 * Says goodbye to the watches at the limiter's rate, so that their clients do not all reconnect in
 * the same instant, and waits for them until the grace is over; then what is left is terminated.
 * The grace is the user's own limit: a watch that was told and has used it up is no failure. One
 * that never was told, had no byte of an answer, or was in the middle of a transfer, is lost.
 * Without a grace every watch is told and none is waited for.
 * @see kubernetes/apimachinery pkg/util/waitgroup/ratelimited_waitgroup.go RateLimitedSafeWaitGroup
 */
export const watchDrainMachine = setup({
  types: {} as {
    input: { readonly graceMs: number }
    context: { readonly graceMs: number }
    events: CutEvent
    output: PhaseOutput
    meta: OwnLimit<{ readonly graceMs: number }>
  },
  actors: {
    drainWatches: fromPromise<{ readonly after: number }, { readonly graceMs: number }>(() => Promise.resolve({ after: 0 })),
    terminateWatches: fromPromise<{ readonly lost: number }>(() => Promise.resolve({ lost: 0 })),
  },
  delays: { grace: ({ context }) => limitMs(context) },
  guards: {
    hasGrace: ({ context }) => context.graceMs > 0,
    someLeft: ({ context }, { after }: { after: number }) => context.graceMs > 0 && after > 0,
    someLost: (_, { lost }: { lost: number }) => lost > 0,
  },
}).createMachine({
  id: 'watch-drain',
  meta: { limitMs },
  context: ({ input }) => input,
  initial: 'draining',
  states: {
    draining: {
      invoke: {
        id: 'drain-watches',
        src: 'drainWatches',
        input: ({ context }) => context,
        // The drain's own bound and the grace below are the same instant; whichever is seen first,
        // what is left is terminated.
        onDone: [{ guard: { type: 'someLeft', params: ({ event }) => event.output }, target: 'terminating' }, { target: 'drained' }],
        onError: 'failed',
      },
      after: { grace: { guard: 'hasGrace', target: 'terminating' } },
      on: { cut: 'cutting' },
    },
    terminating: {
      invoke: {
        id: 'terminate-watches',
        src: 'terminateWatches',
        onDone: [{ guard: { type: 'someLost', params: ({ event }) => event.output }, target: 'lost' }, { target: 'terminated' }],
        onError: 'failed',
      },
      on: { cut: 'cutting' },
    },
    cutting: {
      invoke: { id: 'terminate-watches-now', src: 'terminateWatches', onDone: 'cut', onError: 'cut' },
      on: { cut: 'cut' },
    },
    drained: { type: 'final', output: OK },
    terminated: { type: 'final', output: CUT_BY_OWN_LIMIT },
    lost: { type: 'final', output: lostOutput },
    ...CUT_STATE,
    ...FAILED_STATE,
  },
  output: outputOfFinalState,
})

/**
 * Costs what every cut costs, and says why: by its end alone the phase looks like one that has used
 * up its grace.
 */
function lostOutput({ event }: { event: unknown }): PhaseOutput {
  const { lost } = (event as { readonly output: { readonly lost: number } }).output
  const message = `${lost} lost at the end of the watch grace: never told to end, without a byte of an answer, or in the middle of a transfer`
  return { outcome: 'cut', error: { name: 'QuiesceError', code: 'ERR_TIMEOUT', message } }
}
