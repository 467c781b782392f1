import { type Duration, formatDuration, parseDuration } from '../base/duration.ts'
import type { Platform } from '../platforms/platforms.ts'
import {
  ASKED_SHARE_MAX,
  DEADLINE_SHARE_MAX,
  deadlineThatFits,
  delayFits,
  HOOKS_SHARE_MAX,
  longestDelayMs,
  NONE_REGISTERED,
  RESERVE_NAMES,
  RESERVES_SHARE_MAX,
  restMs,
  type StopPlan,
  type StopPlans,
  stopProfile,
  sums,
} from './budget.ts'
import { type AnyOption, defaultAt, type OptionTable, type Place, type ResolvedOf, type UserOptions } from './kit/define.ts'
import type { Problems } from './kit/problems.ts'
import { LIFECYCLE_OPTIONS } from './rows/lifecycle.ts'

/**
 * The durations of a life and the plans of its stops. Numbers come from the rows; here stands what
 * they mean for each other: a deadline that has to fit a delay, a grace that must not use it up.
 */

/** What a user has given of a lifecycle, durations as they were written. */
type GivenOptions = UserOptions<typeof LIFECYCLE_OPTIONS>

/** What one default came out as, and why. */
export interface DefaultDuration {
  readonly ms: number
  readonly because: string
}

export interface Times {
  readonly plan: StopPlan
  readonly chosen: Readonly<Record<string, DefaultDuration>>
}

/** Deadlines that we propose are multiples of this. */
const DEADLINE_STEP_MS = 100

/** A default that depends on nothing but the place. */
const defaultMs = (
  name: 'deadline' | 'crashDeadline' | 'shutdownDelay' | 'lastCall' | 'watchGrace' | 'hookTimeout',
  places: readonly Place[],
): number => parseDuration(name, defaultAt<Duration>(LIFECYCLE_OPTIONS[name], places))

/** Every duration of a table that is given or has a default, which is taken as it is. */
export function chosenByRows(
  table: OptionTable,
  given: Readonly<Record<string, unknown>>,
  places: readonly Place[],
): Readonly<Record<string, DefaultDuration>> {
  const choices = Object.entries<AnyOption>(table).flatMap(([name, row]): [string, DefaultDuration][] => {
    const value = given[name] ?? defaultAt(row, places)
    if (row.kind !== 'duration' || value === undefined) return []
    return [[name, { ms: row.resolve(value as never) as number, because: given[name] === undefined ? 'default' : 'given' }]]
  })
  return Object.fromEntries(choices)
}

/**
 * Every duration, with the reason for it. Deadline and delay depend on each other: a given one
 * stays, the other one gives way.
 * @param byRows what they are when nothing depends on anything
 */
export function chooseTimes(
  given: GivenOptions,
  { reservesMs: reserves, requestTimeoutMs }: Pick<ResolvedOf<typeof LIFECYCLE_OPTIONS>, 'reservesMs' | 'requestTimeoutMs'>,
  byRows: Readonly<Record<string, DefaultDuration>>,
  platform: Platform,
  places: readonly Place[],
): Times {
  const chosen: Record<string, DefaultDuration> = { ...byRows }
  const givenMs = (name: keyof GivenOptions): number | undefined => (given[name] === undefined ? undefined : chosen[name]?.ms)
  const choose = (name: keyof GivenOptions, ms: number, because = 'default'): number => {
    if (given[name] === undefined) chosen[name] = { ms, because }
    return givenMs(name) ?? ms
  }
  const ofPlatform = (name: 'deadline' | 'shutdownDelay', ms: number): string => {
    const own = defaultMs(name, places)
    const whose = places.some((place) => place === given.behind) ? `behind ${given.behind}` : `platform ${platform.name}`
    return ms === own ? whose : `${formatDuration(own)} of ${whose} does not fit`
  }

  const asked = RESERVE_NAMES.filter((name) => given.reserves?.[name] !== undefined)
  const lastCallMs = chosen['lastCall']?.ms ?? 0
  const ownDelayMs = defaultMs('shutdownDelay', places)
  const ownDeadlineMs = defaultMs('deadline', places)
  const demand = { delayMs: givenMs('shutdownDelay') ?? ownDelayMs, lastCallMs, watchGraceMs: givenMs('watchGrace') ?? 0, reserves, asked }
  const ownAndGivenMs = ownDeadlineMs + (givenMs('shutdownDelay') ?? 0) + demand.watchGraceMs + sums(demand).asked
  const deadlineDefaultMs = fitsWell({ ...demand, deadlineMs: ownDeadlineMs })
    ? ownDeadlineMs
    : Math.max(deadlineThatFits(demand), ownAndGivenMs)
  const deadlineMs = choose('deadline', deadlineDefaultMs, ofPlatform('deadline', deadlineDefaultMs))
  if (given.deadline === undefined) choose('crashDeadline', Math.min(defaultMs('crashDeadline', places), deadlineMs))
  else choose('crashDeadline', deadlineMs, 'the deadline')

  const delayDefaultMs = Math.min(ownDelayMs, longestDelayMs({ ...demand, deadlineMs }))
  const delayMs = choose('shutdownDelay', delayDefaultMs, ofPlatform('shutdownDelay', delayDefaultMs))

  const watchGraceMs = choose('watchGrace', watchGraceDefaultMs({ deadlineMs, reserves, asked }))
  const plan = { delayMs, lastCallMs, deadlineMs, watchGraceMs, reserves, asked }
  // A hook that hangs has to fail by its own timeout before the budget cuts it, and with it all
  // hooks after it.
  const hooksMs = stopProfile(plan).cutsMs.hooks
  choose('hookTimeout', Math.floor(Math.min(defaultMs('hookTimeout', places), shareOf(plan), hooksMs * HOOKS_SHARE_MAX)))
  if (given.whileDraining === 'retry-after') choose('connectionTimeout', chosen['connectionTimeout']?.ms ?? 0, 'default with retry-after')
  else choose('connectionTimeout', requestTimeoutMs, 'the request timeout')
  return { plan, chosen }
}

