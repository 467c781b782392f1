import type { Flag } from '../options/kit/flags.ts'
import { packageJson } from '../process/package-file.ts'
import type { CommandPage } from './command-page.ts'
import { type FlagGroups, grouped } from './flag-groups.ts'
import { DRAIN_OPTIONS } from './plan-flags.ts'

const WIDTH = 100
const INDENT = '      '

/**
 * What `--help` prints of a command.
 * @param invocation as it is typed: `quiesce run`
 */
export function pageHelp(invocation: string, page: CommandPage): string {
  return [
    `Usage: ${[invocation, page.operands, page.flags.length > 0 ? '[flags]' : ''].filter(Boolean).join(' ')}`,
    '',
    'Examples:',
    ...examples(page.examples),
    '',
    page.about,
    '',
    ...grouped(page.flags, page.groups ?? GROUPS).flatMap(([title, flags]) => [`${title}:`, flagsHelp(flags), '']),
    ...(page.hasSettings ? [SOURCES_OF_SETTINGS] : []),
    'Exit codes:',
    ...exitCodes(page),
    ...links(),
    '',
  ].join('\n')
}

const SOURCES_OF_SETTINGS = `\
A flag without a value is on, and off as --no-FLAG or --FLAG=false.
Each flag has an environment variable (--journal: QUIESCE_JOURNAL) and a key in the config file (journal).
A flag wins over the environment, the environment over the file, the file over the default.
`

/** The groups of flags in the order in which one decides about them. */
const GROUPS: FlagGroups = [
  ['What is run', ['export', 'watch', 'demo']],
  ['Address', ['port', 'host', 'admin']],
  ['TLS and HTTP/2', ['tls', 'http2', 'maxConcurrentStreams']],
  ['Drain', DRAIN_OPTIONS],
  ['Requests and health', ['requestTimeout', 'maxHeaderSize', 'goawayChance', 'livezGrace']],
  ['Inspector', ['inspector', 'debugSocket']],
  ['Log, report and journal', ['logLevel', 'wording', 'pretty', 'reportFile', 'journal']],
]

/** Every flag with what it means, what is allowed and the default, from the rows of its option. */
export const flagsHelp = (flags: readonly Flag[]): string =>
  flags
    .flatMap(({ name, switch: onOff, allowed, default: fallback, meaning, placeholder }) => [
      `  --${name}${onOff ? '' : ` ${placeholder}`}`,
      ...wrap(`${meaning}.`),
      ...(onOff?.bare ? [] : wrap(`Allowed: ${allowed}. Default: ${fallback}.`)),
    ])
    .join('\n')

export const examples = (all: CommandPage['examples']): string[] => all.flatMap(([line, meaning]) => [`  ${line}`, `${INDENT}${meaning}`])

const exitCodes = ({ exitCodes: codes }: CommandPage): string[] =>
  codes.map(([code, meaning]) => `  ${String(code).padStart(2)}  ${meaning}`)

/** Where there is more, as package.json says. */
export function links(): string[] {
  const { homepage, bugs } = packageJson()
  return [
    ...(homepage === undefined ? [] : ['', `Documentation: ${homepage}`]),
    ...(bugs?.url === undefined ? [] : [`Issues: ${bugs.url}`]),
  ]
}

export function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([first]) => first.length))
  return rows.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`)
}

/** Words into lines that fit. */
function wrap(text: string): string[] {
  const lines: string[] = []
  let line = INDENT
  for (const word of text.split(' ')) {
    if (line.length + word.length > WIDTH && line !== INDENT) {
      lines.push(line.trimEnd())
      line = INDENT
    }
    line += `${word} `
  }
  return [...lines, line.trimEnd()]
}
