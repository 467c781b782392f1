import { didYouMean } from '../base/did-you-mean.ts'
import { show } from '../base/errors.ts'
import { ENV_PREFIX, envName, type OptionTable, type ResolvedOf } from '../options/kit/define.ts'
import { type Flag, flagsOf } from '../options/kit/flags.ts'
import { isRecord } from '../options/kit/kinds.ts'
import type { ProblemWording } from '../options/kit/problems.ts'
import type { ResolveContext } from '../options/options.ts'
import type { PlatformFacts } from '../platforms/platform.ts'
import { type AbsentFlags, instead, readArguments, type Setting, type Settings } from './arguments.ts'
import { firstLine } from './first-line.ts'
import { nearFlag } from './near-flag.ts'
import { filesOf, overwritten } from './same-file.ts'
import { resolvedFrom, valuesOf } from './settings.ts'

/**
 * Settings of commands that serve, by flag, `QUIESCE_*` environment variable or config file, in
 * this order. The three use the same names: `--request-timeout`, `QUIESCE_REQUEST_TIMEOUT`,
 * `request-timeout`. Whatever is wrong is collected, named by where it was written, and reported
 * together.
 */

/** A command that serves: the options of its server, and its own. */
export interface Serving<Server extends OptionTable, Own extends OptionTable> {
  /** The command as it is typed: `quiesce run`. */
  readonly command: string
  readonly server: Server
  readonly own: Own
  readonly operandsMax: number
  /** One line for everything that is wrong with the server's options. */
  readonly problemsOf: (options: Readonly<Record<string, unknown>>, context: ResolveContext) => readonly string[]
  /** Flags of others that it has not, with what to do instead. */
  readonly absent?: AbsentFlags
  /** What is set unless something else is. */
  readonly completed?: (settings: Settings) => Settings | Promise<Settings>
}

export const flagsOfCommand = ({ server, own }: Pick<Serving<OptionTable, OptionTable>, 'server' | 'own'>): readonly Flag[] =>
  [server, own].flatMap(flagsOf)

export interface SettingsSources {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly facts: PlatformFacts
  /** Reads and parses a config file. */
  readonly readConfig: (path: string) => Promise<unknown>
}

/** One line each. */
export interface SettingsProblems {
  readonly problems: readonly string[]
}

interface Read<Own extends OptionTable> {
  readonly options: Readonly<Record<string, unknown>>
  readonly own: ResolvedOf<Own>
  readonly operand: string | undefined
  readonly settings: Settings
  /** Options are named as the user wrote them. */
  readonly wording: ProblemWording
}

/** All settings of the command, or one line for every problem. */
export async function readAll<Server extends OptionTable, Own extends OptionTable>(
  serving: Serving<Server, Own>,
  sources: SettingsSources,
): Promise<Read<Own> | SettingsProblems> {
  const { command, server, own, operandsMax, problemsOf, absent = {}, completed = (settings) => settings } = serving
  const flags = flagsOfCommand(serving)
  const fromArgs = readArguments(command, flags, sources.args, operandsMax, absent)
  const around = await readAround(serving, sources, fromArgs.settings.get('config'))
  const given = new Map([...around.settings, ...fromArgs.settings])
  const { outputs, inputs } = filesOf(flags, given)
  const [operand] = fromArgs.operands
  const app = operand === undefined ? [] : [{ label: operand, path: operand }]
  given.delete('config')
  const settings = await completed(given)
  const { options, problems, wording } = valuesOf(server, settings)
  const { resolved, problems: ofCommand } = resolvedFrom(own, settings)
  const all = [
    ...fromArgs.problems,
    ...around.problems,
    ...problems,
    ...problemsOf(options, { ...wording, facts: sources.facts }),
    ...ofCommand,
    ...overwritten(outputs, [...inputs, ...app]),
  ]
  // Two files in one place are refused as options, too.
  return all.length > 0 ? { problems: [...new Set(all)] } : { options, own: resolved, operand, settings, wording }
}

export interface SettingsSource {
  readonly settings: Settings
  readonly problems: readonly string[]
}

const NOTHING: SettingsSource = { settings: new Map(), problems: [] }

/**
 * What is set without the command line: by the environment, and by a config file.
 * @param named the file, when the command line names it
 */
export async function readAround(
  serving: Pick<Serving<OptionTable, OptionTable>, 'command' | 'server' | 'own' | 'absent'>,
  { env, readConfig: read }: Pick<SettingsSources, 'env' | 'readConfig'>,
  named?: Setting,
): Promise<SettingsSource> {
  const { command, absent = {} } = serving
  const flags = flagsOfCommand(serving)
  const fromEnv = readEnvironment(command, flags, env, absent)
  const file = named ?? fromEnv.settings.get('config')
  const fromConfig = file ? await readConfig(command, flags, file, read, absent) : NOTHING
  return {
    settings: new Map([...fromConfig.settings, ...fromEnv.settings]),
    problems: [...fromEnv.problems, ...fromConfig.problems],
  }
}

const unknown = (command: string, label: string, what: string, near: string): string =>
  `${label}: unknown ${what}${near || `, see ${command} --help`}`

function readEnvironment(command: string, flags: readonly Flag[], env: SettingsSources['env'], absent: AbsentFlags): SettingsSource {
  const settings = new Map<string, Setting>()
  const problems: string[] = []
  const names = flags.map((flag) => flag.env)
  for (const [label, given] of Object.entries(env)) {
    const flag = flags.find((each) => each.env === label)
    if (given === undefined || isServiceLink(label, given)) continue
    if (flag) settings.set(flag.name, { given, label, isSecret: flag.isSecret })
    else if (label.startsWith(ENV_PREFIX)) {
      const other = Object.keys(absent).find((name) => envName(name) === label)
      const hint = other === undefined ? didYouMean(label, names, ENV_PREFIX) : (instead(absent, other) ?? '')
      problems.push(unknown(command, label, 'environment variable', hint))
    }
  }
  return { settings, problems }
}

async function readConfig(
  command: string,
  flags: readonly Flag[],
  { given: path, label }: Setting,
  read: SettingsSources['readConfig'],
  absent: AbsentFlags,
): Promise<SettingsSource> {
  const refused = (allowed: string): SettingsSource => ({
    settings: new Map(),
    problems: [`${label}: got ${show(path)}, allowed: ${allowed}`],
  })
  let config: unknown
  try {
    config = await read(String(path))
  } catch (thrown) {
    return refused(`a JSON or YAML file (${firstLine((thrown as Error).message)})`)
  }
  if (!isRecord(config)) return refused(`a file with one object (it holds ${show(config)})`)
  const settings = new Map<string, Setting>()
  const problems: string[] = []
  const known = flags.filter(({ option: name }) => name !== 'config')
  for (const [name, given] of Object.entries(config)) {
    const where = `${name} in ${path}`
    const flag = known.find((one) => one.name === name)
    if (flag) settings.set(name, { given, label: where, isSecret: flag.isSecret })
    else problems.push(unknown(command, where, 'key', instead(absent, name) ?? nearFlag(name, known, '')))
  }
  return { settings, problems }
}

/**
 * Kubernetes puts the addresses of every Service into the environment of every pod. A Service named
 * `quiesce` must not keep its own pods from starting.
 */
const isServiceLink = (name: string, value: string): boolean =>
  /_SERVICE_(HOST|PORT(_\w+)?)$/.test(name) ||
  /_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name) ||
  (/_PORT$/.test(name) && /^\w+:\/\//.test(value))
