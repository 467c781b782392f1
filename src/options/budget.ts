/**
 * The budget of a stop: which group of phases has to be over when. Every instant is counted back
 * from the deadline, so that a slow early phase eats its own time and never the time in which audit
 * events are delivered, pools are closed and the report is written. Time that a phase does not use
 * flows on to the next.
 *
 * ```
 * StopRequested                                                                          deadline
 *   |------ delay, hooks ------|---- requests, watches ----|-conn-|--audit--|--destroy--|-flush-|
 *                          cuts.hooks               cuts.requests ...    cuts.destroy  cuts.flush
 * ```
 *
 * Pure: milliseconds in, milliseconds out.
 */

import { RESERVES_DEFAULT_MS, type Reserves, type StopProfile, type StopProfiles } from '../base/stop-profile.ts'

/**
 * What has nothing to do unless something is registered for it: a hook, a backend, a function, a
 * phase of the user's.
 */
export type RegisteredWork = Readonly<Record<'hooks' | 'audit' | 'destroy', boolean>>

const ALL_REGISTERED: RegisteredWork = { hooks: true, audit: true, destroy: true }
export const NONE_REGISTERED: RegisteredWork = { hooks: false, audit: false, destroy: false }

export interface StopPlan {
  readonly delayMs: number
  readonly lastCallMs: number
  readonly deadlineMs: number
  readonly watchGraceMs: number
  readonly reserves: Reserves
  /**
   * The reserves that were asked for. They are set aside first, and whole; everything else shares
   * the rest of the deadline. Default: none.
   */
  readonly asked?: readonly (keyof Reserves)[]
}

/** One plan per kind of stop. */
export type StopPlans = Readonly<Record<keyof StopProfiles, StopPlan>>

/**
 * Default reserves together never take more than this part of the time; above it they shrink in
 * proportion.
 */
export const RESERVES_SHARE_MAX = 1 / 2
/** No single hook and no grace may use up the deadline alone: defaults end at this part of it. */
export const DEADLINE_SHARE_MAX = 1 / 3
/** What a single hook may use of the hooks' time in the budget, when it states nothing itself. */
export const HOOKS_SHARE_MAX = 4 / 5
/**
 * The part of the deadline that reserves which were asked for never exceed, so that something is
 * left for requests.
 */
export const ASKED_SHARE_MAX = 9 / 10
/**
 * A process that is still alive this long after the end of its last life is reported and ended;
 * sooner when the deadline comes sooner.
 */
const EXIT_GRACE_MAX_MS = 1_000
/**
 * The number of equal parts of the time after the delay; requests and watches may use at least one.
 */
const REQUESTS_DUE_PARTS = 3
/** Requests never take more than this part of what hooks and requests have together. */
const REQUESTS_SHARE_MAX = 1 / 2
/**
 * The last call never takes more than this part of the time that requests have at least: what it
 * lets in has to be answered.
 */
const LAST_CALL_SHARE_MAX = 1 / 2
/**
 * The part of the flush reserve that is kept for ending by force: the report is written
 * synchronously in it.
 */
const FORCE_SHARE_OF_FLUSH = 1 / 5
/** That takes so many milliseconds, however short the deadline is... */
const FORCE_MS_MIN = 80
/** ...but never more than this part of the reserve, so that something is left to flush in. */
const FORCE_SHARE_MAX = 1 / 2
/** No phase has less than this, in milliseconds; it keeps two cuts from falling on one instant. */
const SHARE_MIN_MS = 1

/**
 * The cuts of one kind of stop. Any deadline above 0 gives a usable order, however unreasonable the
 * rest of the plan is.
 */
export function stopProfile(plan: StopPlan, registered: RegisteredWork = ALL_REGISTERED): StopProfile {
  const { delayMs, lastCallMs, deadlineMs, watchGraceMs } = plan
  const reserves = reservesOf(plan)

  const destroy = deadlineMs - reserves.flush
  const audit = destroy - kept(reserves.destroy, registered.destroy)
  const connections = audit - kept(reserves.audit, registered.audit)
  const requests = connections - reserves.connections
  const share = Math.min(requestsDue(plan), Math.max(0, requests - delayMs) * REQUESTS_SHARE_MAX)
  const hooks = requests - Math.max(share, Math.min(SHARE_MIN_MS, requests / 2))
  const force = Math.max(reserves.flush * FORCE_SHARE_OF_FLUSH, Math.min(FORCE_MS_MIN, reserves.flush * FORCE_SHARE_MAX))
  const flush = deadlineMs - force
  const admittedUntil = registered.hooks ? hooks : Math.min(delayMs, hooks)
  return {
    delayMs: Math.min(delayMs, hooks),
    lastCallMs: Math.floor(Math.min(lastCallMs, (requests - admittedUntil) * LAST_CALL_SHARE_MAX)),
    watchGraceMs,
    deadlineMs,
    cutsMs: { hooks, requests, connections, audit, destroy, flush },
  }
}

/**
 * The same stop in less time: everything shrinks in proportion. A deadline that is no shorter
 * changes nothing.
 */
