import type { StopReason } from '../base/events.ts'
import type { Mode } from '../machines/wiring.ts'
import { type Blocker, blockersOf, boundOfPhase, headlineOf, leftUntil } from './ending.ts'
import type { Gauges } from './gauges.ts'
import { SKIPPED_NAMES_MAX, skippedHooks, skippedWords } from './skipped-hooks.ts'
import type { LifeView } from './view.ts'

/** How far the end of a life has come, and how long it may still take: plain data, to be shown. */
export interface Progress {
  readonly reason: StopReason
  /** How new requests are refused. */
  readonly mode: Mode
  /** Milliseconds since StopRequested. */
  readonly sinceMs: number
  /** The time until the deadline; not below 0. */
  readonly leftMs: number
  /** What runs now, in the order begun. */
  readonly phases: readonly RunningPhase[]
  /** What the end waits for, or will wait for, and what ends it: the last to be ended first. */
  readonly blockers: readonly Blocker[]
  /** The first of these in a sentence: `GET /hang blocks the exit; cut in 35.8s`. */
  readonly headline: string
  /** Pre-shutdown hooks that never ran, in a sentence; not there when all did, or may yet. */
  readonly skipped?: string
}

export interface RunningPhase {
  readonly name: string
  readonly sinceMs: number
  /**
   * The time until its own limit or its cut, whichever comes first, or else until the deadline; not
   * below 0.
   */
  readonly leftMs: number
}

/** undefined until a stop is requested. */
export function progressOf(view: LifeView, mode: Mode, gauges: Gauges, now: number): Progress | undefined {
  const { stop } = view
  if (!stop?.reason || !stop.budget) return undefined
  const blockers = blockersOf(view, gauges, now)
  const phases = [...view.phases.values()].filter(({ endedAt }) => endedAt === undefined)
  const skipped = skippedWords(skippedHooks(view.hooks.values()), SKIPPED_NAMES_MAX)
  return {
    reason: stop.reason,
    mode,
    sinceMs: now - stop.at,
    leftMs: Math.max(0, leftUntil(view, 'forced', now)),
    phases: phases.map(({ name, startedAt }) => ({
      name,
      sinceMs: now - startedAt,
      leftMs: Math.max(0, (boundOfPhase(view, name, now)?.at ?? now) - now),
    })),
    blockers,
    headline: headlineOf(blockers, gauges, now),
    ...(skipped !== undefined && { skipped }),
  }
}
