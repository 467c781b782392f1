import { setup } from 'xstate'
import { CUT_STATE, type CutEvent, OK, outputOfFinalState, type PhaseOutput } from './phase.ts'

/**
 * Serves on for the configured delay, so that load balancers see the red readiness before anything is refused.
 * Only the budget can cut it short.
 * @see kubernetes/apiserver pkg/server/config.go Config.ShutdownDelayDuration
 */
export const shutdownDelayMachine = setup({
  types: {} as {
    input: { readonly delayMs: number }
    context: { readonly delayMs: number }
    events: CutEvent
    output: PhaseOutput
  },
  delays: { shutdownDelay: ({ context }) => context.delayMs },
}).createMachine({
  id: 'shutdown-delay',
  context: ({ input }) => input,
  initial: 'delaying',
  states: {
    delaying: { after: { shutdownDelay: 'elapsed' }, on: { cut: 'cut' } },
    elapsed: { type: 'final', output: OK },
    ...CUT_STATE,
  },
  output: outputOfFinalState,
})
