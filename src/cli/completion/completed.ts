import type { Flag } from '../../options/kit/flags.ts'
import { COMMANDS, type CommandName } from '../command-names.ts'
import type { CommandPage } from '../command-page.ts'
import { COMMAND_PAGES } from '../command-pages.ts'

/** Something that begins with dashes, as shells complete it. */
export interface CompletedFlag {
  /** The name without the dashes. */
  readonly name: string
  readonly meaning: string
  /** undefined: it takes no value. */
  readonly value?: CompletedValue
}

export interface CompletedValue {
  readonly placeholder: string
  /** All values that it may have, or names of files; undefined: only the user knows. */
  readonly offers: readonly string[] | 'files' | undefined
}

export interface CompletedCommand {
  readonly name: string
  readonly summary: string
  readonly flags: readonly CompletedFlag[]
  readonly operands: CompletedValue['offers']
}

const HELP: CompletedFlag = { name: 'help', meaning: 'What this is, with examples' }

/**
 * What every shell completes, from the tables of the commands.
 * @param apiServer where the package of API servers is installed, whose program has a name of its
 * own, too: `quiesce-apiserver`
 */
export const completedCommands = (apiServer: CommandPage | undefined): readonly CompletedCommand[] => [
  ...COMMANDS.map((name: CommandName) => completedCommand(name, COMMAND_PAGES[name])),
  ...(apiServer ? [completedCommand('apiserver', apiServer)] : []),
  { name: 'help', summary: 'what a command is, with examples', flags: [], operands: COMMANDS },
  { name: 'version', summary: 'the version of this program', flags: [], operands: undefined },
]

const completedCommand = (name: string, { summary, flags, operands, operandChoices }: CommandPage): CompletedCommand => ({
  name,
  summary,
  flags: [...flags.flatMap(completedFlags), HELP],
  operands: operands === '' ? undefined : (operandChoices ?? 'files'),
})

/** What may stand there instead of a command. */
export const MAIN_FLAGS: readonly CompletedFlag[] = [HELP, { name: 'version', meaning: 'The version of this program' }]

/** A switch can be turned off as well. */
function completedFlags({ name, meaning, switch: onOff, placeholder, choices }: Flag): CompletedFlag[] {
  if (onOff)
    return onOff.bare
      ? [{ name, meaning }]
      : [
          { name, meaning },
          { name: `no-${name}`, meaning: `Turns --${name} off` },
        ]
  return [{ name, meaning, value: { placeholder, offers: choices ?? (isOnDisk(placeholder) ? 'files' : undefined) } }]
}

function isOnDisk(placeholder: string): boolean {
  return placeholder === 'FILE' || placeholder === 'FOLDER'
}
