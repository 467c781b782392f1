import { fromPromise, setup } from 'xstate'
import { CUT_STATE, type CutEvent, FAILED_STATE, OK, type OwnLimit, outputOfFinalState, type PhaseOutput } from './phase.ts'

const limitMs = ({ lastCallMs }: { readonly lastCallMs: number }): number => lastCallMs

/**
 * Holds the connections that are idle and were never told to leave: a request may be on its way on
 * any of them, and would be lost if they closed now. What comes meanwhile is answered, and told;
 * when none is left that may bring one, or the time is over, what is idle is closed. Upstream
 * closes idle connections together with the listener (V22).
 */
export const lastCallMachine = setup({
  types: {} as {
    input: { readonly lastCallMs: number }
    context: { readonly lastCallMs: number }
    events: CutEvent
    output: PhaseOutput
    meta: OwnLimit<{ readonly lastCallMs: number }>
  },
  actors: {
    holdConnections: fromPromise<void, { readonly lastCallMs: number }>(() => Promise.resolve()),
    closeIdleConnections: fromPromise<void>(() => Promise.resolve()),
  },
  delays: { lastCall: ({ context }) => limitMs(context) },
}).createMachine({
  id: 'last-call',
  meta: { limitMs },
  context: ({ input }) => input,
  initial: 'holding',
  states: {
    holding: {
      invoke: { id: 'hold-connections', src: 'holdConnections', input: ({ context }) => context, onDone: 'closing', onError: 'closing' },
      after: { lastCall: 'closing' },
      on: { cut: 'cutting' },
    },
    closing: {
      invoke: { id: 'close-idle-connections', src: 'closeIdleConnections', onDone: 'complete', onError: 'failed' },
      on: { cut: 'cutting' },
    },
    cutting: {
      invoke: { id: 'close-idle-connections-now', src: 'closeIdleConnections', onDone: 'cut', onError: 'cut' },
      on: { cut: 'cut' },
    },
    complete: { type: 'final', output: OK },
    // Idle connections have nothing to lose: what is lost is counted where it is cut.
    cut: { type: 'final', output: (scope: { event: unknown }) => ({ ...CUT_STATE.cut.output(scope), exitCode: 0 }) },
    ...FAILED_STATE,
  },
  output: outputOfFinalState,
})
