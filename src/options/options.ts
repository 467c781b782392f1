import type { IncomingMessage, ServerOptions as NodeServerOptions } from 'node:http'
import type { AuditBackend } from '../actors/audit.ts'
import { type Duration, formatDuration, parseDuration } from '../base/duration.ts'
import { RESERVES_DEFAULT_MS, type Reserves } from '../base/stop-profile.ts'
import type { Wording } from '../base/wording.ts'
import { CHECK_TIMEOUT_MS } from '../http/health/health-check.ts'
import type { Logger } from '../log/log.ts'
import type { DestroyOrder } from '../machines/phases/destroy.ts'
import {
  ASKED_SHARE_MAX,
  deadlineThatFits,
  delayFits,
  longestDelayMs,
  RESERVE_NAMES,
  RESERVES_SHARE_MAX,
  restMs,
  type StopPlan,
  type StopPlans,
  stopProfile,
  sums,
} from './budget.ts'
import { HEALTH_PATHS_DEFAULT, type HealthOptions, type HealthPaths } from './health-options.ts'
import { OPTION_NAMES, OPTION_TABLE, type OptionName, SERVER_ONLY_OPTIONS } from './option-table.ts'
import {
  detectPlatform,
  INTERACTIVE_DEFAULTS,
  type Platform,
  type PlatformDefaults,
  type PlatformFacts,
  type PlatformName,
} from './platform.ts'

import { Problems, type ProblemWording } from './problems.ts'
import type { SignalsOption } from './stop-signals.ts'
import { resolveWording, type WordingOptions } from './wording-options.ts'

/**
 * Options twice: what users write (`LifecycleOptions`, `ServerOptions`: durations as text, everything optional) and what
 * code reads (`ResolvedOptions`: complete, checked, milliseconds). Ranges and defaults in words stand in `option-table.ts`.
 */

/** New requests while draining: `refuse` closes the listener, `retry-after` answers 429 until everything has drained. */
export type WhileDraining = 'refuse' | 'retry-after'
/** When kept-alive clients are told to reconnect elsewhere. */
export type Tell = 'gradual' | 'at-once' | 'after-delay'

/** The inspector: a page, and streams for tools, on a listener of its own which closes last of all. */
export interface InspectorOptions {
  /** Default 0: any free one, which the log names. */
  readonly port?: number | undefined
  /** Default 127.0.0.1. On any other but a loopback address whoever comes needs the token. */
  readonly host?: string | undefined
  /** At least 16 letters, digits and `-._~+/=`. Default: a new one where one is needed, logged once. */
  readonly token?: string | undefined
  /** Whether the page may begin the shutdown. Default false. */
  readonly actions?: boolean | undefined
  /** Puts some load on the server; the page's button for it begins the shutdown in the middle. Needs `actions`. */
  readonly drill?: (() => unknown) | undefined
}

/**
 * Options of a lifecycle. Every duration is milliseconds or text like `'1.5s'`; every default is in {@link OPTION_TABLE}.
 * `undefined` is the same as leaving the option out.
 */
