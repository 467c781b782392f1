import { type EventObject, fromCallback, setup } from 'xstate'
import type { ErrorRecord, MuxSignalState } from '../../base/events.ts'

/** What a mux-complete signal says of itself: that it is there, or will never be. */
export type MuxAnswer = { readonly type: 'complete' } | { readonly type: 'failed'; readonly error: ErrorRecord }

export interface MuxSignalOutput {
  readonly state: MuxSignalState
  /** The error of one that failed, in time or late. */
  readonly error?: ErrorRecord
}

/** What it is known by. */
export interface MuxSignalName {
  readonly name: string
}

/**
 * One mux-complete signal, from Start until it has answered or the life ends. An answer after
 * `stop` is late: nothing waits for it any more. One that has not answered by `end` was left.
 * @see kubernetes/apiserver pkg/server/genericapiserver.go muxAndDiscoveryCompleteSignals
 */
export const muxSignalMachine = setup({
  types: {} as {
    input: MuxSignalName
    context: MuxSignalName
    events: MuxAnswer | { readonly type: 'stop' } | { readonly type: 'end' }
    output: MuxSignalOutput
  },
  actors: { awaitMuxSignal: fromCallback<EventObject, MuxSignalName>(() => {}) },
}).createMachine({
  id: 'mux-signal',
  context: ({ input }) => input,
  invoke: { id: 'await-mux-signal', src: 'awaitMuxSignal', input: ({ context }) => context },
  initial: 'waiting',
  states: {
    waiting: { on: { complete: 'complete', failed: 'failed', stop: 'outlived' } },
    outlived: { on: { complete: 'late', failed: 'late', end: 'left' } },
    complete: { type: 'final', output: { state: 'complete' } },
    failed: { type: 'final', output: outputOf('failed') },
    late: { type: 'final', output: outputOf('late') },
    left: { type: 'final', output: { state: 'left' } },
  },
  output: ({ event }) => (event as unknown as { readonly output: MuxSignalOutput }).output,
})

function outputOf(state: MuxSignalState) {
  return ({ event }: { readonly event: unknown }): MuxSignalOutput => {
    const { error } = event as { readonly error?: ErrorRecord }
    return { state, ...(error && { error }) }
  }
}
