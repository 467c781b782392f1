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

/** How many connections were closed whose clients had not had all of their answers. */
export interface ConnectionsLost {
  readonly lost: number
}

const NONE_LOST = {
  guard: { type: 'noneLost', params: ({ event }: { readonly event: { readonly output: ConnectionsLost } }) => event.output },
  target: 'destroyed',
} as const

/**
 * Lets the remaining connections close by themselves within the connection timeout, then closes
 * them by force and names them. Most that is left here loses nothing by it, and costs nothing:
 * half-sent requests, clients that never close, upgraded sockets. A client that has not been sent
 * all of its response by then has lost it, whichever limit it was. Upstream leaves such connections
 * to the end of the process (V3).
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
    destroyConnections: fromPromise<ConnectionsLost>(() => Promise.resolve({ lost: 0 })),
  },
  delays: { connectionTimeout: ({ context }) => limitMs(context) },
  guards: { noneLost: (_, left: ConnectionsLost | undefined) => left?.lost === 0 },
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
      invoke: { id: 'destroy-connections', src: 'destroyConnections', onDone: [NONE_LOST, { target: 'lost' }], onError: 'failed' },
      on: { cut: 'cutting' },
    },
    cutting: {
      invoke: { id: 'destroy-connections-now', src: 'destroyConnections', onDone: [NONE_LOST, { target: 'cut' }], onError: 'cut' },
      on: { cut: 'cut' },
    },
    closed: { type: 'final', output: OK },
    destroyed: { type: 'final', output: CUT_BY_OWN_LIMIT },
    lost: { type: 'final', output: lostOutput },
    ...CUT_STATE,
    ...FAILED_STATE,
  },
  output: outputOfFinalState,
})

/**
 * Costs what every cut costs, and says why: by its end alone the phase looks like one that has used
 * up its time.
 */
function lostOutput({ event }: { event: unknown }): PhaseOutput {
  const { lost } = (event as { readonly output: ConnectionsLost }).output
  const message = `${lost} closed at the end of the connection timeout before the client had all of its answer`
  return { outcome: 'cut', error: { name: 'QuiesceError', code: 'ERR_TIMEOUT', message } }
}