export interface LifecycleOptions {
  /** Where the process runs; decides the delay and the deadline that are not given. Default `'auto'`. */
  readonly platform?: 'auto' | PlatformName | undefined
  /**
   * Time between StopRequested and the moment new requests may be refused. Default by platform: 5 s on Kubernetes, else 0.
   * It must leave the later phases their time before `deadline`.
   * @see kubernetes/apiserver pkg/server/config.go Config.ShutdownDelayDuration
   */
  readonly shutdownDelay?: Duration | undefined
  /**
   * Time for which idle connections are held when nothing new is accepted any more: a request that is on its way on one is answered, and
   * its client told to leave, instead of lost. Before it, what the kernel has accepted is accepted, too. It ends early when no connection
   * is left that may bring a request. With `whileDraining: 'retry-after'` what comes is answered 429. 0: listeners and idle connections
   * close at once. Default 300 ms; 0 after Ctrl-C on a terminal. At most half of what the budget keeps for requests.
   */
  readonly lastCall?: Duration | undefined
  /** Default `'refuse'`. @see kubernetes/apiserver pkg/server/config.go Config.ShutdownSendRetryAfter */
  readonly whileDraining?: WhileDraining | undefined
  /**
   * Time that watches have to end after they were told. 0: told, but not waited for. Default 8 s, at most a third of the deadline.
   * @see kubernetes/apiserver pkg/server/config.go Config.ShutdownWatchTerminationGracePeriod
   */
  readonly watchGrace?: Duration | undefined
  /**
   * Time from StopRequested to the end by force; at least 100 ms. The process is gone by then. Default by platform, raised to fit a given
   * delay, grace or reserve.
   */
  readonly deadline?: Duration | undefined
  /**
   * The same for a stop by an uncaught exception or an unhandled rejection; at least 100 ms. A crash in the middle of a stop has what ends
   * first. Default: `deadline` when that is given, else 5 s, at most the deadline.
   */
  readonly crashDeadline?: Duration | undefined
  /**
   * Longest time that accepted requests and holds are waited for, from NotAcceptingNewRequest on; above 0. What is left is cut and named,
   * which is exit code 5. Default: none, they have what the budget leaves them; a longer one than that changes nothing.
   */
  readonly requestDrainTimeout?: Duration | undefined
  /**
   * Time that connections have to end once requests are drained; it does not bound the drain itself. Default `requestTimeout`,
   * or 2 s with `whileDraining: 'retry-after'`. The deadline's own cut may come first.
   * @see kubernetes/apiserver pkg/server/genericapiserver.go GenericAPIServer.ShutdownTimeout
   */
  readonly connectionTimeout?: Duration | undefined
  /** Default `'gradual'`, which is `'at-once'` when there is no delay. `'after-delay'` needs `whileDraining: 'retry-after'`. */
  readonly tell?: Tell | undefined
  /** Longest time of a hook that states none itself; above 0. Default 5 s, at most a third of the deadline. */
  readonly hookTimeout?: Duration | undefined
  /** In which order destroy functions run that name no other. Default `'registration'`, as upstream; `'reverse'`: the last one first. */
  readonly destroyOrder?: DestroyOrder | undefined
  /** Longest time a request is expected to take. Default 60 s. @see kubernetes/apiserver pkg/server/config.go Config.RequestTimeout */
  readonly requestTimeout?: Duration | undefined
  /** Time after start during which liveness does not wait for post-start hooks. Default 0. @see kubernetes/apiserver pkg/server/config.go Config.LivezGracePeriod */
  readonly livezGrace?: Duration | undefined
  /** Longest time of one health check; above 0. Default 900 ms: probers usually wait 1 s. */
  readonly healthCheckTimeout?: Duration | undefined
  /**
   * Time that the budget keeps free for the late phases. What is given is kept whole, together at most nine tenths of a given deadline;
   * the others are scaled. Nothing is kept for `audit` without a backend, nor for `destroy` without a destroy function, as of StopRequested.
   */
  readonly reserves?: { readonly [K in keyof Reserves]?: Duration | undefined } | undefined
  /**
   * Which requests are watches, beside upgrades, responses whose head says `text/event-stream`, and what `markWatch` marks. Asked once
   * for every request, before its handler. Default: none. Servers of the Kubernetes API give `kubernetesLongRunning`. One that throws, or
   * answers with something else than a boolean, counts as false and is reported.
   */
  readonly longRunning?: ((request: IncomingMessage) => boolean) | undefined
  /** Whether, where and how health is answered. Default true for `createServer`, false for `attachLifecycle`. */
  readonly health?: boolean | HealthOptions | undefined
  /**
   * Paths that your application still answers while new requests are refused, as `/healthz`, `/livez`, `/readyz` and `/metrics` are: each with
   * all below it, by whole segments. A request whose target could be read as another path is refused all the same.
   */
  readonly exempt?: readonly string[] | undefined
  /** Second listener for health: outside the drain, closed last. `host` defaults to 127.0.0.1. */
  readonly admin?: { readonly port: number; readonly host?: string | undefined } | undefined
  /** Page that shows the life as it runs. Default false. */
  readonly inspector?: boolean | InspectorOptions | undefined
  /** Everything that happens is written here, an entry per line, and is there to the last on every path that can still write. */
  readonly journal?: string | undefined
  readonly audit?: AuditBackend | undefined
  /**
   * Pino-compatible, or false for silence. Default: pino on standard output for `createServer`, none for `attachLifecycle`. A console is told
   * nothing at debug.
   */
  readonly logger?: Logger | false | undefined
  /**
   * The report is written here, as JSON, on every path that can still write: also when something else calls `process.exit()`, or the
   * process ends because nothing keeps it alive (`forced` is `process-exit` then). What was there stays until the new one is whole.
   */
  readonly reportFile?: string | undefined
  /**
   * `explicit` (default) ends the process when it is still alive 1 s after `run()` is done, or shortly before the deadline if that is sooner,
   * or at once when the budget has cut something; `natural` does not.
   */
  readonly exit?: 'explicit' | 'natural' | undefined
  /**
   * OS signals that stop what `run()` runs. A list replaces the default (SIGTERM, SIGINT, SIGHUP; on Windows SIGBREAK, too), and an empty one
   * is none; `{ add: ['SIGUSR2'], skip: ['SIGHUP'] }` changes it. The second one, whichever it is, means "now".
   */
  readonly signals?: SignalsOption | undefined
  /** Aborting it stops what `run()` runs. */
  readonly signal?: AbortSignal | undefined
  readonly disabledPostStartHooks?: readonly string[] | undefined
  /**
   * What clients, the log and the metrics read. Default: neutral words, and names that begin with `quiesce_`. `{ name: 'orders' }` is
   * enough to give the server its name; `apiserverWording` is upstream's.
   */
  readonly wording?: WordingOptions | undefined
}

