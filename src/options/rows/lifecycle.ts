// By their modules: the bundled types have one ServerOptions, ours.
import type * as http from 'node:http'
import type * as http2 from 'node:http2'
import type * as https from 'node:https'
import type { AuditBackend } from '../../actors/audit.ts'
import { type InspectOption, isInspect } from '../../actors/inspection.ts'
import { isAbortSignal } from '../../base/checked.ts'
import { ownFields } from '../../base/own-fields.ts'
import { RESERVES_DEFAULT_MS, type Reserves } from '../../base/stop-profile.ts'
import { GOAWAY_CHANCE_MAX } from '../../http/traffic/balance.ts'
import { EXEMPT_SEGMENTS } from '../../http/traffic/exempt.ts'
import type { Logger } from '../../log/log.ts'
import { defaultsByFront, FRONT_NAMES, OTHER_FRONT_NAMES } from '../../platforms/fronts.ts'
import { FIRST_PASSED } from '../../platforms/passed-sockets.ts'
import { defaultsByPlatform, OTHER_PLATFORM_NAMES, PLATFORM_NAMES } from '../../platforms/platforms.ts'
import { ASKED_SHARE_MAX, RESERVES_SHARE_MAX } from '../budget.ts'
import {
  composeOptions,
  defineOptions,
  type Kind,
  type Needs,
  option,
  type ResolvedOf,
  resolveOptions,
  type UserOptions,
} from '../kit/define.ts'
import { fraction } from '../kit/fraction.ts'
import {
  ADDRESS_ALLOWED,
  addressOf,
  chance,
  choice,
  choiceOf,
  duration,
  durations,
  fields,
  fieldsNeeding,
  file,
  host,
  integer,
  isRecord,
  isText,
  listOf,
  onOff,
  onOffAuto,
  onOffOr,
  port,
  setOf,
  text,
  value,
} from '../kit/kinds.ts'
import type { Wrong } from '../kit/wrong.ts'
import { isPlainPath, LIFE_HEALTH_OPTIONS, needsAdmin } from './health.ts'
import { steps } from './steps.ts'
import { areSignals, SIGNALS_ALLOWED, SIGNALS_DEFAULT, type SignalsOption, whyNotSignals } from './stop-signals.ts'
import { type ResolvedTls, type TlsOptions, tls } from './tls.ts'
import { isWebSocketOption, type WebSocketOption } from './web-socket.ts'
import { wording } from './wording.ts'

/**
 * Every option, once: its default, what it may be, what it means, its flag. Where the default
 * depends on other options, times.ts works it out. The comment above a row is what editors show
 * with the option; its `@default` is compared with the row by test/options/docstrings.test.ts.
 */

/** No single hook and no grace may use up the deadline alone: defaults end at this part of it. */
export const DEADLINE_SHARE_MAX = 1 / 3
/** What a single hook may use of the hooks' time in the budget, when it states nothing itself. */
export const HOOKS_SHARE_MAX = 4 / 5

/** A shorter stop could not even report. */
export const timeToTheEnd = () => duration('100ms')

const LOOPBACK = '127.0.0.1'
const hasMethods = (given: unknown, ...names: readonly string[]): boolean =>
  isRecord(given) && names.every((name) => typeof given[name] === 'function')
const isFunction = (given: unknown): boolean => typeof given === 'function'

/** A listener's address, where it is not the server's own. */
export const ADDRESS_OPTIONS = defineOptions({
  port: option(port(), { defaultWords: 'none: it has to be given', meaning: 'Port to listen on' }),
  /** @default 127.0.0.1 */
  host: option(host(), { default: LOOPBACK, meaning: 'Address to listen on' }),
})

const TOKEN_ALLOWED = 'at least 16 letters, digits and -._~+/='

export const INSPECTOR_OPTIONS = defineOptions({
  /**
   * Port of the page; 0 is any free one, which the log names.
   * @default 0
   */
  port: option(port(), { default: 0, meaning: 'Port of the page' }),
  /**
   * Address of the page. On any other but a loopback address requests need the token.
   * @default 127.0.0.1
   */
  host: option(host(), { default: LOOPBACK, meaning: 'Address of the page; all but loopback addresses need its token' }),
  /**
   * At least 16 letters, digits and `-._~+/=`. It stands in URLs and in a cookie; a shorter one is
   * guessed.
   * @default a new one where it is needed, logged once
   */
  token: option(
    { ...text(TOKEN_ALLOWED, (given) => /^[\w.~+/=-]{16,}$/.test(given)), placeholder: 'TOKEN' },
    {
      flag: 'inspector-token',
      turnsOn: false,
      secret: true,
      defaultWords: 'a new one where it is needed, logged once',
      meaning: 'What a browser has to bring to the inspector; better as an environment variable, which other users do not see',
    },
  ),
  /**
   * Whether the page may begin the shutdown.
   * @default false
   */
  actions: option(onOff(), { default: false, meaning: 'Whether the page may begin the shutdown' }),
  /**
   * Puts some load on the server; the page's button for it begins the shutdown in the middle. Needs
   * `actions`.
   * @default none
   */
  drill: option(value<() => unknown>('a function', isFunction), {
    defaultWords: 'none',
    meaning: 'Puts some load on the server; a button of the page calls it and begins the shutdown in the middle',
  }),
})

