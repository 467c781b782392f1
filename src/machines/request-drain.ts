import { fromPromise, setup } from 'xstate'
import { CUT_STATE, type CutEvent, FAILED_STATE, OK, outputOfFinalState, type PhaseOutput } from './phase.ts'

/**
 * Waits until every accepted request, and every piece of work that joined through `hold`, has finished. It has no limit
 * of its own, like upstream's; the budget's cut names what is left and tells it to stop.
 * @see kubernetes/apimachinery pkg/util/waitgroup/waitgroup.go SafeWaitGroup
 */
export const requestDrainMachine = setup({
  types: {} as { context: object; events: CutEvent; output: PhaseOutput },
  actors: {
    drainRequests: fromPromise<void>(() => Promise.resolve()),
    cutRequests: fromPromise<void>(() => Promise.resolve()),
  },
}).createMachine({
  id: 'request-drain',
  context: {},
  initial: 'draining',
  states: {
    draining: {
      invoke: { id: 'drain-requests', src: 'drainRequests', onDone: 'drained', onError: 'failed' },
      on: { cut: 'cutting' },
    },
    cutting: {
      invoke: { id: 'cut-requests', src: 'cutRequests', onDone: 'cut', onError: 'cut' },
      on: { cut: 'cut' },
    },
    drained: { type: 'final', output: OK },
    ...CUT_STATE,
    ...FAILED_STATE,
  },
  output: outputOfFinalState,
})
