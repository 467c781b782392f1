import { didYouMean } from '../base/did-you-mean.ts'
import { show } from '../base/errors.ts'
import {
  composeOptions,
  defineOptions,
  ENV_PREFIX,
  type Flag,
  flagsOf,
  type OptionTable,
  option,
  type ResolvedOf,
  withoutCliDefaults,
} from '../options/define.ts'
import { choice, file, isRecord, onOff, text } from '../options/kinds.ts'
import { LISTEN_OPTIONS, SERVER_OPTIONS } from '../options/lifecycle-options.ts'
import { resolveServerOptions, type ServerOptions } from '../options/options.ts'
import type { PlatformFacts } from '../platforms/platform.ts'
import { readArguments, type Setting, type Settings } from './arguments.ts'
import { firstLine } from './first-line.ts'
import { nearFlag } from './near-flag.ts'
import { APP_ALLOWED } from './runnable.ts'
import { messagesOf, resolvedFrom, valuesOf } from './settings.ts'

/**
 * What `quiesce serve` and `quiesce run` are told, by flag, `QUIESCE_*` environment variable or
 * config file, in this order. The three use the same names: `--request-timeout`,
 * `QUIESCE_REQUEST_TIMEOUT`, `request-timeout`. Whatever is wrong is collected, named by where it
 * was written, and reported together.
 */

/** What only the commands have. */
const COMMAND_OPTIONS = defineOptions({
  logLevel: option(choice('debug', 'info', 'warn', 'error', 'silent'), { flag: 'log-level', default: 'info', meaning: 'What is logged' }),
  config: option(file('a JSON or YAML file'), {
    flag: 'config',
    defaultWords: 'none',
    meaning: 'File of these settings, by the same names',
  }),
})

/** What only `quiesce run` has. */
const RUN_OPTIONS = defineOptions({
  export: option(
    { ...text('the name of an export'), placeholder: 'NAME' },
    {
      flag: 'export',
      default: 'default',
      meaning: 'Which export of the module is run',
    },
  ),
  watch: option(onOff(), {
    flag: 'watch',
    default: false,
    meaning: 'Drain and start anew when a source file of the package changes',
  }),
})

/** A command that serves: the options of its server, and its own. */
interface Serving<Server extends OptionTable, Own extends OptionTable> {
  readonly command: string
  readonly server: Server
  readonly own: Own
  readonly operandsMax: number
}

const SERVE = { command: 'serve', server: SERVER_OPTIONS, own: COMMAND_OPTIONS, operandsMax: 0 } as const

/** The server is the user's, and so it has the defaults that it has in code. */
const RUN = {
  command: 'run',
  server: withoutCliDefaults(SERVER_OPTIONS),
  own: composeOptions(RUN_OPTIONS, COMMAND_OPTIONS),
  operandsMax: 1,
} as const

const flagsOfCommand = ({ server, own }: Serving<OptionTable, OptionTable>): readonly Flag[] => [server, own].flatMap(flagsOf)

/**
 * Every flag of `quiesce serve`: those of the server's options, then those of the command alone.
 */
export const SERVE_FLAGS: readonly Flag[] = flagsOfCommand(SERVE)

/** Every flag of `quiesce run`: the same, and a few. */
export const RUN_FLAGS: readonly Flag[] = flagsOfCommand(RUN)

/** What both commands know in the end. */
export interface ServeSettings extends Omit<ResolvedOf<typeof COMMAND_OPTIONS>, 'config'> {
  readonly options: ServerOptions
}

export interface RunSettings extends ServeSettings, ResolvedOf<typeof RUN_OPTIONS> {
  /** The module. */
  readonly app: string
  /** Those of a server, as they were written; one that has options of its own takes none. */
  readonly serverSettings: readonly Setting[]
  /** Of these the ones that only a server takes that is made here. */
  readonly createdSettings: readonly Setting[]
}

export interface SettingsSources {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly facts: PlatformFacts
  /** Reads and parses a config file. */
  readonly readConfig: (path: string) => Promise<unknown>
}

/** One line each. */
interface Refused {
  readonly problems: readonly string[]
}

