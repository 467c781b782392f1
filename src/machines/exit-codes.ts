import type { PhaseOutcome } from '../base/events.ts'

/**
 * What a process tells its parent about its end. The most severe code wins and severity never
 * decreases, so that a clean destroy phase cannot hide a cut drain.
 */
export const EXIT_CODES = {
  0: 'graceful: everything ended by itself',
  4: 'ended in order, but something failed',
  5: 'something was cut before it was done, or lost',
  1: 'forced by a second signal or process.exit(), or a crash',
  3: 'could not start',
  2: 'bad usage or options',
  70: 'internal error of quiesce',
} as const

export type ExitCode = keyof typeof EXIT_CODES

/**
 * Mildest first. A number as object key would be reordered by JavaScript, hence a list of its own.
 */
export const EXIT_CODES_BY_SEVERITY = [0, 4, 5, 1, 3, 2, 70] as const satisfies readonly ExitCode[]

/** What the outcome of a phase costs when the phase does not say otherwise. */
export const exitCodeOfOutcome = (outcome: PhaseOutcome): ExitCode => (outcome === 'failed' ? 4 : outcome === 'cut' ? 5 : 0)

/** The more severe of two codes; a code against itself is that code. */
export const moreSevere = (a: ExitCode, b: ExitCode): ExitCode =>
  EXIT_CODES_BY_SEVERITY.indexOf(a) >= EXIT_CODES_BY_SEVERITY.indexOf(b) ? a : b

/** What an exit code means, for a person; codes that are not ours are named as such. */
export const exitCodeMeaning = (code: number): string =>
  Object.hasOwn(EXIT_CODES, code) ? EXIT_CODES[code as ExitCode] : 'not one of quiesce’s exit codes'
