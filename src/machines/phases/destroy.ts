import { assign, fromPromise, setup } from 'xstate'
import { type HookPlan, hookLimitMs, hookMachine } from './hook.ts'
import { CUT_STATE, type CutEvent, FAILED, FAILED_STATE, OK, outputOfFinalState, type PhaseOutput, record } from './phase.ts'

/**
 * Runs the destroy functions one after the other, each with its own bound, whatever the others did.
 * When the budget cuts it, the running one is aborted and the rest are started without being waited
 * for: every function is called in any case.
 * @see kubernetes/apiserver pkg/server/genericapiserver.go Destroy
 */
export interface DestroyContext {
  readonly queue: readonly HookPlan[]
  readonly haveFailed: boolean
}

/** A destroy function, in the order of registration among others. */
export interface PlannedDestroy extends HookPlan {
  /** Names of those that have to end first. Default: none. */
  readonly after?: readonly string[]
}

/** The order of destroy functions that name no other: as registered, or the last one first. */
export type DestroyOrder = 'registration' | 'reverse'

/**
 * The functions one after the other: each after those it names, and else in that order. Without
 * cycles, which registration refuses.
 */
export function destroySequence(functions: readonly PlannedDestroy[], order: DestroyOrder): PlannedDestroy[] {
  const byName = new Map(functions.map((fn) => [fn.name, fn]))
  const placed = new Set<PlannedDestroy>()
  const place = (fn: PlannedDestroy | undefined): void => {
    // A name that belongs to nothing was refused, or has been taken back.
    if (!fn || placed.has(fn)) return
    for (const name of fn.after ?? []) place(byName.get(name))
    placed.add(fn)
  }
  for (const fn of order === 'reverse' ? [...functions].reverse() : functions) place(fn)
  return [...placed]
}

const current = ({ queue }: DestroyContext): HookPlan => queue[0] as HookPlan

export const destroyMachine = setup({
  types: {} as {
    input: { readonly functions: readonly HookPlan[] }
    context: DestroyContext
    events: CutEvent
    output: PhaseOutput
  },
  actors: {
    hook: hookMachine,
    startRest: fromPromise<void, { readonly functions: readonly HookPlan[] }>(() => Promise.resolve()),
  },
  actions: {
    record,
    settle: assign(({ context }, { outcome }: PhaseOutput) => ({
      queue: context.queue.slice(1),
      haveFailed: context.haveFailed || outcome === 'failed',
    })),
  },
  guards: {
    allCalled: ({ context }) => context.queue.length === 0,
    someFailed: ({ context }) => context.queue.length === 0 && context.haveFailed,
  },
}).createMachine({
  id: 'destroy',
  context: ({ input }) => ({ queue: input.functions, haveFailed: false }),
  initial: 'choosing',
  states: {
    choosing: {
      always: [{ guard: 'someFailed', target: 'someFailed' }, { guard: 'allCalled', target: 'done' }, { target: 'running' }],
    },
    running: {
      entry: {
        type: 'record',
        params: ({ context }) => ({
          type: 'hook.started',
          kind: 'destroy',
          name: current(context).name,
          limitMs: hookLimitMs(current(context)),
        }),
      },
      invoke: {
        id: 'destroy-function',
        src: 'hook',
        input: ({ context }) => current(context),
        onDone: {
          target: 'choosing',
          actions: [
            {
              type: 'record',
              params: ({ context, event }) => ({
                type: 'hook.ended',
                kind: 'destroy',
                name: current(context).name,
                outcome: event.output.outcome,
                ...(event.output.error && { error: event.output.error }),
              }),
            },
            { type: 'settle', params: ({ event }) => event.output },
          ],
        },
        onError: 'failed',
      },
      on: {
        cut: {
          target: 'cutting',
          actions: {
            type: 'record',
            params: ({ context }) => ({ type: 'hook.ended', kind: 'destroy', name: current(context).name, outcome: 'cut' }),
          },
        },
      },
    },
    cutting: {
      invoke: {
        id: 'start-rest',
        src: 'startRest',
        input: ({ context }) => ({ functions: context.queue.slice(1) }),
        onDone: 'cut',
        onError: 'cut',
      },
      on: { cut: 'cut' },
    },
    done: { type: 'final', output: OK },
    someFailed: { type: 'final', output: FAILED },
    ...CUT_STATE,
    ...FAILED_STATE,
  },
  output: outputOfFinalState,
})
