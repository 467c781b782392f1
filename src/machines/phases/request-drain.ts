import { fromPromise, setup } from 'xstate'
import { CUT_STATE, type CutEvent, FAILED_STATE, OK, type OwnLimit, outputOfFinalState, type PhaseOutput } from './phase.ts'

const limitMs = (input: { readonly limitMs: number | undefined }): number | undefined => input.limitMs

/**
 * Waits until every accepted request, and every piece of work that joined through `hold`, has
 * finished. Like upstream's it has no limit of its own unless one is given; whichever is first,
 * that limit or the budget's cut, names what is left and tells it to stop. The limit bounds what
 * was accepted, so using it up costs as much as a cut.
 * @see kubernetes/apimachinery pkg/util/waitgroup/waitgroup.go SafeWaitGroup
 */
export const requestDrainMachine = setup({
  types: {} as {
    input: { readonly limitMs: number | undefined }
    context: { readonly limitMs: number | undefined }
    events: CutEvent
    output: PhaseOutput
    meta: OwnLimit<{ readonly limitMs: number | undefined }>
  },
  actors: {
    drainRequests: fromPromise<void>(() => Promise.resolve()),
    cutRequests: fromPromise<void>(() => Promise.resolve()),
    breakOffRequests: fromPromise<void>(() => Promise.resolve()),
  },
  delays: { limit: ({ context }) => limitMs(context) ?? 0 },
  guards: { isLimited: ({ context }) => context.limitMs !== undefined },
}).createMachine({
  id: 'request-drain',
  meta: { limitMs },
  context: ({ input }) => input,
  initial: 'beginning',
  states: {
    beginning: { always: [{ guard: 'isLimited', target: 'drainingWithin' }, { target: 'draining' }] },
    draining: {
      invoke: { id: 'drain-requests', src: 'drainRequests', onDone: 'drained', onError: 'failed' },
      on: { cut: 'cutting' },
    },
    drainingWithin: {
      invoke: { id: 'drain-requests', src: 'drainRequests', onDone: 'drained', onError: 'failed' },
      after: { limit: 'breakingOff' },
      on: { cut: 'cutting' },
    },
    breakingOff: {
      invoke: { id: 'break-off-requests', src: 'breakOffRequests', onDone: 'cut', onError: 'failed' },
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
