import { ownFields } from '../base/own-fields.ts'
import { isFieldsOnly } from '../base/records.ts'
import { type Warning, warningsOf } from '../base/warnings.ts'
import type { PlatformFacts } from '../platforms/platform.ts'
import { detectPlatform, type Platform, sendsOn } from '../platforms/platforms.ts'
import type { StopPlans } from './budget.ts'
import { type Place, type ResolvedOf, resolvedName, resolveOptions, type UserOptions } from './kit/define.ts'
import { placeOfFile } from './kit/place-of-file.ts'
import { Problems, type ProblemWording } from './kit/problems.ts'
import { chosenKill, idleWarnings, outsideWarnings } from './outside-limits.ts'
import type { HealthPaths } from './rows/health.ts'
import { LIFECYCLE_OPTIONS, SERVER_OPTIONS } from './rows/lifecycle.ts'
import { LISTEN_OPTIONS, type ResolvedListener, resolveListener } from './rows/listeners.ts'
import { checkTimes, chooseTimes, chosenByRows, type DefaultDuration, plansOf, type Times, tooLong } from './times.ts'

/**
 * Options twice: what users write (`LifecycleOptions`, `ServerOptions`: durations as text,
 * everything optional) and what code reads (`ResolvedOptions`: complete, checked, milliseconds).
 * Both follow from the rows in rows/.
 */

/**
 * Options of a lifecycle. Every duration is milliseconds or text like `'1.5s'`.
 * `undefined` is the same as leaving the option out.
 */
export interface LifecycleOptions extends UserOptions<typeof LIFECYCLE_OPTIONS> {}

/** Options of a server that quiesce creates. */
export interface ServerOptions extends LifecycleOptions, UserOptions<typeof LISTEN_OPTIONS> {}

export type { InspectorOptions, ResolvedInspector } from './rows/inspector.ts'

type Rows = ResolvedOf<typeof LIFECYCLE_OPTIONS>

export interface ResolvedOptions extends Omit<Rows, 'platform' | 'health'> {
  readonly platform: Platform
  readonly facts: PlatformFacts
  /**
   * Delay, deadline and reserves by kind of stop. The cuts follow when it is known what is
   * registered.
   */
  readonly plans: StopPlans
  /** Paths of the health endpoints, or false. */
  readonly health: HealthPaths | false
  /** Further endpoints, and how all of them answer. */
  readonly healthOptions: Partial<Omit<NonNullable<Rows['health']>, 'paths'>>
  /**
   * What was given and has no effect, or does not fit what surrounds the process: a sentence each,
   * said when the life begins.
   */
  readonly warnings: readonly Warning[]
  /** Every duration with where it came from; logged and reported. */
  readonly chosen: Readonly<Record<string, DefaultDuration>>
}

/** The options of one listener, which a list of several replaces. */
const OF_ONE_LISTENER = ['port', 'host', 'tls', 'http2'] as const satisfies readonly (keyof ServerOptions)[]

export interface ResolvedServerOptions
  extends ResolvedOptions,
    Omit<ResolvedOf<typeof LISTEN_OPTIONS>, (typeof OF_ONE_LISTENER)[number] | 'listeners'> {
  readonly listeners: readonly ResolvedListener[]
}

export interface ResolveContext extends Omit<ProblemWording, 'elsewhere'> {
  readonly facts: PlatformFacts
}

/**
 * Complete and checked options of a lifecycle.
 * @throws QuiesceError ERR_OPTION_INVALID with one line for every problem; `details.problems` has
 * them as data.
 */
export function resolveLifecycleOptions(options: LifecycleOptions, context: ResolveContext): ResolvedOptions {
  return resolve(LIFECYCLE_OPTIONS, options, 'attachLifecycle', context)
}

/**
 * Complete and checked options of a life that serves nothing.
 * @throws QuiesceError ERR_OPTION_INVALID as {@link resolveLifecycleOptions}
 */
export function resolveLifeOptions(options: LifecycleOptions, context: ResolveContext): ResolvedOptions {
  return resolve(LIFECYCLE_OPTIONS, options, 'createLife', context)
}

/**
 * Complete and checked options of a server that quiesce creates.
 * @throws QuiesceError ERR_OPTION_INVALID as {@link resolveLifecycleOptions}
 */
