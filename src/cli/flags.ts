import { DEMO_SETTINGS } from '../example/demo.ts'
import { composeOptions, defineOptions, option, type ResolvedOf, withoutCliDefaults } from '../options/kit/define.ts'
import { type Flag, flagsOf } from '../options/kit/flags.ts'
import { choice, file, onOff, text } from '../options/kit/kinds.ts'
import type { ProblemWording } from '../options/kit/problems.ts'
import { resolveServerOptions, type ServerOptions } from '../options/options.ts'
import { SERVER_OPTIONS } from '../options/rows/lifecycle.ts'
import { LISTEN_OPTIONS } from '../options/rows/listeners.ts'
import { UPSTREAM_WORDING } from '../options/rows/wording.ts'
import { apiServerWording } from './api-server-program.ts'
import type { Setting, Settings } from './arguments.ts'
import { APP_ALLOWED } from './runnable.ts'
import {
  flagsOfCommand,
  readAll,
  readAround,
  type Serving,
  type SettingsProblems,
  type SettingsSource,
  type SettingsSources,
} from './serving.ts'
import { messagesOf } from './settings.ts'

export const LOG_OPTIONS = defineOptions({
  logLevel: option(choice('debug', 'info', 'warn', 'error', 'silent'), { flag: 'log-level', default: 'info', meaning: 'What is logged' }),
})

/** What only the commands have that serve. */
export const COMMAND_OPTIONS = defineOptions({
  ...LOG_OPTIONS,
  config: option(file('a JSON or YAML file'), {
    flag: 'config',
    defaultWords: 'none',
    meaning: 'File with these settings, under the same names',
  }),
})

/** The options of a command that is given a module. */
export const EXPORT_OPTIONS = defineOptions({
  export: option(
    { ...text('the name of an export'), placeholder: 'NAME' },
    {
      flag: 'export',
      default: 'default',
      meaning: 'Export of the module that is run',
    },
  ),
})

/** What only `quiesce run` has. */
const RUN_OPTIONS = defineOptions({
  ...EXPORT_OPTIONS,
  watch: option(onOff(), {
    flag: 'watch',
    default: false,
    meaning: 'Restart, after a drain, when a source file of the package changes',
  }),
})

const problemsOf: Serving<never, never>['problemsOf'] = (options, context) => messagesOf(() => resolveServerOptions(options, context))

/** What only `quiesce serve` has. */
const SERVE_OPTIONS = defineOptions({
  demo: option(onOff(), {
    flag: 'demo',
    default: false,
    meaning: 'Keep slow requests, a watch and a slow hook under way, and allow time for them, so that a stop shows how they are drained',
  }),
})

/**
 * The times of the demonstration, where nothing else was set. A deadline of the user's may have no
 * room for them.
 */
function withDemo(settings: Settings): Settings {
  const given = settings.get('demo')?.given
  if ((given !== true && given !== 'true') || settings.has('deadline')) return settings
  const demo = Object.entries(DEMO_SETTINGS).map(([name, value]) => [name, { given: value, label: '--demo' }] as const)
  return new Map<string, Setting>([...demo, ...settings])
}

/** Has `upstream` name words that another package has. */
async function withUpstreamsWords(settings: Settings): Promise<Settings> {
  const setting = settings.get('wording')
  if (setting?.given !== UPSTREAM_WORDING) return settings
  const words = await apiServerWording()
  return words ? new Map(settings).set('wording', { ...setting, given: words }) : settings
}

const SERVE = {
  command: 'quiesce serve',
  server: SERVER_OPTIONS,
  own: composeOptions(SERVE_OPTIONS, COMMAND_OPTIONS),
  operandsMax: 0,
  problemsOf,
  completed: (settings: Settings) => withUpstreamsWords(withDemo(settings)),
} as const

/** The server is the user's, and so it has the defaults that it has in code. */
const RUN = {
  command: 'quiesce run',
  server: withoutCliDefaults(SERVER_OPTIONS),
  own: composeOptions(RUN_OPTIONS, COMMAND_OPTIONS),
  operandsMax: 1,
  problemsOf,
  completed: withUpstreamsWords,
} as const

/**
 * What the environment of a command that serves sets, and the config file that is named there.
 */
export const settingsAround = (sources: Pick<SettingsSources, 'env' | 'readConfig'>): Promise<SettingsSource> =>
  readAround({ ...RUN, own: composeOptions(SERVE_OPTIONS, RUN.own) }, sources)

/**
 * Every flag of `quiesce serve`: those of the server's options, then those of the command alone.
 */
export const SERVE_FLAGS: readonly Flag[] = flagsOfCommand(SERVE)

/** Every flag of `quiesce run`: the same, and a few. */
export const RUN_FLAGS: readonly Flag[] = flagsOfCommand(RUN)

/** What both commands know in the end. */
interface ServedSettings extends Omit<ResolvedOf<typeof COMMAND_OPTIONS>, 'config'> {
  readonly options: ServerOptions
  /** How messages name options. */
  readonly wording?: ProblemWording
}

export interface ServeSettings extends ServedSettings, ResolvedOf<typeof SERVE_OPTIONS> {}

export interface RunSettings extends ServedSettings, ResolvedOf<typeof RUN_OPTIONS> {
  /** The module. */
  readonly app: string
  /**
   * The settings of a server, as they were written; a command with options of its own takes none.
   */
  readonly serverSettings: readonly Setting[]
  /** The settings among these that only a server takes which is created here. */
  readonly createdSettings: readonly Setting[]
}

/** The settings of `quiesce serve`, or one line for every problem. */
export async function readSettings(sources: SettingsSources): Promise<ServeSettings | SettingsProblems> {
  const read = await readAll(SERVE, sources)
  if ('problems' in read) return read
  const { options, own, wording } = read
  const { config: _, ...rest } = own
  return { options, ...rest, wording }
}

/** The settings of `quiesce run`, or one line for every problem. */
export async function readRunSettings(sources: SettingsSources): Promise<RunSettings | SettingsProblems> {
  const read = await readAll(RUN, sources)
  if ('problems' in read) return read
  const { options, own, operand, settings, wording } = read
  if (!operand) return { problems: [`run: no module was given, allowed: ${APP_ALLOWED}; see quiesce run --help`] }
  const { config: _, ...rest } = own
  const ofRun = new Set(flagsOf(RUN_OPTIONS).map(({ name }) => name))
  const serverSettings = [...settings].flatMap(([name, setting]) => (ofRun.has(name) ? [] : [setting]))
  const ofCreated = new Set(flagsOf(LISTEN_OPTIONS).flatMap(({ name, option: of }) => (of === 'port' || of === 'host' ? [] : [name])))
  const createdSettings = [...settings].flatMap(([name, setting]) => (ofCreated.has(name) ? [setting] : []))
  return { app: operand, options, ...rest, wording, serverSettings, createdSettings }
}
