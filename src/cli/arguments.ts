import { parseArgs } from 'node:util'
import { oneLine } from '../base/cells.ts'
import { show } from '../base/errors.ts'
import type { Flag } from '../options/kit/flags.ts'
import { nearFlag } from './near-flag.ts'

/** Something that was set, and where. */
export interface Setting {
  readonly given: unknown
  /** The name as it was written: `--port`, `QUIESCE_PORT` or `port in FILE`. */
  readonly label: string
  /** Whether messages say nothing of what is given. */
  readonly isSecret?: boolean
}

/** The settings by the name of the flag. */
export type Settings = ReadonlyMap<string, Setting>

export interface Arguments {
  readonly settings: Settings
  /** What stands on the command line without a flag, as many as the command takes. */
  readonly operands: readonly string[]
  /** One line each. */
  readonly problems: readonly string[]
}

/**
 * The flags of a command line, as they were written; of one that is given twice the last counts,
 * unless it is a list of such texts. What they mean is read by valuesOf().
 * @param command as it is typed: `quiesce report`
 * @param operandsMax how many things the command may be given without a flag, as `quiesce report
 * FILE` is given one
 * @param absent flags that there are not, with what to do instead
 */
export function readArguments(
  command: string,
  flags: readonly Flag[],
  args: readonly string[],
  operandsMax = 0,
  absent: AbsentFlags = {},
): Arguments {
  const settings = new Map<string, Setting>()
  const problems: string[] = []
  const operands: string[] = []
  const noValue = (label: string): void => {
    problems.push(`${label}: no value was given, allowed: ${flags.find(({ name }) => `--${name}` === label)?.allowed}`)
  }
  // What follows an unknown flag was meant as its value.
  let unknownAt = Number.NaN
  let switched: { readonly name: string; readonly label: string; readonly index: number } | undefined
  for (const token of tokensOf(flags, args, noValue)) {
    if (token.kind === 'positional') {
      // What follows a switch is its value.
      if (switched?.index === token.index - 1 && (token.value === 'true' || token.value === 'false'))
        settings.set(switched.name, { given: token.value, label: switched.label })
      else if (token.index === unknownAt + 1) continue
      else if (operands.length < operandsMax) operands.push(token.value)
      else problems.push(`${show(token.value)}: unexpected argument, see ${command} --help`)
    }
    if (token.kind !== 'option') continue
    const { rawName: label, value, index } = token
    const flag = flags.find(({ name }) => `--${name}` === label)
    const off = value === undefined ? flags.find(({ name, switch: onOff }) => onOff?.bare === false && `--no-${name}` === label) : undefined
    if (off) settings.set(off.name, { given: false, label })
    else if (!flag) {
      // `-p80` is read as several flags, and is one mistake.
      if (unknownAt === index) continue
      const name = label.replace(/^--?/, '')
      const hint = instead(absent, name) ?? nearFlag(name, flags)
      problems.push(`${oneLine(label)}: unknown flag${hint || `, see ${command} --help`}`)
      unknownAt = index
    } else if (flag.switch) {
      settings.set(flag.name, { given: value ?? true, label })
      if (value === undefined && !flag.switch.bare) switched = { name: flag.name, label, index }
    } else if (value === undefined) noValue(label)
    else {
      const before = flag.joint === undefined ? undefined : settings.get(flag.name)
      const given = before ? `${String(before.given)}${flag.joint}${value}` : value
      settings.set(flag.name, { given, label, isSecret: flag.isSecret })
    }
  }
  return { settings, operands, problems }
}

/** Flags that are elsewhere, by their names without the dashes. */
export type AbsentFlags = Readonly<Record<string, string>>

/** `; …`, behind what says that it is unknown. */
export const instead = (absent: AbsentFlags, name: string): string | undefined =>
  Object.hasOwn(absent, name) ? `; ${absent[name]}` : undefined

/** A value that is a flag was meant as one: `--bind-address --port 80`. */
function tokensOf(flags: readonly Flag[], args: readonly string[], noValue: (label: string) => void) {
  const options = Object.fromEntries(
    flags.map(({ name, switch: onOff }) => [name, { type: onOff ? ('boolean' as const) : ('string' as const) }]),
  )
  const { tokens } = parseArgs({ args: [...args], strict: false, tokens: true, options })
  const swallowed = tokens.find((token) => token.kind === 'option' && !token.inlineValue && token.value?.startsWith('--'))
  if (!swallowed) return tokens
  noValue(args[swallowed.index] as string)
  return tokensOf(flags, args.toSpliced(swallowed.index, 1), noValue)
}
