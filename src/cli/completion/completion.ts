import { QuiesceError, show } from '../../base/errors.ts'
import type { ExitCode } from '../../machines/exit-codes.ts'
import { apiServerPage } from '../api-server-program.ts'
import { COMMAND_PAGES } from '../command-pages.ts'
import type { CliHost } from '../host.ts'
import { readOptions } from '../settings.ts'
import { bashCompletion } from './bash.ts'
import { type CompletedCommand, completedCommands } from './completed.ts'
import { fishCompletion } from './fish.ts'
import { zshCompletion } from './zsh.ts'

const SHELLS: Readonly<Record<string, (commands: readonly CompletedCommand[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
}

/**
 * Prints the completion of a shell.
 * @throws QuiesceError ERR_OPTION_INVALID for arguments that cannot be used
 */
export async function completionCommand({ stdout }: CliHost, args: readonly string[]): Promise<ExitCode> {
  const [shell] = readOptions('quiesce completion', {}, args, 1).operands
  const script = shell !== undefined && Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined
  if (!script) {
    const allowed = (COMMAND_PAGES.completion.operandChoices ?? []).join(', ')
    throw new QuiesceError('ERR_OPTION_INVALID', `completion: got ${shell === undefined ? 'no shell' : show(shell)}, allowed: ${allowed}`)
  }
  stdout.write(script(completedCommands(await apiServerPage())))
  return 0
}
