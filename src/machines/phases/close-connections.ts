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

const limitMs = ({ connectionTimeoutMs }: { readonly connectionTimeoutMs: number }): number => connectionTimeoutMs

/**
 * Lets the remaining connections close by themselves within the connection timeout, then closes them by force and names
 * them. What is left here has no request that we accepted: half-sent requests, clients that never close, upgraded sockets.
 * Upstream leaves such connections to the end of the process (V3).
 * @see kubernetes/apiserver pkg/server/secure_serving.go RunServer, its shutdown task
 */
export const closeConnectionsMachine = setup({
  types: {} as {
    input: { readonly connectionTimeoutMs: number }
    context: { readonly connectionTimeoutMs: number }
    events: CutEvent
    output: PhaseOutput
    meta: OwnLimit<{ readonly connectionTimeoutMs: number }>
  },
  actors: {
    lingerConnections: fromPromise<void>(() => Promise.resolve()),
    destroyConnections: fromPromise<void>(() => Promise.resolve()),
  },
  delays: { connectionTimeout: ({ context }) => limitMs(context) },
}).createMachine({
  id: 'close-connections',
  meta: { limitMs },
  context: ({ input }) => input,
  initial: 'lingering',
  states: {
    lingering: {
      invoke: { id: 'linger-connections', src: 'lingerConnections', onDone: 'closed', onError: 'failed' },
      after: { connectionTimeout: 'destroying' },
      on: { cut: 'cutting' },
    },
    destroying: {
      invoke: { id: 'destroy-connections', src: 'destroyConnections', onDone: 'destroyed', onError: 'failed' },
      on: { cut: 'cutting' },
    },
    cutting: {
      invoke: { id: 'destroy-connections-now', src: 'destroyConnections', onDone: 'cut', onError: 'cut' },
      on: { cut: 'cut' },
    },
    closed: { type: 'final', output: OK },
    destroyed: { type: 'final', output: CUT_BY_OWN_LIMIT },
    ...CUT_STATE,
    ...FAILED_STATE,
  },
  output: outputOfFinalState,
})