/**
 * The inspector: a page, and streams for tools, on a listener of its own which closes last of all.
 */
export interface InspectorOptions extends UserOptions<typeof INSPECTOR_OPTIONS> {}
export interface ResolvedInspector extends ResolvedOf<typeof INSPECTOR_OPTIONS> {}

const inspector = (): Kind<boolean | InspectorOptions, ResolvedInspector | undefined, 'value'> => ({
  ...onOffOr(fields(INSPECTOR_OPTIONS, { allowed: `{ port?, host?, token?, actions?, drill? } with a token of ${TOKEN_ALLOWED}` })),
  jointFlags: [
    {
      flag: 'inspector-address',
      fromText: addressOf,
      allowed: ADDRESS_ALLOWED,
      defaultWords: `${INSPECTOR_OPTIONS.host.default}:${INSPECTOR_OPTIONS.port.default}, a free port`,
      meaning: 'Address of the inspector, which it turns on; all but loopback addresses need its token',
    },
  ],
})

const reserve = (name: keyof typeof RESERVES_DEFAULT_MS, what: string) =>
  option(duration('1ms'), { default: RESERVES_DEFAULT_MS[name], meaning: `Time kept free for ${what}` })

export const RESERVE_OPTIONS = defineOptions({
  /** @default 250ms */
  connections: reserve('connections', 'connections that are closing'),
  /** @default 1s */
  audit: reserve('audit', 'the audit backend'),
  /** @default 2s */
  destroy: reserve('destroy', 'destroy functions'),
  /** @default 500ms */
  flush: reserve('flush', 'the report and the log'),
})

/** Time that the budget keeps free for the late phases. */
export interface ReserveOptions extends UserOptions<typeof RESERVE_OPTIONS> {}

const reserves = (): Kind<ReserveOptions, Reserves, 'durations'> =>
  durations(RESERVE_OPTIONS, { allowed: `an object of ${Object.keys(RESERVE_OPTIONS).join(', ')}, each a duration of at least 1ms` })

