import { QuiesceError, show } from '../base/errors.ts'
import { type AnyOption, type OptionTable, type ResolvedOf, resolveOptions, type Switch, type UserOptions } from '../options/kit/define.ts'
import { type Flag, flagsOf } from '../options/kit/flags.ts'
import { type OptionProblem, Problems, type ProblemWording } from '../options/kit/problems.ts'
import { shownOf } from '../options/kit/secrets.ts'
import { readArguments, type Settings } from './arguments.ts'

/** What settings mean for the options of a table. */
export interface Values {
  readonly options: Readonly<Record<string, unknown>>
  /** One line for every text that cannot be read. */
  readonly problems: readonly string[]
  /** Options are named as the user wrote them. */
  readonly wording: ProblemWording
}

/** The options that settings stand for; whether they are allowed is not asked yet. */
export function valuesOf(table: OptionTable, settings: Settings): Values {
  const problems: string[] = []
  const labels = new Map<string, string>()
  const options: Record<string, unknown> = {}
  const ofCommand = new Set<string>()
  const flags = flagsOf(table)
  for (const [name, row] of Object.entries(table)) {
    const own = flags.find(({ option, isPart }) => option === name && !isPart)
    const parts = flags.filter(({ option, isPart }) => option === name && isPart)
    const setting = own && settings.get(own.name)
    if (own) labels.set(name, setting?.label ?? `--${own.name}`)
    for (const part of parts)
      if (part.field !== undefined) labels.set(`${name}.${part.field}`, settings.get(part.name)?.label ?? `--${part.name}`)
    const read = (flag: Flag): unknown => readOne(flag, settings, problems)
    const value = parts.length > 0 ? together(row, own, parts, settings, read, problems) : own && read(own)
    const isOwn = setting === undefined && parts.length === 0 && row.cliDefault !== undefined
    if (isOwn) ofCommand.add(name)
    const given = isOwn ? row.cliDefault : value
    if (given !== undefined) options[name] = given
  }
  return {
    options,
    problems,
    wording: {
      asText: true,
      isOwnDefault: (name) => ofCommand.has(name),
      label: (name) => labels.get(name) ?? name,
      labelOfField: (path) => labels.get(path),
      labelOfMissing: (name) => labels.get(name) ?? flagOfPart(name, flags),
    },
  }
}

/** The first that brings the option with it: where it is, or who it is. */
function flagOfPart(name: string, flags: readonly Flag[]): string | undefined {
  const part = flags.find(({ option, isPart, turnsOn }) => option === name && isPart && turnsOn)
  return part && `--${part.name}`
}

/** One option by several flags: on by its own, or by a part of it. */
function together(
  row: AnyOption,
  own: Flag | undefined,
  parts: readonly Flag[],
  settings: Settings,
  read: (flag: Flag) => unknown,
  problems: string[],
): unknown {
  const main = own && read(own)
  const fields = parts.map((flag) => ({ flag, value: read(flag) }))
  const isOff = own?.switch !== undefined && isOn(own.switch, settings.get(own.name)?.given) === false
  if (isOff) return undefined
  if (main !== undefined || fields.some(({ flag, value }) => flag.turnsOn && value !== undefined))
    return Object.assign({}, main, ...fields.map(({ value }) => value))
  // What they say would be taken for done, and is not. A secret may stand in any environment.
  for (const { flag, value } of fields) {
    const setting = value === undefined || flag.isSecret ? undefined : settings.get(flag.name)
    if (setting) problems.push(`${setting.label}: got ${show(setting.given)}, allowed: only with ${waysTo(row, own, parts)}`)
  }
  return undefined
}

/** The flags that bring an option. */
function waysTo({ allowedAsText }: AnyOption, own: Flag | undefined, parts: readonly Flag[]): string {
  if (allowedAsText?.startsWith('--')) return allowedAsText
  return [...(own ? [own] : []), ...parts.filter(({ turnsOn }) => turnsOn)].map(({ name }) => `--${name}`).join(' or ')
}

/** undefined when nothing was set, or what was set cannot be read. */
function readOne({ name, fromText, switch: onOff, allowed, remark, isSecret }: Flag, settings: Settings, problems: string[]): unknown {
  const setting = settings.get(name)
  if (!setting) return undefined
  const { given, label } = setting
  const value = onOff ? isOn(onOff, given) : fromText(given)
  if (value === undefined)
    problems.push(`${label}: got ${shownOf(isSecret, given)}, allowed: ${allowed}${isSecret ? '' : (remark?.(given) ?? '')}`)
  if (!onOff || value === undefined) return value
  return value ? onOff.on : onOff.off
}

/** undefined for what is neither on nor off. */
function isOn({ bare }: Switch<unknown>, given: unknown): boolean | undefined {
  if (given === true || (given === 'true' && !bare)) return true
  return (given === false || given === 'false') && !bare ? false : undefined
}

/** The options, completed, or what is wrong with them, one line each. */
export function resolvedFrom<T extends OptionTable>(
  table: T,
  settings: Settings,
): { resolved: ResolvedOf<T>; problems: readonly string[] } {
  const { options, problems, wording } = valuesOf(table, settings)
  const checked = new Problems(table, wording)
  const usable = checked.checkEach(options) as UserOptions<T>
  return { resolved: resolveOptions(table, usable), problems: [...problems, ...messagesOf(() => checked.throwIfAny())] }
}

/** One line for every problem with the options that `check` finds. */
export function messagesOf(check: () => void): readonly string[] {
  try {
    check()
    return []
  } catch (thrown) {
    if (!(thrown instanceof QuiesceError)) throw thrown
    return (thrown.details['problems'] as readonly OptionProblem[]).map(({ message }) => message)
  }
}

/**
 * The options of a command that is no server, from its command line.
 * @param command as it is typed: `quiesce report`
 * @param operandsMax how many things it may be given without a flag
 * @throws QuiesceError ERR_OPTION_INVALID with one line for every problem
 */
export function readOptions<T extends OptionTable>(
  command: string,
  table: T,
  args: readonly string[],
  operandsMax = 0,
): { readonly options: ResolvedOf<T>; readonly operands: readonly string[] } {
  const { settings, operands, problems } = readArguments(command, flagsOf(table), args, operandsMax)
  const { resolved, problems: refused } = resolvedFrom(table, settings)
  const all = [...problems, ...refused]
  if (all.length > 0) throw new QuiesceError('ERR_OPTION_INVALID', all.join('\n'))
  return { options: resolved, operands }
}

/** Two answers to one question: flags of a server beside a module that has its own. */
export const refusedBesideConfig = (table: OptionTable, settings: Settings): string[] =>
  flagsOf(table).flatMap(({ name }) => {
    const setting = settings.get(name)
    return setting
      ? [
          `${setting.label}: got ${shownOf(setting.isSecret, setting.given)}, allowed: only without --config, as the server of that module has its options in its code`,
        ]
      : []
  })