/** The share in whole milliseconds, as everything that people read. */
const shareOf = (plan: Parameters<typeof restMs>[0]): number => Math.floor(restMs(plan) * DEADLINE_SHARE_MAX)

const watchGraceDefaultMs = (plan: Parameters<typeof restMs>[0]): number => Math.min(defaultMs('watchGrace', []), shareOf(plan))

const askedFit = (plan: StopPlan): boolean => sums(plan).asked <= plan.deadlineMs * ASKED_SHARE_MAX

/** Default reserves may be scaled, given ones may not. */
const fits = (plan: StopPlan): boolean => delayFits(plan) && askedFit(plan)

/** A deadline that is not given leaves requests their share, whatever else was given. */
function fitsWell(plan: StopPlan): boolean {
  const { asked, others } = sums(plan)
  return delayFits(plan) && (asked === 0 || asked + others <= plan.deadlineMs * RESERVES_SHARE_MAX)
}

/**
 * The smallest deadline, in steps of 100 ms, for which a plan fits that does not. Time is never too
 * long: what fits keeps fitting.
 */
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

/**
 * A person or a crash gets a shorter stop, unless a delay or a deadline was given on purpose. In a
 * shorter one every reserve is scaled.
 */
export function plansOf(given: GivenOptions, plan: StopPlan, crashDeadlineMs: number): StopPlans {
  const within = (long: Pick<StopPlan, 'delayMs' | 'lastCallMs'>, deadlineMs: number): StopPlan => {
    const { delayMs, lastCallMs } = long
    const other = { ...plan, delayMs, lastCallMs, deadlineMs, asked: deadlineMs < plan.deadlineMs ? [] : (plan.asked ?? []) }
    return given.watchGrace === undefined ? { ...other, watchGraceMs: watchGraceDefaultMs(other) } : other
  }
  const atTerminal: readonly Place[] = ['terminal']
  const interactive = {
    ...plan,
    delayMs: given.shutdownDelay === undefined ? defaultMs('shutdownDelay', atTerminal) : plan.delayMs,
    lastCallMs: given.lastCall === undefined ? defaultMs('lastCall', atTerminal) : plan.lastCallMs,
    asked: [],
  }
  const asksForTime = interactive.delayMs > 0 || (given.watchGrace !== undefined && plan.watchGraceMs > 0)
  const interactiveDeadlineMs = Math.max(defaultMs('deadline', atTerminal), asksForTime ? deadlineThatFits(interactive) : 0)
  return {
    default: plan,
    interactive: within(interactive, given.deadline === undefined ? Math.min(plan.deadlineMs, interactiveDeadlineMs) : plan.deadlineMs),
    crash: within({ ...plan, delayMs: 0 }, crashDeadlineMs),
    startFailed: { ...plan, delayMs: 0, lastCallMs: 0 },
  }
}

/**
 * Checks what durations mean for each other. Only for usable ones: a refused value says nothing
 * about the others.
 */
export function checkTimes(given: GivenOptions, plan: StopPlan, problems: Problems): void {
  // What is registered later takes its time from requests, and so from the last call, which gives
  // way then.
  const longestLastCallMs = stopProfile({ ...plan, lastCallMs: Number.POSITIVE_INFINITY }, NONE_REGISTERED).lastCallMs
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

/** Times within the stop that are bounded by its deadline, whatever they are. */
const WITHIN_DEADLINE = ['hookTimeout', 'requestDrainTimeout', 'connectionTimeout', 'crashDeadline'] as const

/** A sentence for each time that was given and never comes, because the deadline comes first. */
export function tooLong(
  given: GivenOptions,
  chosen: Readonly<Record<string, DefaultDuration>>,
  problems: Pick<Problems, 'label'>,
): readonly string[] {
  const deadlineMs = chosen['deadline']?.ms ?? Number.POSITIVE_INFINITY
  return WITHIN_DEADLINE.flatMap((name) => {
    const ms = chosen[name]?.ms ?? 0
    if (given[name] === undefined || ms <= deadlineMs) return []
    const deadline = `${problems.label('deadline')} ${formatDuration(deadlineMs)}`
    return [`${problems.label(name)} ${formatDuration(ms)} has no effect: the whole stop has ${deadline}, which comes before`]
  })
}