/** Options of every lifecycle. */
export const LIFECYCLE_OPTIONS = defineOptions({
  /**
   * Where the process runs; decides the delay and the deadline that are not given.
   * @default auto
   */
  platform: option(choiceOf(['auto', ...PLATFORM_NAMES], OTHER_PLATFORM_NAMES), {
    default: 'auto',
    meaning: 'Where the process runs; it decides the delay and the deadline that are not given',
  }),
  /**
   * What sends the requests: a Kubernetes Service, an AWS Application or Network Load Balancer, a
   * Google Cloud Load Balancer, or Envoy. It decides the keep-alive timeout that is not given, and
   * delay and deadline where requests may still come after the stop request (not on Cloud Run, ECS,
   * Fly.io and Heroku). What kills the process has to wait longer than the deadline.
   * @default none
   */
  behind: option(choiceOf(FRONT_NAMES, OTHER_FRONT_NAMES), {
    flag: 'behind',
    defaultWords: 'none',
    meaning:
      'What sends the requests; it decides the keep-alive timeout, and delay and deadline where requests come after the stop request',
  }),
  /**
   * Time between StopRequested and the moment new requests may be refused. It must leave the later
   * phases their time before `deadline`.
   * @default 5s on Kubernetes, else 0s
   * @see kubernetes/apiserver pkg/server/config.go Config.ShutdownDelayDuration
   */
  shutdownDelay: option(duration(), {
    flag: 'shutdown-delay-duration',
    default: '0s',
    on: {
      ...defaultsByPlatform('shutdownDelay'),
      ...defaultsByFront('shutdownDelay'),
      // A delay is for those who still send requests.
      createLife: '0s',
    },
    cliDefault: '0s',
    meaning: 'Time between the stop request and the moment new requests may be refused, so that load balancers notice',
    upstream: '--shutdown-delay-duration',
    upstreamRefusal: '--shutdown-delay-duration can not be negative value',
  }),
  /**
   * Time for which idle connections are held when nothing new is accepted any more: a request that
   * is on its way on one is answered, and its client told to leave, instead of lost. Before it,
   * what the kernel has accepted is accepted, too. It ends early when no connection is left that
   * may bring a request. With `whileDraining: 'retry-after'` what comes is answered 429. 0:
   * listeners and idle connections close at once, and connections that the kernel has accepted and
   * the process has not read are reset. At most half of what the budget keeps for
   * requests: what is registered for the late phases takes from it, as `quiesce plan` prints.
   * @default 300ms; 0s after Ctrl-C on a terminal
   */
  lastCall: option(duration(), {
    flag: 'last-call',
    // Measured: docs/decisions/0018-the-last-call.md
    default: '300ms',
    on: defaultsByPlatform('lastCall'),
    meaning:
      'Time for which idle connections are held, and what comes on them is answered, before they close; 0 closes them at once and resets what the kernel has accepted and the process has not read',
  }),
  /**
   * What becomes of new requests while draining: `refuse` closes the listener, `retry-after`
   * answers 429 until everything has drained.
   * @default refuse
   * @see kubernetes/apiserver pkg/server/config.go Config.ShutdownSendRetryAfter
   */
  whileDraining: option(choice('refuse', 'retry-after'), {
    flag: 'shutdown-send-retry-after',
    switch: {
      on: 'retry-after',
      off: 'refuse',
      meaning: 'Answer new requests with 429 while draining, and close the listener only when all are drained',
    },
    default: 'refuse',
    meaning: 'New requests while draining: refuse closes the listener, retry-after answers 429 until all are drained',
    upstream: '--shutdown-send-retry-after',
  }),
  /**
   * Time that watches have to end after they were told. 0: told, but not waited for.
   * @default 8s, at most a third of the deadline
   * @see kubernetes/apiserver pkg/server/config.go Config.ShutdownWatchTerminationGracePeriod
   */
  watchGrace: option(duration(), {
    flag: 'shutdown-watch-termination-grace-period',
    default: '8s',
    defaultWords: (grace) => `${grace}, at most ${fraction(DEADLINE_SHARE_MAX)} of the deadline`,
    meaning: 'Time in which open watches are told, within its first half, and have to end; 0 tells all at once and waits for none',
    upstream: '--shutdown-watch-termination-grace-period',
    upstreamRefusal: 'shutdown-watch-termination-grace-period, if provided, can not be a negative value',
  }),
  /**
   * Time from StopRequested to the end by force; at least 100 ms. The process is gone by then.
   * @default by platform, else 8s; 2s after Ctrl-C on a terminal; raised to fit a given delay,
   * grace or reserve
   */
  deadline: option(timeToTheEnd(), {
    flag: 'deadline',
    // `docker stop` and Cloud Run kill after 10 s.
    default: '8s',
    on: { ...defaultsByPlatform('deadline'), ...defaultsByFront('deadline') },
    defaultWords: (deadlines) => `${deadlines}; raised to fit a given delay, grace or reserve`,
    meaning: 'Time from the stop request to the end by force; the process is gone by then',
  }),
  /**
   * Time after which the platform kills a process that it has told to end, where it was set to
   * another one than its default: at least 100 ms. Changes nothing; a `deadline` that is not
   * below it is warned of, because what is in flight when the platform kills is cut off.
   * @default by platform
   */
  killAfter: option(timeToTheEnd(), {
    flag: 'kill-after',
    defaultWords: 'by platform',
    meaning: 'Time after which the platform kills a process that it has told to end; a deadline that is not below it is warned of',
  }),
  /**
   * The deadline of a stop by an uncaught exception or an unhandled rejection; at least 100 ms. A
   * crash in the middle of a stop has what ends first.
   * @default the deadline when one is given, else 5s, at most the deadline
   */
  crashDeadline: option(timeToTheEnd(), {
    flag: 'crash-deadline',
    default: '5s',
    defaultWords: (own) => `the deadline when one is given, else ${own}, at most the deadline`,
    meaning: 'The deadline of a stop by a crash: uncaught exceptions and unhandled rejections',
  }),
  /**
   * Longest time that accepted requests and holds are waited for, from NotAcceptingNewRequest on;
   * above 0. What is left is cut and named, which is exit code 5. One that is longer than what the
   * budget leaves them changes nothing.
   * @default none: requests have what the deadline leaves them
   */
  requestDrainTimeout: option(duration('1ms'), {
    flag: 'request-drain-timeout',
    defaultWords: 'none: requests have what the deadline leaves them',
    meaning:
      'Longest time that accepted requests and holds are waited for once nothing new is accepted; what is left is cut and named, exit code 5',
  }),
  /**
   * Time that connections have to end once requests are drained; it does not bound the drain
   * itself. The deadline's own cut may come first.
   * @default the request timeout; 2s when draining with retry-after
   * @see kubernetes/apiserver pkg/server/genericapiserver.go GenericAPIServer.ShutdownTimeout
   */
  connectionTimeout: option(duration(), {
    flag: 'connection-timeout',
    // Everything has drained by then, so only unused connections are left: kubernetes/apiserver
    // pkg/server/genericapiserver.go RunWithContext
    default: '2s',
    defaultWords: (withRetryAfter) => `the request timeout; ${withRetryAfter} when draining with retry-after`,
    meaning: 'Time that connections have to end once requests are drained',
    upstream: 'ShutdownTimeout',
  }),
  /**
   * When kept-alive clients are told to reconnect elsewhere. `'after-delay'` needs `whileDraining:
   * 'retry-after'`.
   * @default gradual; at-once when there is no delay
   */
  tell: option(choice('gradual', 'at-once', 'after-delay'), {
    flag: 'tell',
    default: 'gradual',
    defaultWords: (tell) => `${tell}; at-once when there is no delay`,
    meaning: 'When kept-alive clients are told to reconnect elsewhere; after-delay only with retry-after',
    needs: {
      anyOf: ['whileDraining'],
      otherwise: 'refused',
      because: 'after-delay is for the mode retry-after, in which clients are still answered after the delay',
      when: (tell) => tell === 'after-delay',
      isMet: ({ whileDraining }) => whileDraining === 'retry-after',
    },
  }),
  /**
   * Probability of a request of HTTP/2 to have its client told to leave, so that clients that keep
   * one connection for ever come to all replicas behind a load balancer of connections: by GOAWAY,
   * with the head of the answer; what else is under way on the connection goes on. 0.001 is every
   * thousandth request. HTTP/1.1 gets nothing.
   * @default 0
   * @see kubernetes/apiserver pkg/server/filters/goaway.go WithProbabilisticGoaway
   */
  goawayChance: option(chance(GOAWAY_CHANCE_MAX), {
    flag: 'goaway-chance',
    default: 0,
    meaning: 'Probability of a request of HTTP/2 to have its client told to leave, for balance between replicas while serving',
    upstream: '--goaway-chance',
    upstreamBounds: '--goaway-chance can not be less than 0 or greater than 0.02',
  }),
  /**
   * Longest time a request is expected to take.
   * @default 60s
   * @see kubernetes/apiserver pkg/server/config.go Config.RequestTimeout
   */
  requestTimeout: option(duration(), {
    flag: 'request-timeout',
    default: '60s',
    meaning: 'Longest time a request is expected to take; watches are exempt',
    upstream: '--request-timeout',
    upstreamRefusal: '--request-timeout can not be negative value',
  }),
  ...LIFE_HEALTH_OPTIONS,
  /**
   * Whether `/metrics` and `/metrics/slis` are answered before the application, for a scraper that
   * reaches no other port. The listener of `admin` answers them in any case.
   * @default false
   */
  metrics: option(onOff(), {
    default: false,
    meaning: 'Whether /metrics and /metrics/slis are answered before the application, too',
    needs: needsAdmin,
  }),
  /**
   * Longest time of a hook that states none itself; above 0. Hooks run one after the other, unless
   * their `after` says otherwise.
   * @default 5s, at most a third of the deadline and four fifths of the hooks' time in the budget
   */
  hookTimeout: option(duration('1ms'), {
    default: '5s',
    defaultWords: (longest) =>
      `${longest}, at most ${fraction(DEADLINE_SHARE_MAX)} of the deadline and ${fraction(HOOKS_SHARE_MAX)} of the hooks' time in the budget`,
    meaning: 'Longest time of one hook that states none itself; hooks run one after the other, unless their after says otherwise',
  }),
  /**
   * In which order destroy functions run that name no other: as registered, which is upstream's, or
   * the last one first.
   * @default registration
   */
  destroyOrder: option(choice('registration', 'reverse'), {
    default: 'registration',
    meaning: 'Order in which destroy functions run that name no other in after; reverse closes what was opened last first',
  }),
  /**
   * Time that the budget keeps free for the late phases. What is given is kept whole, together at
   * most nine tenths of a given deadline; the others are scaled. Nothing is kept for `audit`
   * without a backend, nor for `destroy` without a destroy function, as of StopRequested.
   * @default connections 250ms, audit 1s, destroy 2s, flush 500ms; scaled when together more than
   * half the deadline
   */
  reserves: option(reserves(), {
    default: {},
    defaultWords: (each) => `${each}; scaled when together more than ${fraction(RESERVES_SHARE_MAX)} the deadline`,
    meaning: `Time that the budget keeps free for the late phases: given ones whole, up to ${fraction(ASKED_SHARE_MAX)} of the deadline; for audit and destroy only when something is registered for them when the stop is requested`,
  }),
  /**
   * Which requests are watches, beside upgraded connections, whatever their answers look like.
   * True: it is a watch, told to end in its turn and waited for within `watchGrace`. False: it is a
   * request, which is waited for until the cut of requests, also when it streams events. Undefined:
   * it is a watch if it streams events and its handler has asked for its signal
   * (`shutdownSignalOf`), else a request. What a handler says later, with `markWatch` or
   * `markRequest`, wins. Asked once for every request, before its handler. Servers of the
   * Kubernetes API give `kubernetesLongRunning`. One that throws, or returns something else, counts
   * as undefined and is reported.
   * @default none, which is undefined for every request; kubernetesLongRunning is the rule of API
   * servers
   */
  longRunning: option(
    value<(request: http.IncomingMessage) => boolean | undefined>(
      'a function of the request that returns true, false or undefined',
      isFunction,
    ),
    {
      defaultWords: 'none, which is undefined for every request; kubernetesLongRunning is the rule of API servers',
      meaning:
        'Which requests are watches (true: told to end, waited for within watchGrace) and which are not (false), whatever they answer; undefined: those that stream events and whose handlers ask for their shutdown signal',
      upstream: 'LongRunningFunc',
    },
  ),
  /**
   * Paths that your application still answers while new requests are refused, as `/healthz`,
   * `/livez`, `/readyz` and `/metrics` are: each with all below it, by whole segments. A request
   * whose target could be read as another path is refused all the same.
   * @default none beside /healthz, /livez, /readyz and /metrics
   */
  exempt: option(
    listOf<string>('a list of paths like /health, without escapes, ? or #', (path) =>
      isPlainPath(path) ? undefined : { path: '', given: path, allowed: 'a path like /health, without escapes, ? or #' },
    ),
    {
      default: [],
      defaultWords: (none) => `${none} beside ${EXEMPT_SEGMENTS.join(', ').replace(/, (\S+)$/, ' and $1')}`,
      meaning: 'Paths, each with all below it, that your application still answers while new requests are refused',
    },
  ),
  /**
   * What every request passes before its handler, beside the health endpoints and the counting: an
   * ordered list, each with its place.
   * @default none
   */
  steps: option(steps(), {
    defaultWords: 'none',
    meaning:
      'What every request passes before its handler, each with its place before or after another: health, retry-after, count, or one of yours',
  }),
  /**
   * Unix socket for those who may log in as the user of the process (permissions 0600): a CPU
   * profile, a heap snapshot, what keeps the process alive, and the state of the life. Closed with
   * the admin listener. One that cannot be bound is an error in the log, and the server serves.
   * @default none
   * @see kubernetes/apiserver pkg/server/options/server_run_options.go DebugSocketPath
   */
  debugSocket: option(file('a path'), {
    flag: 'debug-socket-path',
    defaultWords: 'none',
    meaning: 'Unix socket that serves profiles, a heap snapshot and the state of the life to the user of the process',
    upstream: '--debug-socket-path',
  }),
  /**
   * Second listener for health: outside the drain, closed last.
   * @default none
   */
  admin: option(
    {
      ...fieldsNeeding(ADDRESS_OPTIONS, ['port'], { allowed: '{ port, host? } with a port from 0 to 65535' }),
      fromText: addressOf,
      allowedAsText: ADDRESS_ALLOWED,
      placeholder: 'HOST:PORT',
    },
    {
      flag: 'admin-address',
      defaultWords: 'none',
      meaning: 'Second listener for health, outside the drain, closed last',
      needs: {
        anyOf: ['health'],
        otherwise: 'without effect',
        because: 'it answers metrics and no health',
        at: ['attachLifecycle'],
        isMet: ({ health }) => health !== undefined,
      },
    },
  ),
  /**
   * Page that shows the life as it runs.
   * @default false; true is a free port of 127.0.0.1
   */
  inspector: option(inspector(), {
    flag: 'inspector',
    default: false,
    defaultWords: (off) => `${off}; true is a free port of ${INSPECTOR_OPTIONS.host.default}`,
    meaning: 'Page that shows the life as it runs, on a listener of its own, outside the drain, closed last of all',
  }),
  /**
   * Gets what the life's actors emit, from the first to the last: a function or an observer, as
   * xstate's own option `inspect`, or what has one, as `createBrowserInspector()` of
   * `@statelyai/inspect` returns. It is called in the middle of each step, so it should be quick;
   * one that throws is an error in the report, once.
   * @default none
   */
  inspect: option(value<InspectOption>('a function, an observer with next, or an inspector with inspect', isInspect), {
    defaultWords: 'none',
    meaning: 'Gets what the actors of the life emit: a function, an observer, or an inspector of @statelyai/inspect',
  }),
  /**
   * Everything that happens is written here, an entry per line, and is there to the last on every
   * path that can still write.
   * @default none
   */
  journal: option(file(), {
    flag: 'journal',
    defaultWords: 'none',
    meaning: 'File for everything that happens in the life, an entry per line, to be shown by quiesce inspect',
  }),
  /**
   * Gets events about requests, and has delivered them before the end.
   * @default none
   */
  audit: option(
    value<AuditBackend>('an object with the functions run and shutdown', (given) => hasMethods(given, 'run', 'shutdown')),
    {
      defaultWords: 'none',
      meaning: 'Audit backend: run before the first request, shut down after the last',
      upstream: 'AuditBackend',
    },
  ),
  /**
   * Pino-compatible, or false for silence, on standard error too. A console is told nothing at
   * debug.
   * @default pino on standard output for createServer, none for attachLifecycle; on a terminal see
   * pretty
   */
  logger: option(
    value<Logger | false>(
      'an object with the functions debug, info, warn and error (a pino logger), or false',
      (given) => given === false || hasMethods(given, 'debug', 'info', 'warn', 'error'),
    ),
    {
      defaultWords: 'pino on standard output for createServer, none for attachLifecycle; on a terminal see pretty',
      meaning: 'Where the lifecycle logs to',
    },
  ),
  /**
   * How standard output is written. On a terminal `'auto'` shows people what goes on: log lines to
   * read, under `run()` what a drain waits for, and a timeline at the end; elsewhere, in a CI, and
   * in workers of a cluster, the log is JSON lines. `true` is for people everywhere, `false`
   * nowhere. The lines are those of the built-in logger, which every life under `run()` has on a
   * terminal; a logger of your own keeps its lines and its destination, and has the view and the
   * timeline beside it only with `true`. With `logger: false` nothing is shown.
   * @default auto: on a terminal, unless it is a CI's or a logger is given
   */
  pretty: option(onOffAuto(), {
    flag: 'pretty',
    default: 'auto',
    defaultWords: (auto) => `${auto}: on a terminal, unless it is a CI's or a logger is given`,
    meaning: 'Log for people, show on a terminal what a drain waits for, and print a timeline at the end',
  }),
  /**
   * The report is written here, as JSON, on every path that can still write: also when something
   * else calls `process.exit()`, or the process ends because nothing keeps it alive (`forced` is
   * `process-exit` then). What was there stays until the new one is whole. A place where none could
   * be written is refused at the start: ERR_REPORT_WRITE, exit code 3.
   * @default none
   */
  reportFile: option(file(), {
    flag: 'report-file',
    defaultWords: 'none',
    meaning: 'File for the report of the run, as JSON',
  }),
  /**
   * `explicit` ends the process when it is still alive 1 s after `run()` is done, or shortly before
   * the deadline if that is sooner, or at once when the budget has cut something; `natural` does
   * not.
   * @default explicit
   */
  exit: option(choice('explicit', 'natural'), {
    default: 'explicit',
    meaning:
      'explicit: end the process 1s after run() is done if it still lives, sooner when the deadline comes, at once when it has cut something; natural: leave that to the program',
  }),
  /**
   * OS signals that stop what `run()` runs. A list replaces the default, and an empty one is none;
   * `{ add: ['SIGUSR2'], skip: ['SIGHUP'] }` changes it. The second one, whichever it is, means
   * "now".
   * @default SIGTERM, SIGINT and SIGHUP; on Windows SIGBREAK, too
   */
  signals: option(
    { ...value<SignalsOption>(SIGNALS_ALLOWED, areSignals), remark: whyNotSignals },
    {
      defaultWords: SIGNALS_DEFAULT,
      meaning: 'OS signals that stop what run() runs: these and no others, or the default with some more (add) and without some (skip)',
    },
  ),
  /**
   * Aborting it stops what `run()` runs.
   * @default none
   */
  signal: option(value<AbortSignal>('an AbortSignal', isAbortSignal), { defaultWords: 'none', meaning: 'Aborting it is a stop request' }),
  /**
   * Names of post-start hooks that are not run.
   * @default none
   */
  disabledPostStartHooks: option(setOf<string>('a list of names', isText), {
    default: [],
    meaning: 'Post-start hooks that are not run',
    upstream: 'DisabledPostStartHooks',
  }),
  /**
   * What clients, the log and the metrics read. `{ name: 'orders' }` is enough to give the server
   * its name; `apiserverWording` is upstream's.
   * @default neutral words; metrics begin with quiesce_
   */
  wording: option(wording(), {
    flag: 'wording',
    default: {},
    meaning: "Words for clients, log and metrics: the server's own name, or any of them by itself; apiserverWording is what upstream says",
  }),
})