export function hurried(plan: StopPlan, deadlineMs: number): StopPlan {
  if (deadlineMs >= plan.deadlineMs) return plan
  const share = deadlineMs / plan.deadlineMs
  const { delayMs, lastCallMs, watchGraceMs, reserves } = plan
  return { delayMs: delayMs * share, lastCallMs: lastCallMs * share, watchGraceMs: watchGraceMs * share, deadlineMs, reserves }
}

/** Every kind of stop, for what is registered. */
export const stopProfiles = (plans: StopPlans, registered: RegisteredWork): StopProfiles => ({
  default: stopProfile(plans.default, registered),
  interactive: stopProfile(plans.interactive, registered),
  crash: stopProfile(plans.crash, registered),
  startFailed: stopProfile(plans.startFailed, registered),
})

/**
 * How long a process may live on after the end of its last life, by what is left then until
 * `cutsMs.flush`: what comes after that is kept for ending by force, so that the process is gone by
 * the deadline.
 */
export const exitGraceMs = (leftMs: number): number => Math.min(EXIT_GRACE_MAX_MS, Math.max(0, leftMs))

/**
 * How long what the last call lets in may take until it is answered: the limit of the request
 * drain, whose time begins after the last call, and never longer than until `cutsMs.requests`.
 * @param leftMs what is left until that
 */
export const answersMs = (leftMs: number, lastCallMs: number, requestDrainTimeoutMs = leftMs): number =>
  Math.min(leftMs, lastCallMs + requestDrainTimeoutMs)

/**
 * Whether the late phases keep their time: after the delay, requests and watches still have what
 * they are due before `cutsMs.requests`.
 */
export const delayFits = (plan: StopPlan): boolean => plan.delayMs + requestsDue(plan) <= stopProfile(plan).cutsMs.requests

/**
 * A deadline for which {@link delayFits} holds and no reserve is scaled, in whole milliseconds. Not
 * always the smallest.
 */
export function deadlineThatFits({ delayMs, watchGraceMs, ...plan }: Omit<StopPlan, 'deadlineMs'>): number {
  const { asked, others } = sums(plan)
  const rest = Math.max(
    others / RESERVES_SHARE_MAX,
    delayMs + Math.max(watchGraceMs + others, (others * REQUESTS_DUE_PARTS) / (REQUESTS_DUE_PARTS - 1)),
  )
  return Math.ceil(Math.max(asked / ASKED_SHARE_MAX, asked + rest))
}

/**
 * The longest delay for which {@link delayFits} holds, in whole milliseconds; whatever delay the
 * plan has does not matter.
 */
export function longestDelayMs(plan: StopPlan): number {
  const { requests } = stopProfile(plan).cutsMs
  const whenGraceRules = requests - plan.watchGraceMs
  const whenShareRules = (requests * REQUESTS_DUE_PARTS - restMs(plan)) / (REQUESTS_DUE_PARTS - 1)
  return Math.max(0, Math.floor(Math.min(whenGraceRules, whenShareRules)))
}

/** What is left of the deadline when what was asked for is set aside. */
export function restMs(plan: Pick<StopPlan, 'deadlineMs' | 'reserves' | 'asked'>): number {
  return plan.deadlineMs - Math.min(sums(plan).asked, plan.deadlineMs * ASKED_SHARE_MAX)
}

const requestsDue = (plan: StopPlan): number =>
  Math.max(plan.watchGraceMs, (restMs(plan) - Math.min(plan.delayMs, restMs(plan))) / REQUESTS_DUE_PARTS)

/** A phase with nothing to do keeps an instant of its own, and no more. */
const kept = (reserveMs: number, isRegistered: boolean): number => (isRegistered ? reserveMs : Math.min(reserveMs, SHARE_MIN_MS))

export const RESERVE_NAMES = Object.keys(RESERVES_DEFAULT_MS) as readonly (keyof Reserves)[]

/** The sum of the reserves that were asked for, and that of the others. */
export function sums({ reserves, asked = [] }: Pick<StopPlan, 'reserves' | 'asked'>): { readonly asked: number; readonly others: number } {
  const sum = (names: readonly (keyof Reserves)[]): number =>
    names.reduce((total, name) => total + Math.max(reserves[name], SHARE_MIN_MS), 0)
  return { asked: sum(asked), others: sum(RESERVE_NAMES.filter((name) => !asked.includes(name))) }
}

/** What each late phase has when something is registered for all of them. */
function reservesOf(plan: StopPlan): Reserves {
  const { asked, others } = sums(plan)
  const scaleOfAsked = Math.min(1, (plan.deadlineMs * ASKED_SHARE_MAX) / asked)
  const scaleOfOthers = Math.min(1, (restMs(plan) * RESERVES_SHARE_MAX) / others)
  const reserve = (name: keyof Reserves): number =>
    Math.max(plan.reserves[name], SHARE_MIN_MS) * (plan.asked?.includes(name) ? scaleOfAsked : scaleOfOthers)
  return { connections: reserve('connections'), audit: reserve('audit'), destroy: reserve('destroy'), flush: reserve('flush') }
}
