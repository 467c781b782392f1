import { fromPromise, setup } from 'xstate'
import { CUT_STATE, type CutEvent, FAILED_STATE, OK, outputOfFinalState, type PhaseOutput } from './phase.ts'

/**
 * Waits for handlers that still run, above all those whose response is gone because the client left or a timeout answered
 * for them: they may still use what the destroy functions are about to take away. Upstream does not wait for them (V8).
 */
export const handlersMachine = setup({
  types: {} as { context: object; events: CutEvent; output: PhaseOutput },
  actors: {
    waitForHandlers: fromPromise<void>(() => Promise.resolve()),
    nameHandlers: fromPromise<void>(() => Promise.resolve()),
  },
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
      invoke: { id: 'name-handlers', src: 'nameHandlers', onDone: 'cut', onError: 'cut' },
      on: { cut: 'cut' },
    },
    done: { type: 'final', output: OK },
    ...CUT_STATE,
    ...FAILED_STATE,
  },
  output: outputOfFinalState,
})