/** The settings of `quiesce serve`, or one line for every problem. */
export async function readSettings(sources: SettingsSources): Promise<ServeSettings | Refused> {
  const read = await readAll(SERVE, sources)
  if ('problems' in read) return read
  const { options, own } = read
  return { options, logLevel: own.logLevel }
}

/** The settings of `quiesce run`, or one line for every problem. */
export async function readRunSettings(sources: SettingsSources): Promise<RunSettings | Refused> {
  const read = await readAll(RUN, sources)
  if ('problems' in read) return read
  const { options, own, operand, settings } = read
  if (operand === undefined) return { problems: [`run: got no module, allowed: ${APP_ALLOWED}; see quiesce run --help`] }
  const { config: _, ...rest } = own
  const ofRun = new Set(flagsOf(RUN_OPTIONS).map(({ name }) => name))
  const serverSettings = [...settings].flatMap(([name, setting]) => (ofRun.has(name) ? [] : [setting]))
  const ofCreated = new Set(flagsOf(LISTEN_OPTIONS).flatMap(({ name, option: of }) => (of === 'port' || of === 'host' ? [] : [name])))
  const createdSettings = [...settings].flatMap(([name, setting]) => (ofCreated.has(name) ? [setting] : []))
  return { app: operand, options, ...rest, serverSettings, createdSettings }
}

async function readAll<Server extends OptionTable, Own extends OptionTable>(
  serving: Serving<Server, Own>,
  sources: SettingsSources,
): Promise<{ options: ServerOptions; own: ResolvedOf<Own>; operand: string | undefined; settings: Settings } | Refused> {
  const flags = flagsOfCommand(serving)
  const fromArgs = readArguments(serving.command, flags, sources.args, serving.operandsMax)
  const fromEnv = readEnvironment(serving.command, flags, sources.env)
  const file = fromArgs.settings.get('config') ?? fromEnv.settings.get('config')
  const fromConfig = file ? await readConfig(serving.command, flags, file, sources.readConfig) : NOTHING
  const settings = new Map([...fromConfig.settings, ...fromEnv.settings, ...fromArgs.settings])
  settings.delete('config')
  const { options, problems, wording } = valuesOf(serving.server, settings)
  const { resolved, problems: ofCommand } = resolvedFrom(serving.own, settings)
  const all = [
    ...[fromArgs, fromEnv, fromConfig].flatMap((source) => source.problems),
    ...problems,
    ...messagesOf(() => resolveServerOptions(options, { ...wording, facts: sources.facts })),
    ...ofCommand,
  ]
  return all.length > 0 ? { problems: all } : { options, own: resolved, operand: fromArgs.operands[0], settings }
}

interface Source {
  readonly settings: Settings
  readonly problems: readonly string[]
}

const NOTHING: Source = { settings: new Map(), problems: [] }

const unknown = (command: string, label: string, what: string, near: string): string =>
  `${label}: unknown ${what}${near || `, see quiesce ${command} --help`}`

function readEnvironment(command: string, flags: readonly Flag[], env: SettingsSources['env']): Source {
  const settings = new Map<string, Setting>()
  const problems: string[] = []
  const names = flags.map((flag) => flag.env)
  for (const [label, given] of Object.entries(env)) {
    const flag = flags.find((each) => each.env === label)
    if (given === undefined || isServiceLink(label, given)) continue
    if (flag) settings.set(flag.name, { given, label })
    else if (label.startsWith(ENV_PREFIX))
      problems.push(unknown(command, label, 'environment variable', didYouMean(label, names, ENV_PREFIX)))
  }
  return { settings, problems }
}

async function readConfig(
  command: string,
  flags: readonly Flag[],
  { given: path, label }: Setting,
  read: SettingsSources['readConfig'],
): Promise<Source> {
  const refused = (allowed: string): Source => ({ settings: new Map(), problems: [`${label}: got ${show(path)}, allowed: ${allowed}`] })
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
    if (known.some((flag) => flag.name === name)) settings.set(name, { given, label: where })
    else problems.push(unknown(command, where, 'key', nearFlag(name, known, '')))
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
