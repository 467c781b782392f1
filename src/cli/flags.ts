import { parseArgs } from 'node:util'
import { didYouMean } from '../base/did-you-mean.ts'
import { QuiesceError, show } from '../base/errors.ts'
import {
  INSPECTOR_TOKEN_ALLOWED,
  isInspectorToken,
  OPTION_NAMES,
  type OptionName,
  type OptionRow,
  optionRow,
} from '../options/option-table.ts'
import { type InspectorOptions, resolveServerOptions, type ServerOptions } from '../options/options.ts'
import type { PlatformFacts } from '../options/platform.ts'
import type { OptionProblem } from '../options/problems.ts'
import { firstLine } from './first-line.ts'

/**
 * What `quiesce serve` is told, by flag, `QUIESCE_*` environment variable or config file, in this order. The three use the
 * same names: `--request-timeout`, `QUIESCE_REQUEST_TIMEOUT`, `request-timeout`. Whatever is wrong is collected, named by
 * where it was written, and reported together.
 */

export interface Flag {
  /** Without the dashes. */
  readonly name: string
  readonly kind: OptionRow['kind']
  readonly allowed: string
  readonly default: string
  readonly meaning: string
  /** The option it sets; none for those of the command line alone. */
  readonly option?: OptionName
}

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
type LogLevel = (typeof LOG_LEVELS)[number]

const ADDRESS_ALLOWED = 'HOST:PORT with a port from 0 to 65535'

const CLI_FLAGS: readonly Flag[] = [
  {
    name: 'inspector-address',
    kind: 'value',
    allowed: ADDRESS_ALLOWED,
    default: '127.0.0.1:0, a free port',
    meaning: 'Address of the inspector, which it turns on; all but loopback addresses need its token',
  },
  {
    name: 'inspector-token',
    kind: 'text',
    allowed: INSPECTOR_TOKEN_ALLOWED,
    default: 'a new one where it is needed, logged once',
    meaning: 'What a browser has to bring to the inspector; better as an environment variable, which other users do not see',
  },
  { name: 'log-level', kind: 'choice', allowed: LOG_LEVELS.join(', '), default: 'info', meaning: 'What is logged' },
  {
    name: 'pretty',
    kind: 'switch',
    allowed: 'true, false',
    default: 'on a terminal',
    meaning: 'Log for people, show on a terminal what a drain waits for, and print a timeline at the end',
  },
  { name: 'config', kind: 'text', allowed: 'a JSON or YAML file', default: 'none', meaning: 'File of these settings, by the same names' },
]

/** Every flag of `quiesce serve`: those of the option table, in its order, then those of the command line alone. */
export const SERVE_FLAGS: readonly Flag[] = [
  ...OPTION_NAMES.flatMap((option): Flag[] => {
    const row = optionRow(option)
    if (row.flag === undefined) return []
    const { flag: name, kind, cliDefault, cliMeaning: meaning = row.meaning } = row
    const allowed = kind === 'switch' ? 'true, false' : (row.allowedAsText ?? row.allowed)
    return [{ name, kind, allowed, default: cliDefault ?? (kind === 'switch' ? 'false' : row.default), meaning, option }]
  }),
  ...CLI_FLAGS,
]

const FLAG_NAMES = SERVE_FLAGS.map(({ name }) => name)

/** The flag of an option that somebody called by its name in code. */
const flagOf = (option: string): string | undefined => SERVE_FLAGS.find((flag) => flag.option === option)?.name

const ENV_PREFIX = 'QUIESCE_'
export const envName = (flag: string): string => `${ENV_PREFIX}${flag.toUpperCase().replaceAll('-', '_')}`

/** Something that was set, and where. */
interface Setting {
  readonly given: unknown
  /** `--port`, `QUIESCE_PORT` or `port in FILE`. */
  readonly label: string
}

export interface ServeSettings {
  readonly options: ServerOptions
  readonly logLevel: LogLevel
  /** undefined: it depends on the terminal. */
  readonly pretty: boolean | undefined
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
  const reader = new SettingsReader()
  const fromArgs = reader.fromArgs(sources.args)
  const fromEnv = reader.fromEnv(sources.env)
  const file = fromArgs.get('config') ?? fromEnv.get('config')
  const fromConfig = file ? await reader.fromConfig(file, sources.readConfig) : new Map<string, Setting>()
  const settings = new Map([...fromConfig, ...fromEnv, ...fromArgs])
  const result: ServeSettings = {
    options: reader.options(settings, sources.facts),
    logLevel: reader.logLevel(settings),
    pretty: reader.switch(settings.get('pretty')),
  }
  return reader.problems.length > 0 ? { problems: reader.problems } : result
}

