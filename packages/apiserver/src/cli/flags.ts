import { apiserverWording } from '../apiserver-wording.ts'
import { API_SERVER_TABLE, type ApiServerConfig, completeConfigFor, engineOptionsOf } from '../config.ts'
import {
  type AnyOption,
  composeOptions,
  defineOptions,
  type OptionTable,
  option,
  type ProblemWording,
  present,
  type ResolvedOf,
  resolveServerOptions,
  TLS_OPTIONS,
  wording,
  writtenNumber,
} from '../engine.ts'
import {
  type AbsentFlags,
  COMMAND_OPTIONS,
  EXPORT_OPTIONS,
  type Flag,
  type FlagGroups,
  flagsOfCommand,
  LOG_OPTIONS,
  messagesOf,
  printedConfig,
  readAll,
  type Serving,
  type Settings,
  type SettingsProblems,
  type SettingsSources,
} from './engine-command.ts'

/** The port of kube-apiserver; upstream's generic server has 443, for which one has to be root. */
const PORT_DEFAULT = 6443

const MAX_STREAMS = API_SERVER_TABLE.maxConcurrentStreams

/**
 * Upstream's durations have a unit wherever they are written. A number in a config file would be
 * milliseconds here and is seconds for others, so that only 0, which is the same in all, is taken.
 */
function withUnits(table: OptionTable): OptionTable {
  return Object.fromEntries(
    Object.entries(table).map(([name, row]): [string, AnyOption] => {
      if (row.fields) return [name, { ...row, fields: withUnits(row.fields) }]
      if (row.kind !== 'duration' || !row.upstream?.startsWith('--') || row.fromText) return [name, row]
      const fromText = (given: unknown): unknown => (typeof given === 'number' && given > 0 ? undefined : given)
      return [name, { ...row, fromText }]
    }),
  )
}

/** Every option of an API server, by upstream's flag where upstream has one. */
const SERVER: OptionTable = defineOptions({
  ...withUnits(API_SERVER_TABLE),
  port: { ...API_SERVER_TABLE.port, flag: 'secure-port', cliDefault: PORT_DEFAULT },
  http2: {
    ...API_SERVER_TABLE.http2,
    flag: 'disable-http2-serving',
    switch: { on: false, off: undefined, meaning: 'Speak HTTP/1.1 only', bare: false },
    defaultWords: 'false',
  },
  wording: {
    ...API_SERVER_TABLE.wording,
    ...wording(apiserverWording),
    default: undefined,
    defaultWords: 'upstream',
  },
  maxConcurrentStreams: {
    ...MAX_STREAMS,
    allowedAsText: `${MAX_STREAMS.allowed}; 0 is ${MAX_STREAMS.default}`,
    fromText: (text: unknown) => (writtenNumber(text) === '0' ? MAX_STREAMS.default : MAX_STREAMS.fromText?.(text)),
  },
  tls: {
    ...API_SERVER_TABLE.tls,
    fields: {
      ...TLS_OPTIONS,
      selfSigned: { ...TLS_OPTIONS.selfSigned, default: undefined, defaultWords: 'true, without another certificate' },
      // Other credentials are as good: completeConfig().
      clientCertificates: { ...TLS_OPTIONS.clientCertificates, default: 'request' },
    },
  },
})

/** What only `quiesce-apiserver` has. */
const API_SERVER_COMMAND_OPTIONS = defineOptions({
  ...EXPORT_OPTIONS,
  printConfig: option(present(), {
    flag: 'print-config',
    default: false,
    meaning: 'Print all settings as a config file, with defaults and without secrets, and exit',
  }),
})

/** Flags of upstream's generic server whose matter is another one here. */
const ABSENT: AbsentFlags = {
  'cert-dir': 'a certificate that the server makes itself is kept in memory only',
  'contention-profiling': 'Node has no such profile',
  'enable-priority-and-fairness': 'use --max-requests-inflight and --max-mutating-requests-inflight, or flowControl in a module',
  'permit-address-sharing': 'Node shares addresses without it',
  'permit-port-sharing': 'use workers of a cluster, which share a port',
  'tls-cipher-suites': 'Node has an option for it: NODE_OPTIONS=--tls-cipher-list=LIST',
  'tls-curve-preferences': 'node has them',
}

