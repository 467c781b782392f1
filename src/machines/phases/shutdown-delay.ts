import { setup } from 'xstate'
import { CUT_STATE, type CutEvent, OK, type OwnLimit, outputOfFinalState, type PhaseOutput } from './phase.ts'

const limitMs = ({ delayMs }: { readonly delayMs: number }): number => delayMs

/**
 * Serves on for the configured delay, so that load balancers see the red readiness before anything
 * is refused. Only the budget can cut it short.
 * @see kubernetes/apiserver pkg/server/config.go Config.ShutdownDelayDuration
 */
export const shutdownDelayMachine = setup({
  types: {} as {
    input: { readonly delayMs: number }
    context: { readonly delayMs: number }
    events: CutEvent
    output: PhaseOutput
    meta: OwnLimit<{ readonly delayMs: number }>
  },
  delays: { shutdownDelay: ({ context }) => limitMs(context) },
}).createMachine({
  id: 'shutdown-delay',
  meta: { limitMs },
  context: ({ input }) => input,
  initial: 'delaying',
  states: {
    delaying: { after: { shutdownDelay: 'elapsed' }, on: { cut: 'cut' } },
    elapsed: { type: 'final', output: OK },
    ...CUT_STATE,
  },
  output: outputOfFinalState,
})
