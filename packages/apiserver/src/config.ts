import { apiserverWording } from './apiserver-wording.ts'
import { AUDIT_OPTIONS } from './audit/options.ts'
import { AUTHENTICATION_OPTIONS } from './authentication/options.ts'
import { AUTHORIZATION_OPTIONS, checkAuthorization, needsAuthorizationOf } from './authorization/options.ts'
import { EXPRESSIONS_ALLOWED, wrongExpression } from './chain/cors.ts'
import type { UserFilter } from './chain/filter.ts'
import { type FlowControl, isFlowControl } from './chain/flow-control.ts'
import { DIRECTIVES_ALLOWED, wrongDirective } from './chain/hsts.ts'
import { isTracing } from './chain/tracing.ts'
import {
  composeOptions,
  type DefaultLog,
  defineOptions,
  duration,
  integer,
  isRecord,
  isText,
  listOf,
  type OptionTable,
  onOff,
  option,
  ownFields,
  Problems,
  type ProblemWording,
  type ResolvedOf,
  resolveOptions,
  SERVER_OPTIONS,
  type ServerOptions,
  setOf,
  type TlsOptions,
  type UserOptions,
  value,
  type Warning,
  warningsOf,
  withCommas,
  writtenNumber,
} from './engine.ts'
import { ADMISSION_ALLOWED, type AdmissionPlugin, isAdmissionPlugin } from './groups/admission/plugin.ts'
import { longRunningRule } from './request/long-running.ts'
import type { RequestTracing } from './tracing/request-tracing.ts'

/** Upstream's flag is a whole number of seconds; what else is written there has a unit. */
const secondsOrDuration = () => ({
  ...duration(),
  allowedAsText: 'whole seconds, or a duration like 30m or 1h30m',
  fromText: (given: unknown) => {
    const seconds = writtenNumber(given)
    return seconds === undefined ? given : `${seconds}s`
  },
})

/**
 * What an API server has beside a server's options. @see kubernetes/apiserver
 * pkg/server/config.go NewConfig, pkg/server/options/server_run_options.go
 */
