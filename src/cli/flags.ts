import { didYouMean } from '../base/did-you-mean.ts'
import { show } from '../base/errors.ts'
import { defineOptions, ENV_PREFIX, type Flag, flagsOf, option, type ResolvedOf } from '../options/define.ts'
import { choice, isRecord, onOff, text } from '../options/kinds.ts'
import { SERVER_OPTIONS } from '../options/lifecycle-options.ts'
import { resolveServerOptions, type ServerOptions } from '../options/options.ts'
import type { PlatformFacts } from '../platforms/platform.ts'
import { readArguments, type Setting, type Settings } from './arguments.ts'
import { firstLine } from './first-line.ts'
import { nearFlag } from './near-flag.ts'
import { messagesOf, resolvedFrom, valuesOf } from './settings.ts'

/**
 * What `quiesce serve` is told, by flag, `QUIESCE_*` environment variable or config file, in this
 * order. The three use the same names: `--request-timeout`, `QUIESCE_REQUEST_TIMEOUT`,
 * `request-timeout`. Whatever is wrong is collected, named by where it was written, and reported
 * together.
 */

/** What only the command has. */
const COMMAND_OPTIONS = defineOptions({
  logLevel: option(choice('debug', 'info', 'warn', 'error', 'silent'), { flag: 'log-level', default: 'info', meaning: 'What is logged' }),
  pretty: option(onOff(), {
    flag: 'pretty',
    defaultWords: 'on a terminal',
    meaning: 'Log for people, show on a terminal what a drain waits for, and print a timeline at the end',
  }),
  config: option(text('a JSON or YAML file'), {
    flag: 'config',
    defaultWords: 'none',
    meaning: 'File of these settings, by the same names',
  }),
})

/**
 * Every flag of `quiesce serve`: those of the server's options, then those of the command alone.
 */
export const SERVE_FLAGS: readonly Flag[] = [SERVER_OPTIONS, COMMAND_OPTIONS].flatMap(flagsOf)

export interface ServeSettings extends Omit<ResolvedOf<typeof COMMAND_OPTIONS>, 'config'> {
  readonly options: ServerOptions
}

export interface SettingsSources {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly facts: PlatformFacts
  /** Reads and parses a config file. */
  readonly readConfig: (path: string) => Promise<unknown>
}

/** The settings, or one line for every problem. */
export async function readSettings(sources: SettingsSources): Promise<ServeSettings | { readonly problems: readonly string[] }> {
  const fromArgs = readArguments('serve', SERVE_FLAGS, sources.args)
  const fromEnv = readEnvironment(sources.env)
  const file = fromArgs.settings.get('config') ?? fromEnv.settings.get('config')
  const fromConfig = file ? await readConfig(file, sources.readConfig) : NOTHING
  const settings = new Map([...fromConfig.settings, ...fromEnv.settings, ...fromArgs.settings])
  settings.delete('config')
  const { options, problems, wording } = valuesOf(SERVER_OPTIONS, settings)
  const { resolved, problems: ofCommand } = resolvedFrom(COMMAND_OPTIONS, settings)
  const all = [
    ...[fromArgs, fromEnv, fromConfig].flatMap((source) => source.problems),
    ...problems,
    ...messagesOf(() => resolveServerOptions(options, { ...wording, facts: sources.facts })),
    ...ofCommand,
  ]
  return all.length > 0 ? { problems: all } : { options, logLevel: resolved.logLevel, pretty: resolved.pretty }
}

interface Source {
  readonly settings: Settings
  readonly problems: readonly string[]
}

const NOTHING: Source = { settings: new Map(), problems: [] }

const unknown = (label: string, what: string, near: string): string => `${label}: unknown ${what}${near || ', see quiesce serve --help'}`

function readEnvironment(env: SettingsSources['env']): Source {
  const settings = new Map<string, Setting>()
  const problems: string[] = []
  const names = SERVE_FLAGS.map((flag) => flag.env)
  for (const [label, given] of Object.entries(env)) {
    const flag = SERVE_FLAGS.find((each) => each.env === label)
    if (given === undefined || isServiceLink(label, given)) continue
    if (flag) settings.set(flag.name, { given, label })
    else if (label.startsWith(ENV_PREFIX)) problems.push(unknown(label, 'environment variable', didYouMean(label, names, ENV_PREFIX)))
  }
  return { settings, problems }
}

async function readConfig({ given: path, label }: Setting, read: SettingsSources['readConfig']): Promise<Source> {
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
  const known = SERVE_FLAGS.filter(({ option: name }) => name !== 'config')
  for (const [name, given] of Object.entries(config)) {
    const where = `${name} in ${path}`
    if (known.some((flag) => flag.name === name)) settings.set(name, { given, label: where })
    else problems.push(unknown(where, 'key', nearFlag(name, known, '')))
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