class SettingsReader {
  readonly problems: string[] = []

  fromArgs(args: readonly string[]): Map<string, Setting> {
    const settings = new Map<string, Setting>()
    const { tokens } = parseArgs({
      args: [...args],
      strict: false,
      tokens: true,
      options: Object.fromEntries(
        SERVE_FLAGS.map(({ name, kind }) => [name, { type: kind === 'switch' ? ('boolean' as const) : ('string' as const) }]),
      ),
    })
    // A value that is a flag was meant as one: `--bind-address --port 80`.
    const swallowed = tokens.find((token) => token.kind === 'option' && !token.inlineValue && token.value?.startsWith('--'))
    if (swallowed) {
      this.#noValue(args[swallowed.index] as string)
      return this.fromArgs(args.toSpliced(swallowed.index, 1))
    }
    let unknownAt = Number.NaN
    let switched: { readonly name: string; readonly label: string; readonly index: number } | undefined
    for (const token of tokens) {
      if (token.kind === 'positional') {
        // There are no other arguments: what follows a switch is its value.
        if (switched?.index === token.index - 1 && isSwitchValue(token.value)) {
          settings.set(switched.name, { given: token.value, label: switched.label })
        } else if (token.index !== unknownAt + 1) {
          // What follows an unknown flag was meant as its value.
          this.problems.push(`${show(token.value)}: unexpected argument, see quiesce serve --help`)
        }
      }
      if (token.kind !== 'option') continue
      const { rawName: label, value, index } = token
      const flag = SERVE_FLAGS.find(({ name }) => `--${name}` === label)
      const off = value === undefined ? SERVE_FLAGS.find(({ name, kind }) => kind === 'switch' && `--no-${name}` === label) : undefined
      if (off) settings.set(off.name, { given: false, label })
      else if (!flag) {
        this.#unknown(label, 'flag', label, { known: FLAG_NAMES.map((name) => `--${name}`), prefix: '--' })
        unknownAt = index
      } else if (flag.kind === 'switch') {
        settings.set(flag.name, { given: value ?? true, label })
        if (value === undefined) switched = { name: flag.name, label, index }
      } else if (value === undefined) this.#noValue(label)
      else settings.set(flag.name, { given: value, label })
    }
    return settings
  }

  fromEnv(env: SettingsSources['env']): Map<string, Setting> {
    const settings = new Map<string, Setting>()
    for (const [label, given] of Object.entries(env)) {
      if (!label.startsWith(ENV_PREFIX) || given === undefined || isServiceLink(label, given)) continue
      const flag = FLAG_NAMES.find((name) => envName(name) === label)
      if (flag === undefined) this.#unknown(label, 'environment variable', label, { known: FLAG_NAMES.map(envName), prefix: ENV_PREFIX })
      else settings.set(flag, { given, label })
    }
    return settings
  }

  async fromConfig({ given: path, label }: Setting, read: SettingsSources['readConfig']): Promise<Map<string, Setting>> {
    const settings = new Map<string, Setting>()
    let config: unknown
    try {
      config = await read(String(path))
    } catch (thrown) {
      this.problems.push(`${label}: got ${show(path)}, allowed: a JSON or YAML file (${firstLine((thrown as Error).message)})`)
      return settings
    }
    if (typeof config !== 'object' || config === null || Array.isArray(config)) {
      this.problems.push(`${label}: got ${show(path)}, allowed: a file with one object (it holds ${show(config)})`)
      return settings
    }
    const names = FLAG_NAMES.filter((name) => name !== 'config')
    for (const [name, given] of Object.entries(config)) {
      if (names.includes(name)) settings.set(name, { given, label: `${name} in ${path}` })
      else this.#unknown(`${name} in ${path}`, 'key', flagOf(name) ?? name, { known: names })
    }
    return settings
  }