const tlsRow = () => option(tls(), { defaultWords: 'none: without TLS', meaning: 'Certificates, with which it is HTTPS' })

/** For what HTTP/1.1 has no use for. */
const needsHttp2: Needs = {
  anyOf: ['http2', 'tls', 'listeners'],
  otherwise: 'without effect',
  because: 'no listener speaks HTTP/2',
  isMet: ({ http2, tls: certificates, listeners }) =>
    [{ http2, tls: certificates }, ...(Array.isArray(listeners) ? (listeners as readonly ListenerAddress[]) : [])].some(speaksHttp2),
}
const speaksHttp2 = ({ http2, tls: certificates }: { readonly http2?: unknown; readonly tls?: unknown }): boolean =>
  http2 === true || (certificates !== undefined && http2 !== false)

const http2Row = () =>
  option(onOff(), {
    flag: 'http2',
    defaultWords: 'true with tls, else false',
    meaning: 'Whether HTTP/2 is spoken: with TLS beside HTTP/1.1, as the client chooses; without TLS alone',
    upstream: 'DisableHTTP2',
  })

/** What is spoken on a listener; the same for every kind of address. */
const SPOKEN_OPTIONS = defineOptions({ tls: tlsRow(), http2: http2Row() })

/** Where a listener of the server listens. */
export type ListenerPlace =
  | { readonly port: number; readonly host?: string }
  | { readonly path: string; readonly mode?: number }
  | { readonly fd: number | string }

