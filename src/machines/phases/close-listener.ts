import { fromPromise, setup } from 'xstate'
import { CUT_STATE, type CutEvent, FAILED_STATE, OK, outputOfFinalState, type PhaseOutput } from './phase.ts'

/** How the listeners close. */
export interface ListenerClose {
  /** The time of the last call; without one they close at once. */
  readonly lastCallMs: number
}

/**
 * Closes the listeners. A closing listener resets every connection that the kernel has accepted and
 * node has not, so with a last call they are accepted first; the last of them and the close are one
 * step of the effect, because more may come whenever the event loop polls. Cut, the listeners close
 * at once.
 * @see kubernetes/apiserver pkg/server/secure_serving.go RunServer, its shutdown task
 */
export const closeListenerMachine = setup({
  types: {} as {
    input: ListenerClose
    context: ListenerClose
    events: CutEvent
    output: PhaseOutput
  },
  actors: {
    acceptThenClose: fromPromise<void, ListenerClose>(() => Promise.resolve()),
    closeListenerNow: fromPromise<void>(() => Promise.resolve()),
  },
}).createMachine({
  id: 'close-listener',
  context: ({ input }) => input,
  initial: 'accepting',
  states: {
    accepting: {
      invoke: { id: 'accept-then-close', src: 'acceptThenClose', input: ({ context }) => context, onDone: 'closed', onError: 'failed' },
      on: { cut: 'cutting' },
    },
    cutting: {
      invoke: { id: 'close-listener-now', src: 'closeListenerNow', onDone: 'cut', onError: 'cut' },
      on: { cut: 'cut' },
    },
    closed: { type: 'final', output: OK },
    ...CUT_STATE,
    ...FAILED_STATE,
  },
  output: outputOfFinalState,
})
