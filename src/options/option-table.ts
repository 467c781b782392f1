import { DURATION_ALLOWED, formatDuration, parseDuration } from '../base/duration.ts'
import { CHECK_TIMEOUT_MS } from '../http/health/health-check.ts'
import { RESERVE_NAMES } from './budget.ts'
import { HEALTH_ALLOWED, healthProblem, isPlainPath } from './health-options.ts'
import type { ServerOptions } from './options.ts'
import { PLATFORM_NAMES } from './platform.ts'
import { areSignals, SIGNALS_ALLOWED, whyNotSignals } from './stop-signals.ts'
import { WORDING_ALLOWED, wordingProblem } from './wording-options.ts'

/**
 * Every option, once: what it may be, what it is when nobody says anything, what it means, and what upstream calls it.
 * Validation, `--help`, the config file, `QUIESCE_*` and the table in the documentation all come from here.
 */
export interface OptionRow {
  /** Flag of `quiesce serve` without the dashes; also its key in a config file and, as `QUIESCE_…`, its environment variable. */
  readonly flag?: string
  readonly kind: 'duration' | 'choice' | 'port' | 'text' | 'switch' | 'value'
  readonly accepts: (given: unknown) => boolean
  readonly allowed: string
  /** The same for whoever can only write text: a flag or an environment variable. */
  readonly allowedAsText?: string
  /** Default in words. */
  readonly default: string
  /** What `quiesce serve` uses instead: upstream's flags have defaults of their own. */
  readonly cliDefault?: string
  readonly meaning: string
  /** The same for a flag that is only on or off. */
  readonly cliMeaning?: string
  /** Upstream's name: a flag, a Config field or a server field. */
  readonly upstream?: string
  /** Upstream's text for a negative value. @see kubernetes/apiserver pkg/server/options/server_run_options.go Validate */
  readonly upstreamRefusal?: string
  /** What more there is to say about a value that is refused, with a space in front; empty for nothing. */
  readonly remark?: (given: unknown) => string
}

/** The option's name, checked: a row for every option and no other. */
export type OptionName = keyof ServerOptions

type RowOf<K extends OptionRow['kind']> = Pick<OptionRow, 'accepts' | 'allowed' | 'allowedAsText'> & { readonly kind: K }

const DURATION_TEXT_ALLOWED = 'a duration like 500ms, 5s, 1m30s; 0 to 24 days'

const duration = (minMs = 0): RowOf<'duration'> => {
  const atLeast = (text: string): string => (minMs > 0 ? text.replace('0 to', `${formatDuration(minMs)} to`) : text)
  return {
    kind: 'duration',
    allowed: atLeast(DURATION_ALLOWED),
    allowedAsText: atLeast(DURATION_TEXT_ALLOWED),
    accepts: (given) => {
      try {
        return parseDuration('', given as string) >= minMs
      } catch {
        // Its message names no field; the caller reports this one with the others.
        return false
      }
    },
  }
}
const choice = (...values: readonly string[]): RowOf<'choice'> => ({
  kind: 'choice',
  allowed: values.join(', '),
  accepts: (given) => values.includes(given as string),
})
const text = (what: string): RowOf<'text'> => ({
  kind: 'text',
  allowed: what,
  accepts: (given) => typeof given === 'string' && given !== '',
})
const isPort = (given: unknown): boolean => Number.isInteger(given) && (given as number) >= 0 && (given as number) <= 65_535
const value = (allowed: string, accepts: (given: unknown) => boolean): RowOf<'value'> => ({ kind: 'value', allowed, accepts })

const isRecord = (given: unknown): given is Record<string, unknown> => typeof given === 'object' && given !== null && !Array.isArray(given)
const hasMethods = (given: unknown, ...names: readonly string[]): boolean =>
  isRecord(given) && names.every((name) => typeof given[name] === 'function')
const hasOnly = (given: unknown, keys: readonly string[], accepts: (field: unknown) => boolean): boolean =>
  isRecord(given) && Object.entries(given).every(([key, field]) => keys.includes(key) && (field === undefined || accepts(field)))