export type ListenerAddress = { readonly port: number; readonly host?: string | undefined } | { readonly path: string }

/** Options of a server that quiesce creates. */
export interface ServerOptions extends LifecycleOptions {
  /** Default 8080; 0 is any free port. */
  readonly port?: number | undefined
  /** Default: all addresses. */
  readonly host?: string | undefined
  /** Several addresses or Unix sockets instead of `port` and `host`; all are bound, or none is. */
  readonly listeners?: readonly ListenerAddress[] | undefined
  /** Time after which an idle connection is closed. Default 75 s: longer than the idle time of the usual load balancers, which must not lose the race. */
  readonly keepAliveTimeout?: Duration | undefined
  /** Given to `node:http` as it is. */
  readonly serverOptions?: NodeServerOptions | undefined
}

/** What one default came out as, and why. */
export interface Chosen {
  readonly ms: number
  readonly because: string
}

export interface ResolvedOptions {
  readonly platform: Platform
  readonly facts: PlatformFacts
  /** Delay, deadline and reserves by kind of stop. The cuts follow when it is known what is registered. */
  readonly plans: StopPlans
  readonly shutdownDelayMs: number
  readonly lastCallMs: number
  readonly deadlineMs: number
  readonly watchGraceMs: number
  readonly requestDrainTimeoutMs: number | undefined
  readonly connectionTimeoutMs: number
  readonly hookTimeoutMs: number
  readonly requestTimeoutMs: number
  readonly livezGraceMs: number
  readonly healthCheckTimeoutMs: number
  readonly reservesMs: Reserves
  readonly whileDraining: WhileDraining
  readonly tell: Tell
  readonly destroyOrder: DestroyOrder
  readonly longRunning: ((request: IncomingMessage) => boolean) | undefined
  /** Paths of the health endpoints, or false. */
  readonly health: HealthPaths | false
  /** Further endpoints, and how all of them answer. */
  readonly healthOptions: Omit<HealthOptions, 'paths'>
  readonly exempt: readonly string[]
  readonly admin: { readonly port: number; readonly host: string } | undefined
  readonly inspector: ResolvedInspector | undefined
  readonly journal: string | undefined
  readonly audit: AuditBackend | undefined
  /** undefined: the user said nothing. */
  readonly logger: Logger | false | undefined
  readonly reportFile: string | undefined
  readonly exit: 'explicit' | 'natural'
  /** As given: what the default is depends on the process. */
  readonly signals: SignalsOption | undefined
  readonly signal: AbortSignal | undefined
  readonly disabledPostStartHooks: ReadonlySet<string>
  readonly wording: Wording
  /** Every duration with where it came from; logged and reported. */
  readonly chosen: Readonly<Record<string, Chosen>>
}