/** Where a listener of the server listens, and what is spoken there. */
export type ListenerAddress = (
  | { readonly port: number | string; readonly host?: string | undefined }
  | {
      /** Unix socket; one that a killed process has left there is removed. */
      readonly path: string
      /** Its permissions, such as `0o660`. Default: what the umask of the process leaves. */
      readonly mode?: number | undefined
    }
  | {
      /**
       * A listening socket that the process was passed: its name with the service manager
       * (`FileDescriptorName=` of a systemd socket unit), or its descriptor, from 3 on. It is
       * closed like others, but its queue is kept for the next process when the manager keeps it.
       */
      readonly fd: number | string
    }
) & {
  /** Certificates, with which it is HTTPS. Default: none, without TLS. */
  readonly tls?: TlsOptions | 'self-signed' | undefined
  /** Whether HTTP/2 is spoken: with TLS beside HTTP/1.1, without TLS alone. Default: with `tls`. */
  readonly http2?: boolean | undefined
}

export type ResolvedListener = ListenerPlace & {
  readonly tls: ResolvedTls | undefined
  readonly http2: boolean
}

const LISTENER = fieldsNeeding(composeOptions(ADDRESS_OPTIONS, SPOKEN_OPTIONS), ['port'], { allowed: '{ port, host?, tls?, http2? }' })

