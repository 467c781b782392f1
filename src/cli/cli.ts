import { didYouMean } from '../base/did-you-mean.ts'
import type { ExitCode } from '../machines/exit-codes.ts'
import { packageJson } from '../process/package-file.ts'
import { API_SERVER_PACKAGE } from './api-server-program.ts'
import { DONE, inLongWords, printed, refused, sourcesOf, usable } from './command-host.ts'
import { COMMANDS, type CommandName, isCommand } from './command-names.ts'
import type { CliHost } from './host.ts'

/**
 * Runs a command line. Resolves with its exit code, or undefined when the command has set it.
 * Everything is loaded by the command that needs it.
 */
export async function runCli(host: CliHost): Promise<number | undefined> {
  const [command, ...args] = inLongWords(host.args)
  if (isCommand(command) && args.includes('--help')) return printed(host, (await import('./help.ts')).commandHelp(command))
  if (args.includes('--version') || command === '--version') return printed(host, `${packageJson().version}\n`)
  if (command === '--help' || (args.includes('--help') && hasNoPage(command))) return printed(host, (await import('./help.ts')).mainHelp())
  if (isCommand(command)) return usable(host, () => RUN[command](host, args))
  if (!command) return refused(host, [`no command was given, allowed: ${COMMANDS.join(', ')}; see quiesce --help`])
  if (command === MOVED.command) return refused(host, [MOVED.hint])
  if (command.startsWith('-')) return refused(host, [`${command}: unknown flag, see quiesce --help`])
  return refused(host, [`${command}: unknown command${didYouMean(command, COMMANDS) || ', see quiesce --help'}`])
}

/** Whether it is a word of `quiesce` itself, or a flag that stands where a command belongs. */
const hasNoPage = (command: string | undefined): boolean =>
  command?.startsWith('-') === true || ['help', 'version', MOVED.command].includes(command ?? '')

/** A command of a package of its own, which is not installed: main.ts runs it where it is. */
const MOVED = {
  command: 'apiserver',
  hint: `apiserver: this command is in the package ${API_SERVER_PACKAGE}: npm install ${API_SERVER_PACKAGE}, then npx quiesce-apiserver`,
}

type Run = (host: CliHost, args: readonly string[]) => Promise<number | undefined>

const RUN: Readonly<Record<CommandName, Run>> = {
  run: (host, args) => runCommand(host, args),
  serve: (host, args) => serveCommand(host, args),
  check: async (host, args) => (await import('./check.ts')).checkCommand(host, args),
  plan: async (host, args) => (await import('./plan.ts')).planCommand(host, args),
  diagram: async (host, args) => (await import('./diagram.ts')).diagramCommand(host, args),
  inspect: async (host, args) => (await import('./inspect.ts')).inspectCommand(host, args),
  report: async (host, args) => (await import('./report.ts')).reportCommand(host, args),
  completion: async (host, args) => (await import('./completion/completion.ts')).completionCommand(host, args),
}

async function serveCommand(host: CliHost, args: readonly string[]): Promise<ExitCode | undefined> {
  const { readSettings } = await import('./flags.ts')
  const settings = await readSettings(await sourcesOf(host, args))
  if ('problems' in settings) return host.earlyStop.aborted ? DONE : refused(host, settings.problems)
  await host.serve(settings, host)
  return undefined
}

async function runCommand(host: CliHost, args: readonly string[]): Promise<number | undefined> {
  const { readRunSettings } = await import('./flags.ts')
  const settings = await readRunSettings(await sourcesOf(host, args))
  if ('problems' in settings) return host.earlyStop.aborted ? DONE : refused(host, settings.problems)
  return host.run(settings, host)
}