export const API_SERVER_OPTIONS = defineOptions({
  /**
   * A watch ends by itself after a random time between this and twice as much, unless its client
   * asks for another.
   * @default 30m
   */
  minRequestTimeout: option(secondsOrDuration(), {
    flag: 'min-request-timeout',
    default: '30m',
    meaning: 'Shortest time after which a watch ends by itself',
    upstream: '--min-request-timeout',
    upstreamRefusal: '--min-request-timeout can not be negative value',
  }),
  /**
   * Longest time that the hook of `storageReadiness` waits for storages; the server becomes ready
   * then, with a warning.
   * @default 1m
   */
  storageInitializationTimeout: option(duration(), {
    flag: 'storage-initialization-timeout',
    default: '1m',
    meaning: 'Longest time that the hook of storageReadiness waits for storages',
    upstream: '--storage-initialization-timeout',
    upstreamRefusal: '--storage-initialization-timeout can not be negative value',
  }),
  /**
   * Bytes of a request's body, of those whose body the server reads itself: requests for objects.
   * @default 3145728
   */
  maxRequestBodyBytes: option(integer(1, 1_000_000_000), {
    default: 3 * 1024 * 1024,
    meaning: 'Longest body of a request for objects',
  }),
  /**
   * Requests that only read which are served at a time; 0 is no limit.
   * @default 400
   */
  maxRequestsInFlight: option(integer(0, 1_000_000), {
    flag: 'max-requests-inflight',
    default: 400,
    meaning: 'Requests that only read which are served at a time; 0 is no limit',
    upstream: '--max-requests-inflight',
    upstreamRefusal: '--max-requests-inflight can not be negative value',
  }),
  /**
   * Requests that change something which are served at a time; 0 is no limit.
   * @default 200
   */
  maxMutatingRequestsInFlight: option(integer(0, 1_000_000), {
    flag: 'max-mutating-requests-inflight',
    default: 200,
    meaning: 'Requests that change something which are served at a time; 0 is no limit',
    upstream: '--max-mutating-requests-inflight',
    upstreamRefusal: '--max-mutating-requests-inflight can not be negative value',
  }),
  /**
   * Origins whose pages may read the answers: regular expressions, each of which matches anywhere
   * in an origin, so that it has to pin to the start and the end of the host. An empty list lets
   * none.
   * @default none
   */
  corsAllowedOrigins: option(withCommas(listOf<string>(EXPRESSIONS_ALLOWED, wrongExpression)), {
    flag: 'cors-allowed-origins',
    default: [],
    defaultWords: () => 'none',
    meaning: 'Origins whose pages may read the answers: regular expressions such as //example.com(:|$)',
    upstream: '--cors-allowed-origins',
  }),
  /**
   * Directives of `Strict-Transport-Security`; an empty list sends none.
   * @default none
   */
  hstsDirectives: option(withCommas(listOf<string>(DIRECTIVES_ALLOWED, wrongDirective)), {
    flag: 'strict-transport-security-directives',
    default: [],
    defaultWords: () => 'none',
    meaning: 'Directives of the header Strict-Transport-Security',
    upstream: '--strict-transport-security-directives',
  }),
  /**
   * Whether `/` lists the paths that are served.
   * @default true
   */
  enableIndex: option(onOff(), { default: true, meaning: 'Whether / lists the paths that are served', upstream: 'Config.EnableIndex' }),
  /**
   * Whether `/apis` says which API groups are served.
   * @default true
   */
  enableDiscovery: option(onOff(), {
    default: true,
    meaning: 'Whether /apis says which API groups are served',
    upstream: 'Config.EnableDiscovery',
  }),
  /**
   * Whether `/openapi/v2` and `/openapi/v3` describe the API groups that are served.
   * @default true
   */
  enableOpenApi: option(onOff(), {
    default: true,
    meaning: 'Whether /openapi/v2 and /openapi/v3 describe the API groups that are served',
    upstream: 'Config.SkipOpenAPIInstallation',
  }),
  /**
   * Whether `/statusz` says what runs, and since when.
   * @default true
   */
  enableStatusz: option(onOff(), {
    default: true,
    meaning: 'Whether /statusz says what runs, and since when',
    upstream: 'feature gate ComponentStatusz',
  }),
  /**
   * Whether `/metrics` is served.
   * @default true
   */
  enableMetrics: option(onOff(), { default: true, meaning: 'Whether /metrics is served', upstream: 'Config.EnableMetrics' }),
  /**
   * Verbs of requests that last: they are neither bounded nor limited, and a drain tells them to
   * end.
   * @default watch
   */
  longRunningVerbs: option(setOf<string>('a list of verbs', isText), {
    default: ['watch'],
    meaning: 'Verbs of requests that last',
    upstream: 'Config.LongRunningFunc',
  }),
  /**
   * Subresources whose requests last, under any verb.
   * @default none
   */
  longRunningSubresources: option(setOf<string>('a list of subresources', isText), {
    default: [],
    defaultWords: () => 'none',
    meaning: 'Subresources whose requests last, under any verb',
    upstream: 'Config.LongRunningFunc',
  }),
  /**
   * Plugins that decide about writes of objects, and may change what is written, in their order.
   * @default none
   */
  admission: option(
    listOf<AdmissionPlugin>('a list of { name, handles?, mutate?, validate? }', (item) =>
      isAdmissionPlugin(item) ? undefined : { path: '', given: item, allowed: ADMISSION_ALLOWED },
    ),
    {
      defaultWords: 'none',
      meaning: 'Plugins that decide about writes of objects, and may change what is written, in their order',
      upstream: 'Config.AdmissionControl',
    },
  ),
  /**
   * Filters of your own, each directly before or after another one; without a place behind the
   * last.
   * @default none
   */
  filters: option(
    listOf<UserFilter>('a list of { name, admit, over?, before?, after? }', (item) =>
      isRecord(item) && isText(item['name']) && typeof item['admit'] === 'function'
        ? undefined
        : { path: '', given: item, allowed: 'an object with name and admit' },
    ),
    { defaultWords: 'none', meaning: 'Filters of your own, each directly before or after another one' },
  ),
  /**
   * Which requests are served at a time, and which wait or are sent away, in place of the two
   * limits.
   * @default the limits maxRequestsInFlight and maxMutatingRequestsInFlight
   */
  flowControl: option(value<FlowControl>('an object with admit()', isFlowControl), {
    defaultWords: 'the limits maxRequestsInFlight and maxMutatingRequestsInFlight',
    meaning: 'Which requests are served at a time, and which wait or are sent away, in place of the two limits',
    upstream: 'Config.FlowControl',
  }),
  /**
   * Has each request be a span, with what `traceRequests()` of `quiesce/opentelemetry` returns.
   * @default none
   */
  tracing: option(value<RequestTracing>('what traceRequests() returns', isTracing), {
    defaultWords: 'none',
    meaning: 'Has each request be a span of OpenTelemetry',
    upstream: 'Config.TracerProvider',
  }),
  /**
   * Whether `/debug/pprof/` serves CPU profiles and heap snapshots, and `DELETE /metrics` forgets
   * what was counted. A heap snapshot has every secret of the process in it: only with
   * authorization.
   * @default false
   */
  enableProfiling: option(onOff(), {
    flag: 'profiling',
    default: false,
    meaning: 'Whether /debug/pprof/ serves CPU profiles and heap snapshots, and DELETE /metrics forgets what was counted',
    upstream: '--profiling',
    needs: needsAuthorizationOf(
      '/debug/pprof/heap',
      'a heap snapshot has every secret of the process in it, and everyone would be given one (AlwaysAllow and paths that are always allowed decide nothing)',
    ),
  }),
  /**
   * What `/version` answers.
   * @default { gitVersion: 'v0.0.0' }
   */
  version: option(value<Readonly<Record<string, string>>>('an object of texts', isRecord), {
    default: { gitVersion: 'v0.0.0' },
    defaultWords: () => "{ gitVersion: 'v0.0.0' }",
    meaning: 'What /version answers',
    upstream: 'Config.EffectiveVersion',
  }),
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
    hasClientCa: listenersOf(engine).some(({ tls }) => hasClientCa(tls)),
    hasTls: hasTls(engine),
    engine: { wording: apiserverWording, ...requestingCertificates(engine, hasFurtherCa) },
    log,
    warnings,
    toJSON: () => shown(table, given),
  }
}

