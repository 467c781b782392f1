import { EXIT_CODES, EXIT_CODES_BY_SEVERITY } from '../machines/exit-codes.ts'
import type { Flag } from '../options/kit/flags.ts'
import type { FlagGroups } from './flag-groups.ts'

/** What there is to say about a command: help and completion are made of it. */
export interface CommandPage {
  /** The line in a list of commands. */
  readonly summary: string
  /** What stands on the command line without a flag. */
  readonly operands: string
  /** What such an operand may be; default: a file. */
  readonly operandChoices?: readonly string[]
  /** Command lines with what they do; the first one stands in the main help, too. */
  readonly examples: readonly (readonly [string, string])[]
  readonly about: string
  readonly flags: readonly Flag[]
  /** How they stand in help. Default: those of a server. */
  readonly groups?: FlagGroups
  /** Whether flags are settings as well, in the environment and in a file. */
  readonly hasSettings?: boolean
  readonly exitCodes: readonly (readonly [number, string])[]
}

/** The exit codes of a command that serves. */
export const EXIT_CODES_OF_A_LIFE: CommandPage['exitCodes'] = EXIT_CODES_BY_SEVERITY.map((code) => [code, EXIT_CODES[code]] as const)