export interface ResolvedInspector {
  readonly port: number
  readonly host: string
  readonly token: string | undefined
  readonly actions: boolean
  readonly drill: (() => unknown) | undefined
}

export interface ResolvedServerOptions extends ResolvedOptions {
  readonly listeners: readonly ListenerAddress[]
  readonly keepAliveTimeoutMs: number
  readonly serverOptions: NodeServerOptions
}

export interface ResolveContext extends ProblemWording {
  readonly facts: PlatformFacts
}

const PORT_DEFAULT = 8_080
const INSPECTOR_HOST_DEFAULT = '127.0.0.1'
const ADMIN_HOST_DEFAULT = '127.0.0.1'
const REQUEST_TIMEOUT_DEFAULT_MS = 60_000
const KEEP_ALIVE_TIMEOUT_DEFAULT_MS = 75_000
const WATCH_GRACE_DEFAULT_MS = 8_000
/** Measured: docs/decisions/0018-the-last-call.md */
const LAST_CALL_DEFAULT_MS = 300
const HOOK_TIMEOUT_DEFAULT_MS = 5_000
/** Everything has drained by then, so only connections that nobody uses are left. @see kubernetes/apiserver pkg/server/genericapiserver.go RunWithContext */
const CONNECTION_TIMEOUT_RETRY_AFTER_MS = 2_000
const CRASH_DEADLINE_DEFAULT_MS = 5_000
/** What a single hook may use of the hooks' time in the budget. */
const HOOKS_SHARE_MAX = 0.8
/** No single hook and no grace may use up the deadline alone. */
const DEADLINE_SHARE_MAX = 1 / 3
/** Deadlines that we propose are multiples of this. */
const DEADLINE_STEP_MS = 100

/**
 * Complete and checked options of a lifecycle.
 * @throws QuiesceError ERR_OPTION_INVALID with one line for every problem; `details.problems` has them as data.
 */
export function resolveLifecycleOptions(options: LifecycleOptions, context: ResolveContext): ResolvedOptions {
  return resolve(options, 'lifecycle', context)
}

/**
 * Complete and checked options of a life that serves nothing.
 * @throws QuiesceError ERR_OPTION_INVALID as {@link resolveLifecycleOptions}
 */
export function resolveLifeOptions(options: LifecycleOptions, context: ResolveContext): ResolvedOptions {
  return resolve(options, 'life', context)
}

/**
 * Complete and checked options of a server that quiesce creates.
 * @throws QuiesceError ERR_OPTION_INVALID as {@link resolveLifecycleOptions}
 */
export function resolveServerOptions(options: ServerOptions, context: ResolveContext): ResolvedServerOptions {
  const resolved = resolve(options, 'server', context)
  const { port = PORT_DEFAULT, host, listeners = [host === undefined ? { port } : { port, host }], serverOptions = {} } = options
  return { ...resolved, listeners, serverOptions, keepAliveTimeoutMs: (resolved.chosen['keepAliveTimeout'] as Chosen).ms }
}

/** `life` has no server, `lifecycle` somebody else's. */
type Kind = 'lifecycle' | 'server' | 'life'

const namesOf = (kind: Kind): readonly OptionName[] =>
  kind === 'server' ? OPTION_NAMES : OPTION_NAMES.filter((name) => !(SERVER_ONLY_OPTIONS as readonly string[]).includes(name))