export function resolveServerOptions(given: ServerOptions, context: ResolveContext): ResolvedServerOptions {
  const options = readOnce(given)
  const resolved = resolve(SERVER_OPTIONS, options, undefined, context)
  const { port, host, tls: _, http2: __, ...listening } = resolveOptions(LISTEN_OPTIONS, options, resolved.behind ? [resolved.behind] : [])
  const listeners = options.listeners?.map((address, i) => ({ ...resolveListener(address), option: `listeners[${i}]` })) ?? [
    resolveListener({ port, host, tls: options.tls, http2: options.http2 }),
  ]
  const warnings = [...resolved.warnings, ...warningsOf('WARN_OUTSIDE_LIMITS', idleWarnings(listening.keepAliveTimeoutMs, resolved.behind))]
  return { ...resolved, ...listening, warnings, listeners }
}

/** What cannot be read is refused with its name by those who check each option. */
function readOnce(given: ServerOptions): ServerOptions {
  try {
    return isFieldsOnly(given) ? ownFields<ServerOptions>(given) : given
  } catch {
    return given
  }
}

function resolve(
  table: typeof LIFECYCLE_OPTIONS | typeof SERVER_OPTIONS,
  options: ServerOptions,
  calledBy: Place | undefined,
  context: ResolveContext,
): ResolvedOptions {
  const elsewhere = (name: string): string | undefined => (Object.hasOwn(LISTEN_OPTIONS, name) ? 'only for createServer' : undefined)
  const problems = new Problems(table, { ...context, elsewhere })
  const own = problems.checkEach(options)
  const given: ServerOptions = own
  const platform = detectPlatform(context.facts, given.platform)
  const front: readonly Place[] = given.behind !== undefined && sendsOn(platform.name) ? [given.behind] : []
  const places: readonly Place[] = [platform.name, ...front, ...(calledBy === undefined ? [] : [calledBy])]
  const { health, ...rows } = resolveOptions(LIFECYCLE_OPTIONS, given, places)
  const times = chooseTimes(given, rows, chosenByRows(table, own, places), platform, places)
  const { plan } = times
  const killAfter = chosenKill(times.chosen['killAfter'], platform, context.facts)
  const chosen: Times['chosen'] = asGiven({ ...times.chosen, ...(killAfter && { killAfter }) }, context)
  checkRelations(given, problems)
  const useless = problems.checkNeeds(own, places)
  checkTimes(given, plan, problems)
  problems.throwIfAny()

  const { paths, ...healthOptions } = health ?? {}
  return {
    ...rows,
    ...durationsOf(chosen),
    platform,
    facts: context.facts,
    plans: plansOf(given, plan, (chosen['crashDeadline'] as DefaultDuration).ms),
    health: paths ?? false,
    healthOptions,
    warnings: [
      ...warningsOf('WARN_WITHOUT_EFFECT', [...useless, ...tooLong(given, chosen, problems)]),
      ...warningsOf('WARN_OUTSIDE_LIMITS', outsideWarnings(chosen, platform, context.facts)),
    ],
    chosen,
  }
}

/** What a command has chosen is not called given. */
const asGiven = (chosen: Times['chosen'], { isOwnDefault = () => false }: ResolveContext): Times['chosen'] =>
  Object.fromEntries(
    Object.entries(chosen).map(([name, { ms, because }]) => [name, { ms, because: isOwnDefault(name) ? 'default' : because }]),
  )

/** The durations under the names that resolved options have. */
const durationsOf = (chosen: Readonly<Record<string, DefaultDuration>>): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(chosen).map(([name, { ms }]) => [resolvedName(name, { kind: 'duration' }), ms]))

/** Checks what options mean for each other, durations and needs aside. */
function checkRelations(given: ServerOptions, problems: Problems): void {
  if (given.listeners && OF_ONE_LISTENER.some((name) => given[name] !== undefined)) {
    problems.addForOption('listeners', given.listeners, LISTEN_OPTIONS.listeners.allowed)
  }
  const { journal, reportFile } = given
  if (journal === undefined || reportFile === undefined) return
  const place = placeOfFile(reportFile)
  // The report replaces what was there.
  if (place !== undefined && place === placeOfFile(journal))
    problems.addForOption('reportFile', reportFile, `another file than that of ${problems.label('journal')}`)
}
