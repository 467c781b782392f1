/**
 * The budget of a stop: which group of phases has to be over when. Every instant is counted back from the deadline, so that
 * a slow early phase eats its own time and never the time in which audit events are delivered, pools are closed and the
 * report is written. Time that a phase does not use flows on to the next.
 *
 * ```
 * StopRequested                                                                          deadline
 *   |------ delay, hooks ------|---- requests, watches ----|-conn-|--audit--|--destroy--|-flush-|
 *                          cuts.hooks               cuts.requests ...    cuts.destroy  cuts.flush
 * ```
 *
 * Pure: milliseconds in, milliseconds out.
 */

/** Time kept free for the late phases, in milliseconds. */
export interface Reserves {
  readonly connections: number
  readonly audit: number
  readonly destroy: number
  readonly flush: number
}

export const RESERVES_DEFAULT_MS: Reserves = { connections: 250, audit: 1_000, destroy: 2_000, flush: 500 }

/** The instants at which the budget ends a group of phases, in milliseconds since StopRequested; strictly increasing, all below the deadline. */
export interface CutsMs {
  readonly hooks: number
  readonly requests: number
  readonly connections: number
  readonly audit: number
  readonly destroy: number
  readonly flush: number
}

/** How one kind of stop spends its time. */
export interface StopProfile {
  /** Shutdown delay, never longer than `cutsMs.hooks`. */
  readonly delayMs: number
  /** Longest time watches are waited for once they have been told to leave. */
  readonly watchGraceMs: number
  /** The end of everything: what is left then is forced. */
  readonly deadlineMs: number
  readonly cutsMs: CutsMs
}

/** When the budget of a stop cuts, or ends by force, in milliseconds since StopRequested. */
export const instantMs = ({ cutsMs, deadlineMs }: StopProfile, instant: keyof CutsMs | 'forced'): number =>
  instant === 'forced' ? deadlineMs : cutsMs[instant]

/** One profile per kind of stop; which one applies is decided once, at StopRequested. */
export interface StopProfiles {
  readonly default: StopProfile
  /** Ctrl-C on a terminal, or any signal under `node --watch`: somebody is waiting for the prompt. */
  readonly interactive: StopProfile
  /** An uncaught exception: the state of the process is unknown, so it ends soon. */
  readonly crash: StopProfile
  /** Start-up failed: nobody was served, so nobody has to be warned. */
  readonly startFailed: StopProfile
}

export interface StopPlan {
  readonly delayMs: number
  readonly deadlineMs: number
  readonly watchGraceMs: number
  readonly reserves: Reserves
}

/** Late phases together never take more than this part of the deadline; above it their reserves shrink in proportion. */
export const RESERVES_SHARE_MAX = 1 / 2
/** Of the time after the delay, requests and watches may use one part in this many at least. */
const REQUESTS_DUE_PARTS = 3
/** Requests never take more than this part of what hooks and requests have together. */
const REQUESTS_SHARE_MAX = 1 / 2
/** Of the flush reserve, the part kept for ending by force: the report is written synchronously in it. */
const FORCE_SHARE_OF_FLUSH = 1 / 5
/** No phase has less than this, in milliseconds; it keeps two cuts from falling on one instant. */
const SHARE_MIN_MS = 1

/** The cuts of one kind of stop. Any deadline above 0 gives a usable order, however unreasonable the rest of the plan is. */
export function stopProfile(plan: StopPlan): StopProfile {
  const { delayMs, deadlineMs, watchGraceMs } = plan
  const reserves = atLeast(plan.reserves)
  const scale = Math.min(1, (deadlineMs * RESERVES_SHARE_MAX) / sum(reserves))

  const destroy = deadlineMs - reserves.flush * scale
  const audit = destroy - reserves.destroy * scale
  const connections = audit - reserves.audit * scale
  const requests = connections - reserves.connections * scale
  const share = Math.min(requestsDue(plan), Math.max(0, requests - delayMs) * REQUESTS_SHARE_MAX)
  const hooks = requests - Math.max(share, Math.min(SHARE_MIN_MS, requests / 2))
  const flush = deadlineMs - reserves.flush * scale * FORCE_SHARE_OF_FLUSH
  return { delayMs: Math.min(delayMs, hooks), watchGraceMs, deadlineMs, cutsMs: { hooks, requests, connections, audit, destroy, flush } }
}

/** The same stop in less time: everything shrinks in proportion. A deadline that is no shorter changes nothing. */
export function hurried(profile: StopProfile, deadlineMs: number, reserves: Reserves): StopProfile {
  if (deadlineMs >= profile.deadlineMs) return profile
  const share = deadlineMs / profile.deadlineMs
  return stopProfile({ delayMs: profile.delayMs * share, watchGraceMs: profile.watchGraceMs * share, deadlineMs, reserves })
}

/** Whether the late phases keep their time: after the delay, requests and watches still have what they are due before `cutsMs.requests`. */
export const delayFits = (plan: StopPlan): boolean => plan.delayMs + requestsDue(plan) <= stopProfile(plan).cutsMs.requests

/** A deadline for which {@link delayFits} holds and no reserve is scaled, in whole milliseconds. Not always the smallest. */
export function deadlineThatFits({ delayMs, watchGraceMs, reserves }: Omit<StopPlan, 'deadlineMs'>): number {
  const late = sum(atLeast(reserves))
  return Math.ceil(
    Math.max(late / RESERVES_SHARE_MAX, delayMs + Math.max(watchGraceMs + late, (late * REQUESTS_DUE_PARTS) / (REQUESTS_DUE_PARTS - 1))),
  )
}

/** The longest delay for which {@link delayFits} holds, in whole milliseconds; whatever delay the plan has does not matter. */
export function longestDelayMs(plan: StopPlan): number {
  const { requests } = stopProfile(plan).cutsMs
  const whenGraceRules = requests - plan.watchGraceMs
  const whenShareRules = (requests * REQUESTS_DUE_PARTS - plan.deadlineMs) / (REQUESTS_DUE_PARTS - 1)
  return Math.max(0, Math.floor(Math.min(whenGraceRules, whenShareRules)))
}

const requestsDue = ({ delayMs, deadlineMs, watchGraceMs }: StopPlan): number =>
  Math.max(watchGraceMs, (deadlineMs - delayMs) / REQUESTS_DUE_PARTS)

const sum = ({ connections, audit, destroy, flush }: Reserves): number => connections + audit + destroy + flush

const atLeast = ({ connections, audit, destroy, flush }: Reserves): Reserves => ({
  connections: Math.max(connections, SHARE_MIN_MS),
  audit: Math.max(audit, SHARE_MIN_MS),
  destroy: Math.max(destroy, SHARE_MIN_MS),
  flush: Math.max(flush, SHARE_MIN_MS),
})