function resolve(options: ServerOptions, kind: Kind, context: ResolveContext): ResolvedOptions {
  const problems = new Problems(context)
  const given: ServerOptions = problems.checkEach(options, namesOf(kind))
  const detected = detectPlatform(context.facts, given.platform)
  // A delay is for those who still send requests.
  const platform = kind === 'life' ? { ...detected, delayMs: 0 } : detected
  const whileDraining = given.whileDraining ?? 'refuse'
  const times = chooseTimes(given, platform, kind)
  checkRelations(given, times, problems)
  problems.throwIfAny()

  const { chosen, plan } = times
  const ms = (name: OptionName): number => (chosen[name] as Chosen).ms
  return {
    platform,
    facts: context.facts,
    plans: plansOf(given, plan, ms('crashDeadline')),
    shutdownDelayMs: plan.delayMs,
    lastCallMs: plan.lastCallMs,
    deadlineMs: plan.deadlineMs,
    watchGraceMs: plan.watchGraceMs,
    requestDrainTimeoutMs: chosen['requestDrainTimeout']?.ms,
    connectionTimeoutMs: ms('connectionTimeout'),
    hookTimeoutMs: ms('hookTimeout'),
    requestTimeoutMs: ms('requestTimeout'),
    livezGraceMs: ms('livezGrace'),
    healthCheckTimeoutMs: ms('healthCheckTimeout'),
    reservesMs: plan.reserves,
    whileDraining,
    tell: given.tell ?? 'gradual',
    destroyOrder: given.destroyOrder ?? 'registration',
    longRunning: given.longRunning,
    health: healthPaths(given.health ?? kind !== 'lifecycle'),
    healthOptions: typeof given.health === 'object' ? given.health : {},
    exempt: given.exempt ?? [],
    admin: given.admin && { port: given.admin.port, host: given.admin.host ?? ADMIN_HOST_DEFAULT },
    inspector: inspectorOf(given.inspector ?? false),
    journal: given.journal,
    audit: given.audit,
    logger: given.logger,
    reportFile: given.reportFile,
    exit: given.exit ?? 'explicit',
    signals: given.signals,
    signal: given.signal,
    disabledPostStartHooks: new Set(given.disabledPostStartHooks),
    wording: resolveWording(given.wording),
    chosen,
  }
}

function healthPaths(health: NonNullable<LifecycleOptions['health']>): HealthPaths | false {
  if (health === false) return false
  return { ...HEALTH_PATHS_DEFAULT, ...(typeof health === 'object' && defined(health.paths ?? {})) }
}

function inspectorOf(given: boolean | InspectorOptions): ResolvedInspector | undefined {
  if (given === false) return undefined
  const { port = 0, host = INSPECTOR_HOST_DEFAULT, token, actions = false, drill } = given === true ? {} : given
  return { port, host, token, actions, drill }
}

interface Times {
  readonly plan: StopPlan
  readonly chosen: Readonly<Record<string, Chosen>>
}

