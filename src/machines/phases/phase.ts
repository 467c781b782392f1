import { type ErrorRecord, errorRecord, type LifecycleFact, type PhaseOutcome } from '../../base/events.ts'
import type { ExitCode } from '../exit-codes.ts'

/**
 * What the phase machines share: how a phase reports its end, how it is told of its cut, and the
 * one action through which a machine says what happened. Machines are pure: `record` does nothing
 * until the composition root provides it.
 */

/**
 * How a phase machine ended. `exitCode` overrides what the outcome alone would cost (4 for failed,
 * 5 for cut).
 */
export interface PhaseOutput {
  readonly outcome: PhaseOutcome
  readonly error?: ErrorRecord
  readonly exitCode?: ExitCode
}

/**
 * The budget's word to a phase: end now, in order. A phase that is ending already, and hears it
 * again at the next instant, ends without the rest of that, so that a cut which hangs costs the
 * later phases one gap and never their turn.
 */
export interface CutEvent {
  readonly type: 'cut'
}

/**
 * What a machine says; the one who writes it down adds the times, because machines have no clock.
 */
export type MachineFact =
  | Exclude<LifecycleFact, { type: 'hook.ended' | 'late' }>
  | Omit<Extract<LifecycleFact, { type: 'hook.ended' }>, 'durationMs'>
  | Omit<Extract<LifecycleFact, { type: 'late' }>, 'lateMs'>

/**
 * A phase's own limit, in milliseconds from its beginning, by what it is started with; undefined
 * for none. A phase machine states it once, and its delay, the progress, the report and the
 * pictures read it there.
 */
export interface OwnLimit<Input> {
  readonly limitMs: (input: Input) => number | undefined
}

/**
 * Default implementation of the `record` action: nothing. `provide({ actions: { record } })` makes
 * it speak.
 */
export const record = (_: unknown, _fact: MachineFact): void => {}

export const OK: PhaseOutput = { outcome: 'ok' }
/** The end of a phase of hooks some of which failed; each of them has said its error. */
export const FAILED: PhaseOutput = { outcome: 'failed' }
/**
 * Ended by a limit of its own that the user chose (a watch grace, a connection timeout), or cut
 * when nothing was left to lose: reported, but no failure.
 */
export const CUT_BY_OWN_LIMIT: PhaseOutput = { outcome: 'cut', exitCode: 0 }

/**
 * Final states that most phase machines end in; spread into `states`. An error during a cut is
 * attached; the outcome stays `cut`.
 */
export const CUT_STATE = {
  cut: {
    type: 'final',
    output: ({ event }: { event: unknown }): PhaseOutput => ({
      outcome: 'cut',
      ...(carriesError(event) && { error: errorRecord(event.error) }),
    }),
  },
} as const
export const FAILED_STATE = {
  failed: {
    type: 'final',
    output: ({ event }: { event: unknown }): PhaseOutput => ({
      outcome: 'failed',
      error: errorRecord((event as { error?: unknown }).error),
    }),
  },
} as const

const carriesError = (event: unknown): event is { readonly error: unknown } =>
  typeof event === 'object' && event !== null && 'error' in event

/** The machine's output is the output of the final state it ended in. */
export const outputOfFinalState = ({ event }: { event: unknown }): PhaseOutput => (event as { output: PhaseOutput }).output