const MODE_MAX = 0o777
/** Permissions of a Unix socket. */
const mode = () =>
  option(integer(0, MODE_MAX, 'permissions from 0 to 0o777'), {
    defaultWords: 'what the umask of the process leaves',
    meaning: 'Its permissions',
  })

const UNIX_SOCKET = fieldsNeeding(
  composeOptions(
    defineOptions({
      path: option(text('a path'), { defaultWords: 'none: it has to be given', meaning: 'Unix socket to listen on' }),
      mode: mode(),
    }),
    SPOKEN_OPTIONS,
  ),
  ['path'],
  { allowed: '{ path, mode?, tls?, http2? }' },
)

const PASSED_ALLOWED = `a descriptor from ${FIRST_PASSED} on, or the name of a socket that the process is passed`
const isPassed = (given: unknown): boolean =>
  typeof given === 'string' ? given !== '' && !given.includes(':') : Number.isInteger(given) && (given as number) >= FIRST_PASSED
const PASSED_SOCKET = fieldsNeeding(
  composeOptions(
    defineOptions({
      fd: option(value<number | string>(PASSED_ALLOWED, isPassed), {
        defaultWords: 'none: it has to be given',
        meaning: 'Socket that the process is passed',
      }),
    }),
    SPOKEN_OPTIONS,
  ),
  ['fd'],
  { allowed: '{ fd, tls?, http2? }' },
)