const isHost = (given: unknown): boolean => given === undefined || (typeof given === 'string' && given !== '')

const isListener = (given: unknown): boolean =>
  isRecord(given) &&
  ('path' in given
    ? typeof given['path'] === 'string' && given['path'] !== '' && hasOnly(given, ['path'], () => true)
    : isPort(given['port']) && isHost(given['host']) && hasOnly(given, ['port', 'host'], () => true))

/** It stands in URLs and in a cookie; a shorter one is guessed. */
const INSPECTOR_TOKEN = /^[\w.~+/=-]{16,}$/
export const INSPECTOR_TOKEN_ALLOWED = 'at least 16 letters, digits and -._~+/='
export const isInspectorToken = (given: unknown): given is string => typeof given === 'string' && INSPECTOR_TOKEN.test(given)
const INSPECTOR_FIELDS: Readonly<Record<string, (field: unknown) => boolean>> = {
  port: isPort,
  host: isHost,
  token: isInspectorToken,
  actions: (field) => typeof field === 'boolean',
  drill: (field) => typeof field === 'function',
}
const isInspector = (given: unknown): boolean =>
  isRecord(given) && Object.entries(given).every(([name, field]) => field === undefined || INSPECTOR_FIELDS[name]?.(field) === true)

export const OPTION_TABLE = {
  port: {
    kind: 'port',
    flag: 'port',
    allowed: 'an integer from 0 to 65535; 0 is any free port',
    accepts: isPort,
    default: '8080',
    meaning: 'Port to listen on',
    upstream: '--secure-port',
  },
  host: {
    ...text('a host name or an IP address'),
    flag: 'bind-address',
    default: 'all addresses',
    cliDefault: '127.0.0.1',
    meaning: 'Address to listen on',
    upstream: '--bind-address',
  },
  listeners: {
    ...value(
      'a list of { port, host? } and { path }, not together with port or host',
      (given) => Array.isArray(given) && given.length > 0 && given.every(isListener),
    ),
    default: 'the one of port and host',
    meaning: 'Several addresses or Unix sockets; all are bound, or none is',
  },
  platform: {
    ...choice('auto', ...PLATFORM_NAMES),
    default: 'auto',
    meaning: 'Where the process runs; it decides the delay and the deadline that are not given',
  },
  shutdownDelay: {
    ...duration(),
    flag: 'shutdown-delay-duration',
    default: '5s on Kubernetes, else 0s',
    cliDefault: '0s',
    meaning: 'Time between the stop request and the moment new requests may be refused, so that load balancers notice',
    upstream: '--shutdown-delay-duration',
    upstreamRefusal: '--shutdown-delay-duration can not be negative value',
  },
  lastCall: {
    ...duration(),
    flag: 'last-call',
    default: '300ms; 0s after Ctrl-C on a terminal',
    meaning: 'Time for which idle connections are held, and what comes on them is answered, before they close; 0 closes them at once',
  },
  whileDraining: {
    ...choice('refuse', 'retry-after'),
    kind: 'switch',
    flag: 'shutdown-send-retry-after',
    default: 'refuse',
    meaning: 'New requests while draining: refuse closes the listener, retry-after answers 429 until all are drained',
    cliMeaning: 'Answer new requests with 429 while draining, and close the listener only when all are drained',
    upstream: '--shutdown-send-retry-after',
  },
  watchGrace: {
    ...duration(),
    flag: 'shutdown-watch-termination-grace-period',
    default: '8s, at most a third of the deadline',
    cliDefault: '0s',
    meaning: 'Time in which open watches are told, within its first half, and have to end; 0 tells all at once and waits for none',
    upstream: '--shutdown-watch-termination-grace-period',
    upstreamRefusal: 'shutdown-watch-termination-grace-period, if provided, can not be a negative value',
  },
  deadline: {
    ...duration(100),
    flag: 'deadline',
    default:
      '25s on Kubernetes, 80s under systemd, 1.4s under PM2, else 8s; 2s after Ctrl-C on a terminal; raised to fit a given delay, grace or reserve',
    meaning: 'Time from the stop request to the end by force; the process is gone by then',
  },
  crashDeadline: {
    ...duration(100),
    flag: 'crash-deadline',
    default: 'the deadline when one is given, else 5s, at most the deadline',
    meaning: 'The same for a stop by a crash: uncaught exceptions and unhandled rejections',
  },
  requestDrainTimeout: {
    ...duration(1),
    flag: 'request-drain-timeout',
    default: 'none: requests have what the deadline leaves them',
    meaning:
      'Longest time that accepted requests and holds are waited for once nothing new is accepted; what is left is cut and named, exit code 5',
  },
  connectionTimeout: {
    ...duration(),
    flag: 'connection-timeout',
    default: 'the request timeout; 2s when draining with retry-after',
    meaning: 'Time that connections have to end once requests are drained',
    upstream: 'ShutdownTimeout',
  },
  tell: {
    ...choice('gradual', 'at-once', 'after-delay'),
    flag: 'tell',
    default: 'gradual; at-once when there is no delay',
    meaning: 'When kept-alive clients are told to reconnect elsewhere; after-delay only with retry-after',
  },
  requestTimeout: {
    ...duration(),
    flag: 'request-timeout',
    default: '60s',
    meaning: 'Longest time a request is expected to take; watches are exempt',
    upstream: '--request-timeout',
    upstreamRefusal: '--request-timeout can not be negative value',
  },
  livezGrace: {
    ...duration(),
    flag: 'livez-grace-period',
    default: '0s',
    meaning: 'Time after start during which liveness does not wait for post-start hooks',
    upstream: '--livez-grace-period',
    upstreamRefusal: '--livez-grace-period can not be a negative value',
  },
  hookTimeout: {
    ...duration(1),
    default: "5s, at most a third of the deadline and four fifths of the hooks' time in the budget",
    meaning: 'Longest time of one hook that states none itself',
  },
  healthCheckTimeout: {
    ...duration(1),
    default: formatDuration(CHECK_TIMEOUT_MS),
    meaning: 'Longest time of one health check; after it the check has failed',
  },
  keepAliveTimeout: {
    ...duration(),
    default: '75s',
    meaning: 'Time after which an idle connection is closed; longer than the idle time of the usual load balancers',
    upstream: 'http.Server IdleTimeout (90s)',
  },
  destroyOrder: {
    ...choice('registration', 'reverse'),
    default: 'registration',
    meaning: 'Order in which destroy functions run that name no other in after; reverse closes what was opened last first',
  },
  reserves: {
    ...value('an object of connections, audit, destroy, flush, each a duration of at least 1ms', (given) =>
      hasOnly(given, RESERVE_NAMES, duration(1).accepts),
    ),
    default: 'connections 250ms, audit 1s, destroy 2s, flush 500ms; scaled when together more than half the deadline',
    meaning:
      'Time that the budget keeps free for the late phases: given ones whole, up to nine tenths of the deadline; for audit and destroy only when something is registered for them when the stop is requested',
  },
  longRunning: {
    ...value('a function of the request that returns true or false', (given) => typeof given === 'function'),
    default: 'none; kubernetesLongRunning is the rule of API servers',
    meaning:
      'Which requests are watches, beside upgrades and responses whose head says text/event-stream: told to end, waited for within watchGrace',
    upstream: 'LongRunningFunc',
  },
  health: {
    ...value(HEALTH_ALLOWED, (given) => healthProblem(given) === undefined),
    remark: (given) => {
      const problem = healthProblem(given)
      return problem ? ` (${problem})` : ''
    },
    default: 'true for createServer, false for attachLifecycle',
    meaning: 'Whether, where and how health is answered',
  },
  exempt: {
    ...value('a list of paths like /health, without escapes, ? or #', (given) => Array.isArray(given) && given.every(isPlainPath)),
    default: 'none beside /healthz, /livez, /readyz and /metrics',
    meaning: 'Paths, each with all below it, that your application still answers while new requests are refused',
  },
  admin: {
    ...value('{ port, host? } with a port from 0 to 65535', (given) => isRecord(given) && !('path' in given) && isListener(given)),
    flag: 'admin-address',
    allowedAsText: 'HOST:PORT with a port from 0 to 65535',
    default: 'none',
    meaning: 'Second listener for health, outside the drain, closed last',
  },
  inspector: {
    ...value(
      `true, false, or { port?, host?, token?, actions?, drill? } with a token of ${INSPECTOR_TOKEN_ALLOWED}`,
      (given) => typeof given === 'boolean' || isInspector(given),
    ),
    kind: 'switch',
    flag: 'inspector',
    default: 'false; true is a free port of 127.0.0.1',
    meaning: 'Page that shows the life as it runs, on a listener of its own, outside the drain, closed last of all',
  },
  journal: {
    ...text('a file name'),
    flag: 'journal',
    default: 'none',
    meaning: 'File for everything that happens in the life, an entry per line, to be shown by quiesce inspect',
  },
  audit: {
    ...value('an object with the functions run and shutdown', (given) => hasMethods(given, 'run', 'shutdown')),
    default: 'none',
    meaning: 'Audit backend: run before the first request, shut down after the last',
    upstream: 'AuditBackend',
  },
  logger: {
    ...value(
      'an object with the functions debug, info, warn and error (a pino logger), or false',
      (given) => given === false || hasMethods(given, 'debug', 'info', 'warn', 'error'),
    ),
    default: 'pino on standard output for createServer, none for attachLifecycle',
    meaning: 'Where the lifecycle logs to',
  },
  reportFile: {
    ...text('a file name'),
    flag: 'report-file',
    default: 'none',
    meaning: 'File for the report of the run, as JSON',
  },
  exit: {
    ...choice('explicit', 'natural'),
    default: 'explicit',
    meaning:
      'explicit: end the process 1s after run() is done if it still lives, sooner when the deadline comes, at once when it has cut something; natural: leave that to the program',
  },
  signals: {
    ...value(SIGNALS_ALLOWED, areSignals),
    default: 'SIGTERM, SIGINT and SIGHUP; on Windows SIGBREAK, too',
    meaning: 'OS signals that stop what run() runs: these and no others, or the default with some more (add) and without some (skip)',
    remark: whyNotSignals,
  },
  signal: {
    ...value('an AbortSignal', (given) => given instanceof AbortSignal),
    default: 'none',
    meaning: 'Aborting it is a stop request',
  },
  disabledPostStartHooks: {
    ...value('a list of names', (given) => Array.isArray(given) && given.every((name) => typeof name === 'string')),
    default: 'none',
    meaning: 'Post-start hooks that are not run',
    upstream: 'DisabledPostStartHooks',
  },
  wording: {
    ...value(WORDING_ALLOWED, (given) => wordingProblem(given) === undefined),
    remark: (given) => {
      const problem = wordingProblem(given)
      return problem ? ` (${problem})` : ''
    },
    default: 'neutral words; metrics begin with quiesce_',
    meaning: "Words for clients, log and metrics: the server's own name, or any of them by itself; apiserverWording is what upstream says",
  },
  serverOptions: {
    ...value('an object: the options of node:http createServer', isRecord),
    default: '{}',
    meaning: 'Given to node:http as it is',
  },
} as const satisfies { readonly [K in keyof Required<ServerOptions>]: OptionRow }

/** Names that only `createServer` knows; `attachLifecycle` is given a server that has them already. */
export const SERVER_ONLY_OPTIONS = [
  'port',
  'host',
  'listeners',
  'keepAliveTimeout',
  'serverOptions',
] as const satisfies readonly OptionName[]

export const OPTION_NAMES = Object.keys(OPTION_TABLE) as readonly OptionName[]
export const optionRow = (name: OptionName): OptionRow => OPTION_TABLE[name]

/** Whether a value that was refused is below zero: only then upstream's own text applies. */
export const isNegativeDuration = (given: unknown): boolean =>
  (typeof given === 'number' && given < 0) || (typeof given === 'string' && given.startsWith('-') && duration().accepts(given.slice(1)))
