/**
 * What the budget of a stop comes to: the bounds that machines obey, and that events and reports
 * name. `options/budget.ts` computes it.
 */

/** Time kept free for the late phases, in milliseconds. */
export interface Reserves {
  readonly connections: number
  readonly audit: number
  readonly destroy: number
  readonly flush: number
}

export const RESERVES_DEFAULT_MS: Reserves = { connections: 250, audit: 1_000, destroy: 2_000, flush: 500 }

/**
 * The instants at which the budget ends a group of phases, in milliseconds since StopRequested;
 * strictly increasing, all below the deadline.
 */
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
  /**
   * Longest time that idle connections are held once the listeners have closed, for requests that
   * are on their way.
   */
  readonly lastCallMs: number
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
  /** Ctrl-C on a terminal, or any signal under `node --watch`: a user is waiting for the prompt. */
  readonly interactive: StopProfile
  /** An uncaught exception: the state of the process is unknown, so it ends soon. */
  readonly crash: StopProfile
  /** Start-up failed: no client was served, so none has to be warned. */
  readonly startFailed: StopProfile
}
