import { fromPromise, setup } from 'xstate'
import { CUT_STATE, type CutEvent, FAILED_STATE, OK, type OwnLimit, outputOfFinalState, type PhaseOutput } from './phase.ts'

/**
 * Tells keep-alive clients to reconnect elsewhere, by `Connection: close` on their next response,
 * so that no connection has to be closed under a request. `gradual` reaches every response after
 * half of the delay, which leaves each client the other half for one more request; with no delay
 * there is no time to be gradual and every response carries it at once.
 */
export type NotifyClientsPlan =
  | { readonly how: 'gradual'; readonly delayMs: number }
  | { readonly how: 'at-once'; readonly delayMs: number }
  | { readonly how: 'after-delay'; readonly delayMs: number }

/** How long until every response tells. */
const limitMs = ({ how, delayMs }: NotifyClientsPlan): number => (how === 'gradual' ? delayMs / 2 : how === 'at-once' ? 0 : delayMs)

export const notifyClientsMachine = setup({
  types: {} as {
    input: NotifyClientsPlan
    context: NotifyClientsPlan
    events: CutEvent
    output: PhaseOutput
    meta: OwnLimit<NotifyClientsPlan>
  },
  actors: {
    beginNotifying: fromPromise<void, NotifyClientsPlan>(() => Promise.resolve()),
    completeNotifying: fromPromise<void>(() => Promise.resolve()),
  },
  delays: { ramp: ({ context }) => limitMs(context) },
}).createMachine({
  id: 'notify-clients',
  meta: { limitMs },
  context: ({ input }) => input,
  initial: 'ramping',
  states: {
    ramping: {
      invoke: { id: 'begin-notifying', src: 'beginNotifying', input: ({ context }) => context, onError: 'failed' },
      after: { ramp: 'completing' },
      on: { cut: 'cutting' },
    },
    completing: {
      invoke: { id: 'complete-notifying', src: 'completeNotifying', onDone: 'complete', onError: 'failed' },
      on: { cut: 'cutting' },
    },
    cutting: {
      invoke: { id: 'complete-notifying-now', src: 'completeNotifying', onDone: 'cut', onError: 'cut' },
      on: { cut: 'cut' },
    },
    complete: { type: 'final', output: OK },
    ...CUT_STATE,
    ...FAILED_STATE,
  },
  output: outputOfFinalState,
})
