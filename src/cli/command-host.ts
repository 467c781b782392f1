import type { Readable } from 'node:stream'
import { oneLine } from '../base/cells.ts'
import { QuiesceError } from '../base/errors.ts'
import type { ExitCode } from '../machines/exit-codes.ts'
import type { PlatformFacts } from '../platforms/platform.ts'
import type { SettingsSources } from './serving.ts'

/** The world of a command, so that tests can be one. */
export interface CommandHost {
  /** What is typed to run it: `quiesce`. */
  readonly program: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly facts: PlatformFacts
  readonly stdin: Readable
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number }
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean }
  /** Aborted by a stop signal: to `serve`, by one that comes before its server can hear it. */
  readonly earlyStop: AbortSignal
}

export const DONE: ExitCode = 0
const BAD_USAGE: ExitCode = 2

/**
 * What people try first: `-h`, `help` and `help COMMAND` mean what `--help` says, `-v`, `-V` and
 * `version` what `--version` does.
 */
const LONG: ReadonlyMap<string, string> = new Map([
  ['-h', '--help'],
  ['-v', '--version'],
  ['-V', '--version'],
])

/** The arguments, with `--help` and `--version` for whatever means the same. */
export function inLongWords(args: readonly string[]): readonly string[] {
  const long = args.map((arg) => LONG.get(arg) ?? arg)
  if (long[0] === 'version') return ['--version', ...long.slice(1)]
  return long[0] === 'help' ? [...long.slice(1), '--help'] : long
}

/** Where the settings of a command that serves come from. */
export async function sourcesOf({ env, facts, earlyStop }: CommandHost, args: readonly string[]): Promise<SettingsSources> {
  const { readConfigFile } = await import('./config-file.ts')
  const readConfig = async (path: string): Promise<unknown> => {
    try {
      return await readConfigFile(path, earlyStop)
    } catch (thrown) {
      // Stopped before it has its settings, the server only ends, and the flags say where its
      // report belongs.
      if (earlyStop.aborted) return {}
      throw thrown
    }
  }
  return { args, env, facts, readConfig }
}

/** What a command cannot use is one line for each problem; any other error is ours. */
export async function usable(host: CommandHost, command: () => Promise<number | undefined>): Promise<number | undefined> {
  try {
    return await command()
  } catch (thrown) {
    if (thrown instanceof QuiesceError && thrown.code !== 'ERR_INTERNAL') return refused(host, thrown.message.split('\n'))
    throw thrown
  }
}

/** What a command prints that does nothing else. */
export function printed(host: CommandHost, output: string): ExitCode {
  host.stdout.write(output)
  return DONE
}

/** One line for each problem, without what a terminal obeys: names are as they were written. */
export function refused({ program, stderr }: CommandHost, problems: readonly string[]): ExitCode {
  for (const problem of problems) stderr.write(`${program}: ${oneLine(problem)}\n`)
  return BAD_USAGE
}
