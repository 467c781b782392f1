import type { Clock } from '../base/clock.ts'
import type { LifecycleEvent, StopReason } from '../base/events.ts'
import { instantMs, type StopProfile } from '../base/stop-profile.ts'
import { BUDGET_INSTANTS, type BudgetInstant, cutSignal } from '../machines/signals.ts'
import type { PhaseRow, Wiring } from '../machines/wiring.ts'
import { exitGraceMs } from '../options/budget.ts'

/** How far the end of a life has come, and how long it may still take: plain data, to be shown. */
export interface Progress {
  readonly reason: StopReason
  /** Milliseconds since StopRequested. */
  readonly sinceMs: number
  /** Until the deadline; not below 0. */
  readonly leftMs: number
  /** Until requests that are still in flight are cut; not below 0. */
  readonly requestsLeftMs: number
  /** What runs now, in the order begun. */
  readonly phases: readonly RunningPhase[]
}

export interface RunningPhase {
  readonly name: string
  readonly sinceMs: number
  /** Until its own limit or its cut, whichever comes first; undefined when it has neither. */
  readonly leftMs: number | undefined
}

export interface ProgressContext {
  readonly clock: Clock
  /** The rows of this life. */
  readonly wiring: () => Wiring
  /** Of a crash that comes during a stop: its instants count from there, and the sooner of the two holds. */
  readonly crashProfile: () => StopProfile | undefined
  readonly requestDrainTimeoutMs: number | undefined
}

interface StopUnderWay {
  readonly reason: StopReason
  readonly at: number
  readonly profile: StopProfile
}

/** Folds a life's events into how far its end has come. */
export class ProgressReader {
  readonly #context: ProgressContext
  readonly #running = new Map<string, { readonly since: number; readonly limitMs: number | undefined }>()
  #stop: StopUnderWay | undefined
  /** When nothing new was accepted any more. */
  #drainingAt: number | undefined
  #crashedAt: number | undefined

  constructor(context: ProgressContext) {
    this.#context = context
  }

  /** A sink of events. */
  readonly observe = (event: LifecycleEvent): void => {
    const now = this.#context.clock.now()
    if (event.type === 'phase.started') this.#running.set(event.phase, { since: now, limitMs: event.limitMs })
    if (event.type === 'phase.ended') this.#running.delete(event.phase)
    if (event.type !== 'signal') return
    if (event.reason && event.budget) this.#stop ??= { reason: event.reason, at: now, profile: event.budget }
    if (event.name === 'NotAcceptingNewRequest') this.#drainingAt = now
  }

  /** The process has crashed. */
  crashed(): void {
    this.#crashedAt ??= this.#context.clock.now()
  }

  /** undefined until a stop is requested. */
  read(): Progress | undefined {
    const stop = this.#stop
    if (!stop) return undefined
    const now = this.#context.clock.now()
    const wiring = this.#context.wiring()
    const leftUntil = (instant: BudgetInstant): number => this.#leftUntil(stop, instant)
    const phases = Array.from(this.#running, ([name, { since, limitMs }]): RunningPhase => {
      const limits = [
        ...(limitMs === undefined ? [] : [since + limitMs - now]),
        ...cutsOf(wiring[name])
          .map(leftUntil)
          .filter((left) => left > 0)
          .slice(0, 1),
      ]
      return { name, sinceMs: now - since, leftMs: limits.length > 0 ? Math.max(0, Math.min(...limits)) : undefined }
    })
    const drainLeftMs = (this.#context.requestDrainTimeoutMs ?? Number.POSITIVE_INFINITY) + (this.#drainingAt ?? now) - now
    return {
      reason: stop.reason,
      sinceMs: now - stop.at,
      leftMs: Math.max(0, leftUntil('forced')),
      requestsLeftMs: Math.max(0, Math.min(leftUntil('requests'), drainLeftMs)),
      phases,
    }
  }

  /** By how much the end comes too late, if it comes now; below 0 when it does not. */
  get lateMs(): number {
    return this.#stop ? -this.#leftUntil(this.#stop, 'forced') : Number.NEGATIVE_INFINITY
  }

  /** How long the process may live on when the life ends now. */
  get exitGraceMs(): number {
    return exitGraceMs(this.#stop ? this.#leftUntil(this.#stop, 'flush') : Number.POSITIVE_INFINITY)
  }

  #leftUntil({ at, profile }: StopUnderWay, instant: BudgetInstant): number {
    const now = this.#context.clock.now()
    const left = at + instantMs(profile, instant) - now
    const crashProfile = this.#context.crashProfile()
    if (this.#crashedAt === undefined || !crashProfile) return left
    return Math.min(left, this.#crashedAt + instantMs(crashProfile, instant) - now)
  }
}

/** The instants that end a phase: its own cut, and every later one for a phase that starts late. */
function cutsOf(row: PhaseRow | undefined): readonly BudgetInstant[] {
  const first = BUDGET_INSTANTS.findIndex((instant) => cutSignal(instant) === row?.cut)
  return first < 0 ? [] : BUDGET_INSTANTS.slice(first)
}