/** What there may be a certificate by. One is made at the start when there is none, as upstream. */
const CERTIFICATE_FLAGS = ['tls-cert-file', 'tls-private-key-file', 'tls-sni-cert-key', 'tls-self-signed']

function withCertificate(settings: Settings): Settings {
  if (CERTIFICATE_FLAGS.some((name) => settings.has(name))) return settings
  return new Map([...settings, ['tls-self-signed', { given: true, label: '--tls-self-signed' }]])
}

const API_SERVER = {
  command: 'quiesce-apiserver',
  server: SERVER,
  own: composeOptions(API_SERVER_COMMAND_OPTIONS, COMMAND_OPTIONS),
  operandsMax: 1,
  problemsOf: (options, { facts, ...wording }) => [
    ...new Set([
      ...messagesOf(() => completeConfigFor({ wording }, options)),
      ...messagesOf(() => resolveServerOptions(engineOptionsOf(options), { ...wording, facts })),
    ]),
  ],
  absent: ABSENT,
  completed: withCertificate,
} as const satisfies Serving<OptionTable, OptionTable>

/** Every flag of `quiesce-apiserver`. */
export const API_SERVER_FLAGS: readonly Flag[] = flagsOfCommand(API_SERVER)

/**
 * The groups of flags as upstream has them, and those that upstream has not behind; by option, or
 * by flag where those of an option are in several groups.
 * @see kubernetes/apiserver pkg/server/options/recommended.go AddFlags
 */
export const API_SERVER_GROUPS: FlagGroups = [
  [
    'Generic flags',
    [
      'corsAllowedOrigins',
      'hstsDirectives',
      'maxRequestsInFlight',
      'maxMutatingRequestsInFlight',
      'requestTimeout',
      'minRequestTimeout',
      'goawayChance',
      'livezGrace',
      'storage',
      'storageInitializationTimeout',
      'shutdownDelay',
      'whileDraining',
      'watchGrace',
    ],
  ],
  ['Secure serving flags', ['host', 'port', 'tls', 'http2', 'maxConcurrentStreams', 'maxHeaderSize']],
  ['Auditing flags', ['auditPolicyFile', 'auditLog', 'auditWebhook']],
  ['Features flags', ['enableProfiling', 'debugSocket']],
  [
    'Authentication flags',
    [
      '--client-ca-file',
      '--client-certificates',
      'requestHeader',
      'tokenAuthFile',
      'oidc',
      'authenticationWebhook',
      'anonymousAuth',
      'apiAudiences',
    ],
  ],
  ['Authorization flags', ['authorizationMode', 'authorizationAlwaysAllowPaths', 'authorizationRbacFile', 'authorizationWebhook']],
  [
    'Drain flags',
    ['behind', 'lastCall', 'deadline', 'killAfter', 'crashDeadline', 'requestDrainTimeout', 'connectionTimeout', 'notifyClients'],
  ],
  ['Further listeners', ['admin', 'inspector']],
  ['Logs flags', ['logLevel', 'wording', 'pretty', 'reportFile', 'journal']],
  ['Global flags', ['config', 'printConfig', 'export']],
]

/** What the command knows in the end. */
export interface ApiServerSettings extends Omit<ResolvedOf<(typeof API_SERVER)['own']>, 'config' | 'printConfig'> {
  /** The module, if there is one. */
  readonly app: string | undefined
  readonly options: ApiServerConfig
  /** How messages name options. */
  readonly wording: ProblemWording
  /** The completed config, when that is all that is wanted. */
  readonly printed: string | undefined
}

/** The settings of `quiesce-apiserver`, or one line for every problem. */
export async function readApiServerSettings(sources: SettingsSources): Promise<ApiServerSettings | SettingsProblems> {
  const read = await readAll(API_SERVER, sources)
  if ('problems' in read) return read
  const { options, own, operand, settings, wording } = read
  const { printConfig, config: _, ...rest } = own
  if (!printConfig) return { app: operand, options, wording, ...rest, printed: undefined }
  return { app: operand, options, wording, ...rest, printed: printedConfig([API_SERVER.server, EXPORT_OPTIONS, LOG_OPTIONS], settings) }
}