/** Every duration, with the reason for it. Deadline and delay depend on each other: a given one stays, the other one gives way. */
function chooseTimes(given: ServerOptions, platform: Platform, kind: Kind): Times {
  const parsed = (name: OptionName): number | undefined => {
    const duration = given[name] as Duration | undefined
    return duration === undefined ? undefined : parseDuration(name, duration)
  }
  const chosen: Record<string, Chosen> = {}
  const choose = (name: OptionName, defaultMs: number, because = 'default'): number => {
    const ms = parsed(name)
    const choice: Chosen = ms === undefined ? { ms: defaultMs, because } : { ms, because: 'given' }
    chosen[name] = choice
    return choice.ms
  }
  const ofPlatform = (name: keyof PlatformDefaults, ms: number): string =>
    ms === platform[name] ? `platform ${platform.name}` : `${formatDuration(platform[name])} of platform ${platform.name} does not fit`

  const { reserves, asked } = reservesOf(given)
  const lastCallMs = choose('lastCall', LAST_CALL_DEFAULT_MS)
  const demand = {
    delayMs: parsed('shutdownDelay') ?? platform.delayMs,
    lastCallMs,
    watchGraceMs: parsed('watchGrace') ?? 0,
    reserves,
    asked,
  }
  const ofPlatformAndGivenMs = platform.deadlineMs + (parsed('shutdownDelay') ?? 0) + demand.watchGraceMs + sums(demand).asked
  const deadlineToFitMs = Math.max(deadlineThatFits(demand), ofPlatformAndGivenMs)
  const deadlineDefaultMs = fitsWell({ ...demand, deadlineMs: platform.deadlineMs }) ? platform.deadlineMs : deadlineToFitMs
  const deadlineMs = choose('deadline', deadlineDefaultMs, ofPlatform('deadlineMs', deadlineDefaultMs))
  if (given.deadline === undefined) choose('crashDeadline', Math.min(CRASH_DEADLINE_DEFAULT_MS, deadlineMs))
  else choose('crashDeadline', deadlineMs, 'the deadline')

  const delayDefaultMs = Math.min(platform.delayMs, longestDelayMs({ ...demand, deadlineMs }))
  const delayMs = choose('shutdownDelay', delayDefaultMs, ofPlatform('delayMs', delayDefaultMs))

  const watchGraceMs = choose('watchGrace', watchGraceDefaultMs({ deadlineMs, reserves, asked }))
  if (given.requestDrainTimeout !== undefined) choose('requestDrainTimeout', 0)
  const plan = { delayMs, lastCallMs, deadlineMs, watchGraceMs, reserves, asked }
  // A hook that hangs has to fail by its own timeout before the budget cuts it, and with it all hooks after it.
  const hooksMs = stopProfile(plan).cutsMs.hooks
  choose('hookTimeout', Math.floor(Math.min(HOOK_TIMEOUT_DEFAULT_MS, shareOf(plan), hooksMs * HOOKS_SHARE_MAX)))
  const requestTimeoutMs = choose('requestTimeout', REQUEST_TIMEOUT_DEFAULT_MS)
  if (given.whileDraining === 'retry-after') choose('connectionTimeout', CONNECTION_TIMEOUT_RETRY_AFTER_MS, 'default with retry-after')
  else choose('connectionTimeout', requestTimeoutMs, 'the request timeout')
  choose('livezGrace', 0)
  choose('healthCheckTimeout', CHECK_TIMEOUT_MS)
  if (kind === 'server') choose('keepAliveTimeout', KEEP_ALIVE_TIMEOUT_DEFAULT_MS)
  return { plan, chosen }
}

/** In whole milliseconds, as everything that people read. */
const shareOf = (plan: Parameters<typeof restMs>[0]): number => Math.floor(restMs(plan) * DEADLINE_SHARE_MAX)

const watchGraceDefaultMs = (plan: Parameters<typeof restMs>[0]): number => Math.min(WATCH_GRACE_DEFAULT_MS, shareOf(plan))

function reservesOf(given: ServerOptions): Required<Pick<StopPlan, 'reserves' | 'asked'>> {
  const reserves = given.reserves ?? {}
  const ms = (name: keyof Reserves): number => {
    const duration = reserves[name]
    return duration === undefined ? RESERVES_DEFAULT_MS[name] : parseDuration(`reserves.${name}`, duration)
  }
  return {
    reserves: { connections: ms('connections'), audit: ms('audit'), destroy: ms('destroy'), flush: ms('flush') },
    asked: RESERVE_NAMES.filter((name) => reserves[name] !== undefined),
  }
}

const askedFit = (plan: StopPlan): boolean => sums(plan).asked <= plan.deadlineMs * ASKED_SHARE_MAX

/** Default reserves may be scaled, given ones may not. */
const fits = (plan: StopPlan): boolean => delayFits(plan) && askedFit(plan)

/** A deadline that nobody gave leaves requests their share, whatever else was given. */
function fitsWell(plan: StopPlan): boolean {
  const { asked, others } = sums(plan)
  return delayFits(plan) && (asked === 0 || asked + others <= plan.deadlineMs * RESERVES_SHARE_MAX)
}

/** The smallest deadline, in steps of 100 ms, for which a plan fits that does not. Time is never too long: what fits keeps fitting. */
function smallestDeadlineMs(plan: StopPlan): number {
  let tooShort = Math.floor(plan.deadlineMs / DEADLINE_STEP_MS)
  let enough = Math.ceil(deadlineThatFits(plan) / DEADLINE_STEP_MS)
  while (enough - tooShort > 1) {
    const middle = Math.floor((tooShort + enough) / 2)
    if (fits({ ...plan, deadlineMs: middle * DEADLINE_STEP_MS })) enough = middle
    else tooShort = middle
  }
  return enough * DEADLINE_STEP_MS
}