const LISTENERS_ALLOWED =
  'a list of { port, host?, tls?, http2? }, { path, mode?, tls?, http2? } and { fd, tls?, http2? }, not together with port, host, tls or http2'

function wrongAddress(address: unknown): Wrong | undefined {
  const given = isRecord(address) ? ownFields(address) : address
  const kind = isRecord(given) && 'path' in given ? UNIX_SOCKET : isRecord(given) && 'fd' in given ? PASSED_SOCKET : LISTENER
  const wrong = kind.wrong?.(given)
  return wrong?.path === '' ? { ...wrong, allowed: '{ port, host? }, { path, mode? } or { fd }' } : wrong
}

/** A listener as code reads it; without a host node listens on all addresses, IPv6 and IPv4. */
export function resolveListener(address: ListenerAddress): ResolvedListener {
  const given = ownFields(address)
  const { tls: certificates, http2 = certificates !== undefined } = resolveOptions(SPOKEN_OPTIONS, { tls: given.tls, http2: given.http2 })
  const spoken = { tls: certificates, http2 }
  if ('fd' in given) return { fd: given.fd, ...spoken }
  if ('path' in given) return { path: given.path, ...(given.mode !== undefined && { mode: given.mode }), ...spoken }
  const { port: number, host: name } = given
  return { port: Number(number), ...(name !== undefined && { host: name }), ...spoken }
}

const KIB = 1024
const INT32_MAX = 2 ** 31 - 1
/** @see RFC 9113 section 6.5.2 */
const HTTP2_FRAME_MAX = 2 ** 24 - 1

/**
 * Options that only `createServer` has; `attachLifecycle` is given a server that has them already.
 */
