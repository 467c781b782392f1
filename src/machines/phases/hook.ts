import { fromPromise, setup } from 'xstate'
import { formatDuration } from '../../base/duration.ts'
import type { HookKind } from '../../base/events.ts'
import { FAILED_STATE, OK, type OwnLimit, outputOfFinalState, type PhaseOutput } from './phase.ts'

/**
 * One piece of user code with a bound: it runs until it settles or its time is over. What it
 * answers after that is inert; the actor that runs it reports such a late answer.
 */
export interface HookPlan {
  readonly kind: HookKind
  readonly name: string
  readonly timeoutMs: number
}

export const hookLimitMs = ({ timeoutMs }: Pick<HookPlan, 'timeoutMs'>): number => timeoutMs

/** The words for what failed in the report of its error: a phase of the user's is a phase. */
const hookInWords = ({ kind, name }: HookPlan): string => (kind === 'phase' ? `phase ${name}` : `${kind} hook "${name}"`)

export const hookMachine = setup({
  types: {} as {
    input: HookPlan
    context: HookPlan
    output: PhaseOutput
    meta: OwnLimit<HookPlan>
  },
  actors: { runHook: fromPromise<void, HookPlan>(() => Promise.resolve()) },
  delays: { hookTimeout: ({ context }) => hookLimitMs(context) },
}).createMachine({
  id: 'hook',
  meta: { limitMs: hookLimitMs },
  context: ({ input }) => input,
  initial: 'running',
  states: {
    running: {
      invoke: { id: 'run-hook', src: 'runHook', input: ({ context }) => context, onDone: 'done', onError: 'failed' },
      after: { hookTimeout: 'timedOut' },
    },
    done: { type: 'final', output: OK },
    timedOut: {
      type: 'final',
      output: ({ context }) => ({
        outcome: 'failed',
        error: {
          name: 'QuiesceError',
          code: 'ERR_TIMEOUT',
          message: `${hookInWords(context)} did not end within ${formatDuration(context.timeoutMs)}`,
        },
      }),
    },
    ...FAILED_STATE,
  },
  output: outputOfFinalState,
})