/** Of the options of an API server those that its life has. */
export const engineOptionsOf = (options: Readonly<Record<string, unknown>>): ServerOptions =>
  ownFields(Object.fromEntries(Object.entries(options).filter(([name]) => !Object.hasOwn(API_SERVER_OPTIONS, name))))

const listenersOf = (engine: ServerOptions): readonly Pick<ServerOptions, 'tls'>[] => engine.listeners ?? [engine]

const hasClientCa = (tls: ServerOptions['tls']): tls is TlsOptions =>
  typeof tls === 'object' && (tls.clientCa !== undefined || tls.clientCaFile !== undefined)

const hasTls = (engine: ServerOptions): boolean => listenersOf(engine).some(({ tls }) => tls !== undefined)

/**
 * Clients are asked for certificates and need none, unless that is said: other credentials are as
 * good, and authentication decides.
 * @param hasFurtherCa whether there are CAs beside those of the listeners
 */
function requestingCertificates(engine: ServerOptions, hasFurtherCa: boolean): ServerOptions {
  const asking = <T extends Pick<ServerOptions, 'tls'>>(one: T): T => {
    if (one.tls === undefined || !(hasFurtherCa || hasClientCa(one.tls))) return one
    const tls = one.tls === 'self-signed' ? { selfSigned: true } : one.tls
    return { ...one, tls: { ...tls, clientCertificates: tls.clientCertificates ?? 'request' } }
  }
  return engine.listeners === undefined ? asking(engine) : { ...engine, listeners: engine.listeners.map(asking) }
}

/** What the options of auditing mean for each other. */
function checkAudit({ auditPolicy, auditPolicyFile }: ApiServerConfig, problems: Problems): void {
  if (auditPolicy !== undefined && auditPolicyFile !== undefined)
    problems.addForOption('auditPolicyFile', auditPolicyFile, `none beside ${problems.label('auditPolicy')}`)
}

/** Whether it came out of {@link completeConfig}. */
export const isCompleted = (config: unknown): config is CompletedConfig => isRecord(config) && COMPLETED in config

const shown = (table: OptionTable, given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(table).map(([name, row]) => {
      const chosen = given[name] ?? row.default
      return [name, chosen === undefined ? null : row.show(chosen as never)]
    }),
  )