export const LISTEN_OPTIONS = defineOptions({
  /**
   * 0 is any free port. Text of digits is one, too, as `process.env.PORT` has it.
   * @default 8080
   */
  port: option(port(), { flag: 'port', default: 8080, meaning: 'Port to listen on', upstream: '--secure-port' }),
  /** @default all addresses */
  host: option(host(), {
    flag: 'bind-address',
    defaultWords: 'all addresses',
    cliDefault: LOOPBACK,
    meaning: 'Address to listen on',
    upstream: '--bind-address',
  }),
  /**
   * Certificates, with which the server is HTTPS: texts, or files that are watched.
   * @default none: without TLS
   */
  tls: tlsRow(),
  /**
   * Whether HTTP/2 is spoken: with TLS beside HTTP/1.1, as the client chooses; without TLS alone.
   * @default true with tls, else false
   */
  http2: http2Row(),
  /**
   * Several addresses, Unix sockets (`{ path, mode: 0o660 }`) or sockets that the process is passed
   * (`{ fd: 'http' }`) instead of `port`, `host`, `tls` and `http2`; all are bound, or none is.
   * @default the one of port and host
   */
  listeners: option(listOf<ListenerAddress>(LISTENERS_ALLOWED, wrongAddress, 1), {
    defaultWords: 'the one of port and host',
    meaning: 'Several addresses, Unix sockets or sockets that the process is passed; all are bound, or none is',
  }),
  /**
   * Time after which an idle connection is closed: longer than the idle time of the usual load
   * balancers, which must not lose the race. A client of HTTP/2 is told by GOAWAY before; pings do
   * not count. 0 closes none.
   * @default 75s, or longer than what is in front (behind) keeps it
   */
  keepAliveTimeout: option(duration(), {
    default: '75s',
    on: defaultsByFront('keepAliveTimeout'),
    defaultWords: (usual) => `${usual}, or longer than what is in front (behind) keeps it`,
    meaning: 'Time after which an idle connection is closed; longer than the idle time of the usual load balancers',
    upstream: 'http.Server IdleTimeout (90s)',
  }),
  /**
   * A server of the package `ws`, `{ server: new WebSocketServer({ noServer: true }) }`, as
   * @hono/node-server has it: a fetch handler accepts WebSockets with `upgradeWebSocket` of that
   * package, and with `{ listener }` all of them are accepted. Every other upgrade is answered 400.
   * In the watch drain each is closed with 1001.
   * @default none: a request to upgrade is answered like any other
   */
  websocket: option(value<WebSocketOption>('{ server: new WebSocketServer({ noServer: true }) }', isWebSocketOption), {
    defaultWords: 'none: a request to upgrade is answered like any other',
    meaning: 'A server of the package ws, for upgradeWebSocket of @hono/node-server, or for all WebSockets with { listener }',
  }),
  /**
   * Longest time of a TLS handshake, and then of the head of a request, each; a connection that
   * takes longer is closed. Above 0.
   * @default 32s
   */
  headersTimeout: option(duration('1ms'), {
    default: '32s',
    meaning: 'Longest time of a TLS handshake, and then of the head of a request; a connection that takes longer is closed',
    upstream: 'http.Server ReadHeaderTimeout',
  }),
  /**
   * Bytes of the head of a request, with the names and values of all its headers: 4 KiB to 16 MiB.
   * A larger one is refused: 431 over HTTP/1.1, over HTTP/2 its stream is reset with
   * ENHANCE_YOUR_CALM. Over HTTP/2 node takes 8 CONTINUATION frames of a head, so that clients
   * whose frames have 16 KiB are disconnected for more than 144 KiB.
   * @default 16 KiB over HTTP/1.1, 1 MiB over HTTP/2
   */
  maxHeaderSize: option(integer(4 * KIB, 16 * 1024 * KIB, 'a number of bytes from 4096 to 16777216'), {
    flag: 'max-header-size',
    defaultWords: '16 KiB over HTTP/1.1, 1 MiB over HTTP/2',
    meaning: 'Bytes of the head of a request; a larger one is refused',
    upstream: 'http.Server MaxHeaderBytes (1 MiB)',
  }),
  /**
   * How many requests a client of HTTP/2 may have under way on one connection, watches included: 1
   * to 2147483647. A client is told so; the next one is refused with REFUSED_STREAM, so that it may
   * send it later.
   * @default 100
   * @see kubernetes/apiserver pkg/server/secure_serving.go Serve
   */
  maxConcurrentStreams: option(integer(1, INT32_MAX), {
    flag: 'http2-max-streams-per-connection',
    default: 100,
    meaning: 'How many requests a client of HTTP/2 may have under way on one connection, watches included',
    needs: needsHttp2,
    upstream: '--http2-max-streams-per-connection',
  }),
  /**
   * Bytes that a client of HTTP/2 may send on a stream before your handler has read them, and in
   * one frame: 16 KiB to 16777215. A whole connection has `maxConcurrentStreams` times as much, 2
   * GiB at most: 25 MiB by default.
   * @default 262144
   * @see kubernetes/apiserver pkg/server/secure_serving.go Serve
   */
  streamBuffer: option(integer(16 * KIB, HTTP2_FRAME_MAX, `a number of bytes from 16384 to ${HTTP2_FRAME_MAX}`), {
    default: 256 * KIB,
    meaning: 'Bytes that a client of HTTP/2 may send on a stream before they are read, and in one frame',
    needs: needsHttp2,
    upstream: 'http2.Server MaxUploadBufferPerStream, MaxReadFrameSize',
  }),
  /**
   * Given to `node:http`, `node:https` or `node:http2` as it is: what it says takes precedence over
   * the options above, also of `settings` each by itself.
   * @default {}
   */
  serverOptions: option(
    value<http.ServerOptions | https.ServerOptions | http2.SecureServerOptions>(
      'an object: the options of createServer of node:http',
      isRecord,
    ),
    {
      default: {},
      meaning: 'Given to node:http, node:https or node:http2 as it is',
    },
  ),
})

export const SERVER_OPTIONS = composeOptions(LISTEN_OPTIONS, LIFECYCLE_OPTIONS)
