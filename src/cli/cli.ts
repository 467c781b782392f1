import { didYouMean } from '../base/did-you-mean.ts'
import { QuiesceError } from '../base/errors.ts'
import type { ExitCode } from '../machines/exit-codes.ts'
import { packageJson } from '../process/package-file.ts'
import { COMMANDS, type CommandName, isCommand } from './command-names.ts'
import type { CliHost } from './host.ts'
import type { SettingsSources } from './serving.ts'

const OK: ExitCode = 0
const BAD_USAGE: ExitCode = 2

/**
 * Runs a command line. Resolves with its exit code, or undefined when the command has set it.
 * Everything is loaded by the command that needs it.
 */
export async function runCli(host: CliHost): Promise<number | undefined> {
  const [command, ...args] = inLongWords(host.args)
  if (isCommand(command) && args.includes('--help')) return printed(host, (await import('./help.ts')).commandHelp(command))
  if (args.includes('--version') || command === '--version') return printed(host, `${packageJson().version}\n`)
  if (args.includes('--help') || command === '--help') return printed(host, (await import('./help.ts')).mainHelp())
  if (isCommand(command)) return usable(host, () => RUN[command](host, args))
  if (command === undefined) return refused(host, [`no command, allowed: ${COMMANDS.join(', ')}; see quiesce --help`])
  if (command.startsWith('-')) return refused(host, [`${command}: unknown flag, see quiesce --help`])
  return refused(host, [`${command}: unknown command${didYouMean(command, COMMANDS) || ', see quiesce --help'}`])
}

type Run = (host: CliHost, args: readonly string[]) => Promise<number | undefined>

const RUN: Readonly<Record<CommandName, Run>> = {
  run: (host, args) => runCommand(host, args),
  serve: (host, args) => serveCommand(host, args),
  apiserver: (host, args) => apiserverCommand(host, args),
  check: async (host, args) => (await import('./check.ts')).checkCommand(host, args),
  plan: async (host, args) => (await import('./plan.ts')).planCommand(host, args),
  diagram: async (host, args) => (await import('./diagram.ts')).diagramCommand(host, args),
  inspect: async (host, args) => (await import('./inspect.ts')).inspectCommand(host, args),
  report: async (host, args) => (await import('./report.ts')).reportCommand(host, args),
  completion: async (host, args) => (await import('./completion/completion.ts')).completionCommand(host, args),
}

/**
 * What people try first: `-h`, `help` and `help COMMAND` mean what `--help` says, `-v`, `-V` and
 * `version` what `--version` does.
 */
const LONG: ReadonlyMap<string, string> = new Map([
  ['-h', '--help'],
  ['-v', '--version'],
  ['-V', '--version'],
])

function inLongWords(args: readonly string[]): readonly string[] {
  const long = args.map((arg) => LONG.get(arg) ?? arg)
  if (long[0] === 'version') return ['--version', ...long.slice(1)]
  return long[0] === 'help' ? [...long.slice(1), '--help'] : long
}

async function serveCommand(host: CliHost, args: readonly string[]): Promise<ExitCode | undefined> {
  const { readSettings } = await import('./flags.ts')
  const settings = await readSettings(await sourcesOf(host, args))
  if ('problems' in settings) return host.earlyStop.aborted ? OK : refused(host, settings.problems)
  await host.serve(settings, host)
  return undefined
}

async function runCommand(host: CliHost, args: readonly string[]): Promise<number | undefined> {
  const { readRunSettings } = await import('./flags.ts')
  const settings = await readRunSettings(await sourcesOf(host, args))
  if ('problems' in settings) return host.earlyStop.aborted ? OK : refused(host, settings.problems)
  return host.run(settings, host)
}

async function apiserverCommand(host: CliHost, args: readonly string[]): Promise<number | undefined> {
  const { readApiServerSettings } = await import('./apiserver-flags.ts')
  const settings = await readApiServerSettings(await sourcesOf(host, args))
  if ('problems' in settings) return host.earlyStop.aborted ? OK : refused(host, settings.problems)
  return settings.printed === undefined ? host.apiserver(settings, host) : printed(host, settings.printed)
}

async function sourcesOf({ env, facts, earlyStop }: CliHost, args: readonly string[]): Promise<SettingsSources> {
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
async function usable(host: CliHost, command: () => Promise<number | undefined>): Promise<number | undefined> {
  try {
    return await command()
  } catch (thrown) {
    if (thrown instanceof QuiesceError && thrown.code !== 'ERR_INTERNAL') return refused(host, thrown.message.split('\n'))
    throw thrown
  }
}

function printed(host: CliHost, output: string): ExitCode {
  host.stdout.write(output)
  return OK
}

/** One line for each problem. */
function refused(host: CliHost, problems: readonly string[]): ExitCode {
  for (const problem of problems) host.stderr.write(`quiesce: ${problem}\n`)
  return BAD_USAGE
}
