import { fromPromise, setup } from 'xstate'
import { CUT_BY_OWN_LIMIT, CUT_STATE, type CutEvent, FAILED_STATE, OK, outputOfFinalState, type PhaseOutput } from './phase.ts'

/**
 * How many were certain to run at the cut. The others that were left may be over although they have
 * not said so.
 */
export interface HandlersLeft {
  readonly running: number
}

/**
 * Waits for handlers that still run, above all those whose response is gone because the client left
 * or a timeout answered for them: they may still use what the destroy functions are about to take
 * away. Upstream does not wait for them (V8).
 *
 * A cut costs the exit code of one only when a handler was certain to run: see
 * docs/decisions/0015-a-handler-whose-client-has-left.md
 */
export const handlersMachine = setup({
  types: {} as { context: object; events: CutEvent; output: PhaseOutput },
  actors: {
    waitForHandlers: fromPromise<void>(() => Promise.resolve()),
    nameHandlers: fromPromise<HandlersLeft>(() => Promise.resolve({ running: 1 })),
  },
  guards: { noneRuns: (_, left: HandlersLeft | undefined) => left?.running === 0 },
}).createMachine({
  id: 'handlers',
  context: {},
  initial: 'running',
  states: {
    running: {
      invoke: { id: 'wait-for-handlers', src: 'waitForHandlers', onDone: 'done', onError: 'failed' },
      on: { cut: 'cutting' },
    },
    cutting: {
      invoke: {
        id: 'name-handlers',
        src: 'nameHandlers',
        onDone: [{ guard: { type: 'noneRuns', params: ({ event }) => event.output }, target: 'givenUp' }, { target: 'cut' }],
        onError: 'cut',
      },
      on: { cut: 'cut' },
    },
    done: { type: 'final', output: OK },
    givenUp: { type: 'final', output: CUT_BY_OWN_LIMIT },
    ...CUT_STATE,
    ...FAILED_STATE,
  },
  output: outputOfFinalState,
})
