import { apiserverWording } from './apiserver-wording.ts'
import { AUDIT_OPTIONS, checkAudit } from './audit/options.ts'
import { AUTHENTICATION_OPTIONS } from './authentication/options.ts'
import { hasClientCa, hasTls, requestingCertificates } from './authentication/requested-certificates.ts'
import { AUTHORIZATION_OPTIONS, checkAuthorization } from './authorization/options.ts'
import { CHAIN_OPTIONS } from './chain/options.ts'
import {
  composeOptions,
  type DefaultLog,
  defineOptions,
  isRecord,
  type OptionTable,
  ownFields,
  Problems,
  type ProblemWording,
  type ResolvedOf,
  resolveOptions,
  SERVER_OPTIONS,
  type ServerOptions,
  type UserOptions,
  type Warning,
  warningsOf,
} from './engine.ts'
import { GROUP_OPTIONS } from './groups/options.ts'
import { PATH_OPTIONS } from './mux/options.ts'
import { longRunningRule } from './request/long-running.ts'

/**
 * What an API server has beside a server's options; each folder that does something has its own.
 * @see kubernetes/apiserver pkg/server/config.go NewConfig, and
 * pkg/server/options/server_run_options.go
 */
export const API_SERVER_OPTIONS = defineOptions({
  ...CHAIN_OPTIONS,
  ...GROUP_OPTIONS,
  ...PATH_OPTIONS,
  ...AUTHORIZATION_OPTIONS,
  ...AUDIT_OPTIONS,
  ...AUTHENTICATION_OPTIONS,
})

/** What the chain decides itself is no option of its server. */
export const OF_THE_CHAIN = ['longRunning', 'steps', 'health', 'metrics', 'websocket'] as const satisfies readonly (keyof ServerOptions)[]

const ENGINE_OPTIONS = Object.fromEntries(
  Object.entries(SERVER_OPTIONS).filter(([name]) => !(OF_THE_CHAIN as readonly string[]).includes(name)),
) as Omit<typeof SERVER_OPTIONS, (typeof OF_THE_CHAIN)[number]>

/** Every option of an API server. */
export const API_SERVER_TABLE = composeOptions(ENGINE_OPTIONS, API_SERVER_OPTIONS)

/** Everything that can be set of an API server. `undefined` is the same as leaving it out. */
export interface ApiServerConfig extends Omit<ServerOptions, (typeof OF_THE_CHAIN)[number]>, UserOptions<typeof API_SERVER_OPTIONS> {}

/** The same in every copy of this package: a module that a command loads may have its own. */
const COMPLETED: unique symbol = Symbol.for('quiesce.apiserver.completed')

/**
 * A config with every default filled in; only {@link completeConfig} makes one, and a server is
 * made of nothing else. Servers of one chain share it, and with it one life.
 */
export interface CompletedConfig extends ResolvedOf<typeof API_SERVER_OPTIONS> {
  readonly [COMPLETED]: true
  /** What the engine is given. */
  readonly engine: ServerOptions
  /** Where the engine has no logger of the user's. */
  readonly log?: DefaultLog | undefined
  readonly isLongRunning: ReturnType<typeof longRunningRule>
  /** What was given and has no effect, a sentence each; said when the server is prepared. */
  readonly warnings: readonly Warning[]
  /** Whether a listener asks its clients for certificates. */
  readonly hasClientCa: boolean
  readonly hasTls: boolean
  /** Everything, as text that people read: for a command that prints its options. */
  toJSON(): Readonly<Record<string, unknown>>
}

/**
 * Fills in every default, in one place.
 * @throws QuiesceError ERR_OPTION_INVALID with one line for every option that cannot be used
 * @see kubernetes/apiserver pkg/server/config.go Config.Complete
 */
export function completeConfig(config: ApiServerConfig = {}): CompletedConfig {
  return completeConfigFor({}, config)
}

/** Who completes it: a command names options as its user wrote them, and has a log of its own. */
export interface CompletedFor {
  readonly wording?: ProblemWording
  readonly log?: DefaultLog
}

/** {@link completeConfig} for a command. */
export function completeConfigFor({ wording, log }: CompletedFor, config: ApiServerConfig): CompletedConfig {
  const table: OptionTable = API_SERVER_TABLE
  const problems = new Problems(table, wording)
  const given = problems.checkEach(config)
  checkAudit(given, problems)
  checkAuthorization(given, problems)
  const warnings = warningsOf('WARN_WITHOUT_EFFECT', problems.checkNeeds(given))
  problems.throwIfAny()
  const own = resolveOptions(API_SERVER_OPTIONS, given as UserOptions<typeof API_SERVER_OPTIONS>)
  const isLongRunning = longRunningRule({ verbs: own.longRunningVerbs, subresources: own.longRunningSubresources })
  const engine = engineOptionsOf(given)
  const hasFurtherCa = own.requestHeader !== undefined || own.authenticationWebhook?.apiServer !== undefined
  return {
    ...own,
    [COMPLETED]: true,
    isLongRunning,
    hasClientCa: hasClientCa(engine),
    hasTls: hasTls(engine),
    engine: { wording: apiserverWording, ...requestingCertificates(engine, hasFurtherCa) },
    log,
    warnings,
    toJSON: () => shown(table, given),
  }
}

/** The options of an API server that its life has. */
export const engineOptionsOf = (options: Readonly<Record<string, unknown>>): ServerOptions =>
  ownFields(Object.fromEntries(Object.entries(options).filter(([name]) => !Object.hasOwn(API_SERVER_OPTIONS, name))))

/** Whether it came out of {@link completeConfig}. */
export const isCompleted = (config: unknown): config is CompletedConfig => isRecord(config) && COMPLETED in config

const shown = (table: OptionTable, given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(table).map(([name, row]) => {
      const chosen = given[name] ?? row.default
      return [name, chosen === undefined ? null : row.show(chosen as never)]
    }),
  )
