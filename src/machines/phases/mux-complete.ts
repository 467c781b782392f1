import { type DoneActorEvent, enqueueActions, sendParent, setup } from 'xstate'
import { show } from '../../base/errors.ts'
import { type MuxSignalOutput, muxSignalMachine } from './mux-signal.ts'
import { OK, outputOfFinalState, type PhaseOutput, record } from './phase.ts'

/**
 * Waits for every mux-complete signal, a child for each, and is complete with the last of them. One
 * that fails never comes: the server serves on, and the exit code says that something failed (V19).
 *
 * A stop ends the phase, not the machine: what answers after it is late, and what has not answered
 * at `end` is left, by name. Both change nothing but what is said of them.
 * @see kubernetes/apiserver pkg/server/genericapiserver.go RunWithContext
 */
export interface MuxCompleteContext {
  /** The signals that have not answered, in the order of registration. */
  readonly waiting: readonly string[]
  readonly haveFailed: boolean
}

/**
 * The time in milliseconds after Serving from which a signal that is not there has a name in the
 * log.
 */
const OVERDUE_MS = 5_000

/** The id of a signal's actor, with its name behind. */
export const MUX_SIGNAL = 'mux-signal:'

/** The way on, as long as it may still be complete. */
const COMPLETE = { guard: 'isComplete', target: 'complete' } as const
const SETTLES = { 'xstate.done.actor.*': { actions: 'settle' } } as const

export const muxCompleteMachine = setup({
  types: {} as {
    input: { readonly signals: readonly string[] }
    context: MuxCompleteContext
    events: { readonly type: 'serving' } | { readonly type: 'stop' } | { readonly type: 'end' } | DoneActorEvent<MuxSignalOutput>
    output: PhaseOutput
  },
  actors: { muxSignal: muxSignalMachine },
  actions: {
    record,
    awaitAll: enqueueActions(({ context, enqueue }) => {
      for (const name of context.waiting) enqueue.spawnChild('muxSignal', { id: MUX_SIGNAL + name, input: { name } })
    }),
    settle: enqueueActions(({ context, event, enqueue }) => {
      const { actorId, output } = event as DoneActorEvent<MuxSignalOutput>
      const { state, error } = output
      const name = actorId.slice(MUX_SIGNAL.length)
      const what = `mux-complete signal ${name}`
      enqueue.stopChild(actorId)
      enqueue.assign({ waiting: context.waiting.filter((other) => other !== name), haveFailed: context.haveFailed || state === 'failed' })
      enqueue({ type: 'record', params: { type: 'mux-signal', name, state } })
      if (state === 'late')
        enqueue({ type: 'record', params: { type: 'late', what, answer: error ? 'rejected' : 'resolved', ...(error && { error }) } })
      if (state === 'failed' && error) {
        enqueue({ type: 'record', params: { type: 'error', where: what, error } })
        enqueue(sendParent({ type: 'mux-signal.failed' }))
      }
    }),
    /** What waits for it cannot be seen otherwise. */
    nameWaiting: enqueueActions(({ context, enqueue }) => {
      for (const name of context.waiting) {
        const message = `mux-complete signal ${show(name)} has not completed: until it does, MuxAndDiscoveryComplete does not fire, and an API server answers unknown paths with 503`
        enqueue({ type: 'record', params: { type: 'warning', message, details: { muxSignal: name } } })
      }
    }),
    passOn: enqueueActions(({ context, event: { type }, enqueue }) => {
      for (const name of context.waiting) enqueue.sendTo(MUX_SIGNAL + name, { type })
    }),
  },
  guards: {
    isComplete: ({ context }) => context.waiting.length === 0 && !context.haveFailed,
    isSettled: ({ context }) => context.waiting.length === 0,
  },
  delays: { overdue: OVERDUE_MS },
}).createMachine({
  id: 'mux-complete',
  context: ({ input }) => ({ waiting: input.signals, haveFailed: false }),
  entry: 'awaitAll',
  initial: 'unserved',
  states: {
    // Nothing asks for a path yet.
    unserved: { always: COMPLETE, on: { ...SETTLES, serving: 'served', stop: 'outlived' } },
    served: { always: COMPLETE, after: { overdue: 'overdue' }, on: { ...SETTLES, stop: { target: 'outlived', actions: 'nameWaiting' } } },
    overdue: { entry: 'nameWaiting', always: COMPLETE, on: { ...SETTLES, stop: 'outlived' } },
    outlived: {
      entry: 'passOn',
      always: { guard: 'isSettled', target: 'settled' },
      on: { ...SETTLES, end: { actions: 'passOn' } },
    },
    complete: { type: 'final', output: OK },
    settled: { type: 'final', output: { outcome: 'skipped' } },
  },
  output: outputOfFinalState,
})

/** What may run this machine, as much of it as is looked at. */
interface RunningRoot {
  getSnapshot(): { readonly children: Readonly<Record<string, { getSnapshot(): unknown } | undefined>> }
}

/** The mux-complete signals that a life waits for; none before Start. */
export function muxSignalsWaiting(root: RunningRoot | undefined): readonly string[] {
  const child = root?.getSnapshot().children[muxCompleteMachine.id]
  return child ? (child.getSnapshot() as { readonly context: MuxCompleteContext }).context.waiting : []
}