/** A person or a crash gets a shorter stop, unless a delay or a deadline was given on purpose. In a shorter one every reserve is scaled. */
function plansOf(given: ServerOptions, plan: StopPlan, crashDeadlineMs: number): StopPlans {
  const within = (long: Pick<StopPlan, 'delayMs' | 'lastCallMs'>, deadlineMs: number): StopPlan => {
    const { delayMs, lastCallMs } = long
    const other = { ...plan, delayMs, lastCallMs, deadlineMs, asked: deadlineMs < plan.deadlineMs ? [] : (plan.asked ?? []) }
    return given.watchGrace === undefined ? { ...other, watchGraceMs: watchGraceDefaultMs(other) } : other
  }
  const interactive = {
    ...plan,
    delayMs: given.shutdownDelay === undefined ? INTERACTIVE_DEFAULTS.delayMs : plan.delayMs,
    lastCallMs: given.lastCall === undefined ? INTERACTIVE_DEFAULTS.lastCallMs : plan.lastCallMs,
    asked: [],
  }
  const asksForTime = interactive.delayMs > 0 || (given.watchGrace !== undefined && plan.watchGraceMs > 0)
  const interactiveDeadlineMs = Math.max(INTERACTIVE_DEFAULTS.deadlineMs, asksForTime ? deadlineThatFits(interactive) : 0)
  return {
    default: plan,
    interactive: within(interactive, given.deadline === undefined ? Math.min(plan.deadlineMs, interactiveDeadlineMs) : plan.deadlineMs),
    crash: within({ ...plan, delayMs: 0 }, crashDeadlineMs),
    startFailed: { ...plan, delayMs: 0, lastCallMs: 0 },
  }
}

/** Checks what options mean for each other. Only for usable ones: a refused value says nothing about the others. */
function checkRelations(given: ServerOptions, { plan }: Times, problems: Problems): void {
  if (given.tell === 'after-delay' && given.whileDraining !== 'retry-after') {
    problems.addForOption('tell', given.tell, `gradual, at-once; after-delay only in retry-after mode (${problems.label('whileDraining')})`)
  }
  if (given.listeners && (given.port !== undefined || given.host !== undefined)) {
    problems.addForOption('listeners', given.listeners, OPTION_TABLE.listeners.allowed)
  }
  const longestLastCallMs = stopProfile({ ...plan, lastCallMs: Number.POSITIVE_INFINITY }).lastCallMs
  if (given.lastCall !== undefined && plan.lastCallMs > longestLastCallMs) {
    const within = `with ${problems.label('deadline')} ${formatDuration(plan.deadlineMs)}, so that what it lets in can be answered`
    problems.addForOption('lastCall', given.lastCall, `at most ${formatDuration(longestLastCallMs)} ${within}`)
  }
  if (given.deadline === undefined) return
  const demand = { ...plan, watchGraceMs: given.watchGrace === undefined ? 0 : plan.watchGraceMs }
  if (fits(demand)) return
  const raise = `; ${problems.label('deadline')} would have to be at least ${formatDuration(smallestDeadlineMs(demand))}`
  const withDeadline = `with ${problems.label('deadline')} ${formatDuration(plan.deadlineMs)}`
  if (!askedFit(plan)) {
    const mostMs = plan.deadlineMs * ASKED_SHARE_MAX
    problems.addForOption(
      'reserves',
      given.reserves,
      `together at most ${formatDuration(mostMs)} ${withDeadline}, so that requests have the rest${raise}`,
    )
    return
  }
  const within = `${withDeadline}, so that the later phases keep their time${raise}`
  if (given.shutdownDelay !== undefined && plan.delayMs > 0) {
    problems.addForOption('shutdownDelay', given.shutdownDelay, `at most ${formatDuration(longestDelayMs(demand))} ${within}`)
  } else if (given.watchGrace !== undefined) {
    const longest = Math.max(0, Math.floor(stopProfile(demand).cutsMs.requests - plan.delayMs))
    problems.addForOption('watchGrace', given.watchGrace, `at most ${formatDuration(longest)} ${within}`)
  }
}

const defined = <T extends object>(record: T): Partial<T> =>
  Object.fromEntries(Object.entries(record).filter(([, field]) => field !== undefined)) as Partial<T>