  /** The options, checked by the same rules as everybody's, but named as the user wrote them. */
  options(settings: ReadonlyMap<string, Setting>, facts: PlatformFacts): ServerOptions {
    const options: Record<string, unknown> = {}
    const labels = new Map<OptionName, string>()
    for (const flag of SERVE_FLAGS) {
      if (flag.option === undefined) continue
      const setting = settings.get(flag.name)
      labels.set(flag.option, setting?.label ?? `--${flag.name}`)
      const given =
        flag.option === 'inspector'
          ? this.#inspector(settings)
          : setting
            ? this.#optionValue(flag, setting)
            : optionRow(flag.option).cliDefault
      if (given !== undefined) options[flag.option] = given
    }
    try {
      resolveServerOptions(options as ServerOptions, { facts, asText: true, label: (name) => labels.get(name) ?? name })
    } catch (thrown) {
      if (!(thrown instanceof QuiesceError)) throw thrown
      for (const { message } of thrown.details['problems'] as readonly OptionProblem[]) this.problems.push(message)
    }
    return options as ServerOptions
  }

  logLevel(settings: ReadonlyMap<string, Setting>): LogLevel {
    const setting = settings.get('log-level')
    const level = LOG_LEVELS.find((name) => name === (setting?.given ?? 'info'))
    if (setting && level === undefined) this.#refuse(setting, LOG_LEVELS.join(', '))
    return level ?? 'info'
  }

  switch(setting: Setting | undefined): boolean | undefined {
    const given = setting?.given
    if (given === true || given === 'true') return true
    if (given === false || given === 'false') return false
    if (setting) this.#refuse(setting, 'true, false')
    return undefined
  }

  /** Text as the option wants it. What cannot be converted is passed on as it is, and refused with the others. */
  #optionValue({ option, kind, allowed }: Flag, setting: Setting): unknown {
    const { given } = setting
    if (option === 'admin') {
      const address = addressOf(given)
      if (!address) this.#refuse(setting, allowed)
      return address
    }
    if (option === 'host') return withoutBrackets(given)
    if (kind === 'switch') {
      const on = this.switch(setting)
      return on === undefined ? undefined : on ? 'retry-after' : 'refuse'
    }
    if (kind === 'port') return typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given
    return given
  }

  /** One option of the library, three flags. */
  #inspector(settings: ReadonlyMap<string, Setting>): InspectorOptions | undefined {
    const isOn = this.switch(settings.get('inspector'))
    const addressSetting = settings.get('inspector-address')
    const address = addressSetting && addressOf(addressSetting.given)
    if (addressSetting && !address) this.#refuse(addressSetting, ADDRESS_ALLOWED)
    const token = settings.get('inspector-token')
    if (token && !isInspectorToken(token.given)) this.#refuse(token, INSPECTOR_TOKEN_ALLOWED)
    if (isOn === false || (isOn === undefined && !address)) return undefined
    return { ...address, ...(isInspectorToken(token?.given) && { token: token.given }) }
  }

  #refuse({ label, given }: Setting, allowed: string): void {
    this.problems.push(`${label}: got ${show(given)}, allowed: ${allowed}`)
  }

  #noValue(label: string): void {
    const flag = SERVE_FLAGS.find(({ name }) => `--${name}` === label)
    this.problems.push(`${label}: got no value, allowed: ${flag?.allowed}`)
  }

  #unknown(label: string, what: string, meant: string, { known, prefix }: { known: readonly string[]; prefix?: string }): void {
    this.problems.push(`${label}: unknown ${what}${didYouMean(meant, known, prefix) || ', see quiesce serve --help'}`)
  }
}

/**
 * Kubernetes puts the addresses of every Service into the environment of every pod. A Service named `quiesce` must not keep
 * its own pods from starting.
 */
const isServiceLink = (name: string, value: string): boolean =>
  /_SERVICE_(HOST|PORT(_\w+)?)$/.test(name) ||
  /_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name) ||
  (/_PORT$/.test(name) && /^\w+:\/\//.test(value))

/** `HOST:PORT`, with an IPv6 address in brackets. */
function addressOf(text: unknown): { host: string; port: number } | undefined {
  const [, bracketed, plain, digits] = (typeof text === 'string' && /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text)) || []
  const host = bracketed ?? plain
  const port = Number(digits)
  return host !== undefined && port <= 65_535 ? { host, port } : undefined
}

/** An IPv6 address as it stands in a URL and in `HOST:PORT`. Node wants it bare. */
const withoutBrackets = (host: unknown): unknown => (typeof host === 'string' ? host.replace(/^\[([\da-f:.]*:[^\]]*)\]$/i, '$1') : host)

const isSwitchValue = (text: string): boolean => text === 'true' || text === 'false'
