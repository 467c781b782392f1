import type { Clock } from '../actors/clock.ts'
import type { LifecycleEvent, StopReason } from '../events.ts'
import { BUDGET_INSTANTS, type BudgetInstant, cutSignal } from '../machines/signals.ts'
import type { PhaseRow, Wiring } from '../machines/wiring.ts'
import { instantMs, type StopProfile } from '../options/budget.ts'

/** How far the end of a life has come, and how long it may still take: plain data, for whoever shows it. */
export interface Progress {
  readonly reason: StopReason
  /** Milliseconds since StopRequested. */
  readonly sinceMs: number
  /** Until the deadline; not below 0. */
  readonly leftMs: number
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
  /** Of the stop under way. */
  readonly profile: () => StopProfile | undefined
  /** Of a crash that comes during a stop: its instants count from there, and the sooner of the two holds. */
  readonly crashProfile: StopProfile
  readonly connectionTimeoutMs: number
}

/** Folds a life's events into how far its end has come. */
export class ProgressReader {
  readonly #context: ProgressContext
  readonly #running = new Map<string, number>()
  #stop: { readonly reason: StopReason; readonly at: number } | undefined
  #crashedAt: number | undefined

  constructor(context: ProgressContext) {
    this.#context = context
  }

  /** A sink of events. */
  readonly observe = (event: LifecycleEvent): void => {
    const now = this.#context.clock.now()
    if (event.type === 'phase.started') this.#running.set(event.phase, now)
    if (event.type === 'phase.ended') this.#running.delete(event.phase)
    if (event.type === 'signal' && event.name === 'StopRequested' && event.reason) this.#stop ??= { reason: event.reason, at: now }
  }

  /** The process has crashed. */
  crashed(): void {
    this.#crashedAt ??= this.#context.clock.now()
  }

  /** undefined while nobody has asked for the end. */
  read(): Progress | undefined {
    const profile = this.#context.profile()
    if (!this.#stop || !profile) return undefined
    const now = this.#context.clock.now()
    const { reason, at } = this.#stop
    const wiring = this.#context.wiring()
    const leftUntil = this.#leftUntil(profile, at, now)
    const phases = Array.from(this.#running, ([name, since]): RunningPhase => {
      const limitMs = this.#ownLimitMs(name, profile)
      const limits = [
        ...(limitMs === undefined ? [] : [since + limitMs - now]),
        ...cutsOf(wiring[name])
          .map(leftUntil)
          .filter((left) => left > 0)
          .slice(0, 1),
      ]
      return { name, sinceMs: now - since, leftMs: limits.length > 0 ? Math.max(0, Math.min(...limits)) : undefined }
    })
    return { reason, sinceMs: now - at, leftMs: Math.max(0, leftUntil('forced')), phases }
  }

  #leftUntil(profile: StopProfile, stoppedAt: number, now: number): (instant: BudgetInstant) => number {
    const { crashProfile } = this.#context
    const crashedAt = this.#crashedAt
    return (instant) => {
      const left = stoppedAt + instantMs(profile, instant) - now
      return crashedAt === undefined ? left : Math.min(left, crashedAt + instantMs(crashProfile, instant) - now)
    }
  }

  #ownLimitMs(phase: string, { delayMs, watchGraceMs }: StopProfile): number | undefined {
    switch (phase) {
      case 'tell':
      case 'shutdown-delay':
        return delayMs
      case 'watch-drain':
        return watchGraceMs
      case 'close-connections':
        return this.#context.connectionTimeoutMs
      default:
        return undefined
    }
  }
}

/** The instants that end a phase: its own cut, and every later one for a phase that starts late. */
function cutsOf(row: PhaseRow | undefined): readonly BudgetInstant[] {
  const first = BUDGET_INSTANTS.findIndex((instant) => cutSignal(instant) === row?.cut)
  return first < 0 ? [] : BUDGET_INSTANTS.slice(first)
}
