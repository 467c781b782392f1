import { COMMANDS, type CommandName } from './command-names.ts'
import { COMMAND_PAGES } from './command-pages.ts'
import { columns, examples, links, pageHelp } from './page-help.ts'

/** `quiesce --help` */
export function mainHelp(): string {
  const usage = (name: CommandName): string => `${name} ${COMMAND_PAGES[name].operands}`.trimEnd()
  return [
    'quiesce: a server that starts, drains and ends in order',
    '',
    'Usage: quiesce COMMAND [flags]',
    '',
    'Examples:',
    ...examples(COMMANDS.slice(0, -1).flatMap((name) => COMMAND_PAGES[name].examples.slice(0, 1))),
    '',
    'Commands:',
    ...columns(COMMANDS.map((name) => [usage(name), COMMAND_PAGES[name].summary])),
    '',
    'Flags:',
    ...columns([
      ['-h, --help', 'this text; quiesce COMMAND --help has the flags of a command'],
      ['-v, --version', 'the version of this program'],
    ]),
    ...links(),
    '',
  ].join('\n')
}

/** `quiesce COMMAND --help` */
export const commandHelp = (name: CommandName): string => pageHelp(`quiesce ${name}`, COMMAND_PAGES[name])
