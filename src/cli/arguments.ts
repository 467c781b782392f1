import { parseArgs } from 'node:util'
import { didYouMean } from '../base/did-you-mean.ts'
import { QuiesceError, show } from '../base/errors.ts'

/** A flag of a command that is no server. */
export interface CommandFlag {
  /** Without the dashes. */
  readonly name: string
  readonly kind: 'text' | 'switch'
  /** What is allowed, for refusals and the help. */
  readonly allowed: string
  readonly default: string
  readonly meaning: string
  /** Whether a value is allowed. Default: any text but the empty one. */
  readonly accepts?: (value: string) => boolean
}

export interface CommandArguments {
  readonly values: Readonly<Record<string, string | undefined>>
  readonly switches: ReadonlySet<string>
}

/**
 * The flags of a command line. Of a flag given twice the last one counts.
 * @throws QuiesceError ERR_OPTION_INVALID with one line for every problem
 */
export function readArguments(command: string, flags: readonly CommandFlag[], args: readonly string[]): CommandArguments {
  const options = Object.fromEntries(
    flags.map(({ name, kind }) => [name, { type: kind === 'switch' ? ('boolean' as const) : ('string' as const) }]),
  )
  const { tokens } = parseArgs({ args: [...args], strict: false, tokens: true, options })
  const problems: string[] = []
  const values: Record<string, string> = {}
  const switches = new Set<string>()
  let unknownAt = Number.NaN
  for (const token of tokens) {
    // What follows an unknown flag was meant as its value.
    if (token.kind === 'positional' && token.index !== unknownAt + 1)
      problems.push(`${show(token.value)}: unexpected argument, see quiesce ${command} --help`)
    if (token.kind !== 'option') continue
    const { rawName: label, value } = token
    const flag = flags.find(({ name }) => `--${name}` === label)
    if (!flag) {
      unknownAt = token.index
      const known = flags.map(({ name }) => `--${name}`)
      problems.push(`${label}: unknown flag${didYouMean(label, known, '--') || `, see quiesce ${command} --help`}`)
    } else if (flag.kind === 'switch') {
      if (value === undefined) switches.add(flag.name)
      else problems.push(`${label}: got ${show(value)}, allowed: no value`)
    } else if (value === undefined || value === '' || (value.startsWith('--') && !token.inlineValue)) {
      problems.push(`${label}: got no value, allowed: ${flag.allowed}`)
    } else if (flag.accepts && !flag.accepts(value)) {
      problems.push(`${label}: got ${show(value)}, allowed: ${flag.allowed}`)
    } else values[flag.name] = value
  }
  if (problems.length > 0) throw new QuiesceError('ERR_OPTION_INVALID', problems.join('\n'))
  return { values, switches }
}

/** The help of a command: its flags with their meaning, what is allowed and the default. */
export const flagsHelp = (flags: readonly CommandFlag[], wrap: (text: string) => readonly string[]): string =>
  flags
    .flatMap(({ name, kind, allowed, default: fallback, meaning }) => [
      `  --${name}${kind === 'switch' ? '' : ' VALUE'}`,
      ...wrap(kind === 'switch' ? `${meaning}.` : `${meaning}. Allowed: ${allowed}. Default: ${fallback}.`),
    ])
    .join('\n')
