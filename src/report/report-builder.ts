import { forcedBy, type LifecycleEvent, type StopReason, type Straggler } from '../base/events.ts'
import { instantMs, type StopProfile } from '../base/stop-profile.ts'
import { BUDGET_INSTANTS, cutSignal } from '../machines/signals.ts'
import { type PhaseRow, WIRING, type Wiring } from '../machines/wiring.ts'
import { Failures } from './failures.ts'
import {
  REPORT_SCHEMA,
  type Report,
  type ReportedBudget,
  type ReportedConnections,
  type ReportedDrain,
  type ReportedHook,
  type ReportedLastCall,
  type ReportedLateAnswer,
  type ReportedPhase,
  type ReportedPlatform,
  type ReportedSignal,
  type ReportedWarning,
} from './report.ts'

export interface ReportContext {
  /** Wall-clock milliseconds since the epoch at the start of the life. */
  readonly wallAtStart: number
  /** The rows of this life, with those of the user's phases. Default: those of every life. */
  readonly wiring?: () => Wiring
  /** Requests refused so far, by kind; read whenever a report is built. */
  readonly rejections?: () => Readonly<Record<string, number>>
  /** Log lines that are lost; read whenever a report is built. */
  readonly lostLogLines?: () => number
}

type Changing<T> = { -readonly [K in keyof T]: T[K] }
const NO_DRAIN: ReportedDrain = { before: 0, after: 0, cut: [] }

/**
 * Folds lifecycle events into a report. `fold` is a sink of events and never throws; `build` may be called at any time and
 * any number of times, also in the middle of a life that is ended by force.
 */
export class ReportBuilder {
  readonly #context: ReportContext
  #reason: StopReason | null = null
  #forced: Extract<LifecycleEvent, { type: 'forced' }> | undefined
  /** All times are kept as they came and made relative when the report is built. */
  #stopAt: number | undefined
  /** What the machine chose for this stop. */
  #profile: StopProfile | undefined
  #lastAt = 0
  #platform: ReportedPlatform = { name: 'unknown', reason: '', defaults: {} }
  readonly #listeners: { url: string; admin: boolean }[] = []
  readonly #signals: ReportedSignal[] = []
  readonly #phases = new Map<string, Changing<Omit<ReportedPhase, 'budget'>> & { limitMs?: number }>()
  readonly #hooks = new Map<string, ReportedHook>()
  #requests = NO_DRAIN
  #watches = NO_DRAIN
  #lastCall: ReportedLastCall | null = null
  #connections: ReportedConnections = { told: 0, idleUntold: 0, ended: 0, forced: 0, forcedNames: [] }
  #handlers: readonly Straggler[] = []
  readonly #lateAnswers: ReportedLateAnswer[] = []
  readonly #failures = new Failures()
  readonly #warnings: ReportedWarning[] = []

  constructor(context: ReportContext) {
    this.#context = context
  }

  /** Bound, because it is a sink of events. */
  readonly fold = (event: LifecycleEvent): void => {
    this.#lastAt = event.at
    switch (event.type) {
      case 'platform':
        this.#platform = { name: event.platform, reason: event.reason, defaults: event.defaults }
        break
      case 'signal':
        this.#signals.push({ name: event.name, at: event.at, outcome: event.outcome })
        if (event.name === 'StopRequested' && this.#stopAt === undefined) this.#stop(event)
        break
      case 'phase.started':
        this.#phases.set(event.phase, {
          name: event.phase,
          start: event.at,
          end: null,
          outcome: null,
          cut: [],
          ...(event.limitMs !== undefined && { limitMs: event.limitMs }),
        })
        break
      case 'phase.ended': {
        // A phase without work of its own begins and ends in one step.
        const phase = this.#phases.get(event.phase) ?? { name: event.phase, start: event.at, end: null, outcome: null, cut: [] }
        this.#phases.set(event.phase, { ...phase, end: event.at, outcome: event.outcome, ...(event.error && { error: event.error }) })
        // The errors of several hooks as one: each is here already.
        if (event.error && event.error.name !== 'AggregateError') this.#failures.add(`phase ${event.phase}`, event.error)
        break
      }
      case 'hook.started':
        this.#hooks.set(`${event.kind} ${event.name}`, { kind: event.kind, name: event.name, outcome: null, durationMs: null })
        break
      case 'hook.ended': {
        const { kind, name, outcome, durationMs, error } = event
        this.#hooks.set(`${kind} ${name}`, { kind, name, outcome, durationMs: milliseconds(durationMs), ...(error && { error }) })
        if (error) this.#failures.add(`${kind} hook "${name}"`, error)
        break
      }
      case 'late': {
        const { what, answer, lateMs, error } = event
        this.#lateAnswers.push({ what, answer, lateMs: milliseconds(lateMs), ...(error && { error }) })
        if (error) this.#failures.add(what, error)
        break
      }
      case 'listening':
        this.#listeners.push({ url: event.url, admin: event.admin })
        break
      case 'stopped-listening':
        if (event.error) this.#failures.add(event.url, event.error)
        break
      case 'last-call':
        this.#lastCall = { accepted: event.accepted, answered: event.answered }
        break
      case 'drained': {
        const { before, after, cut } = event
        if (event.what === 'requests') this.#requests = { before, after, cut }
        else this.#watches = { before, after, cut }
        break
      }
      case 'connections': {
        const { told, idleUntold, ended, forced, forcedNames } = event
        this.#connections = { told, idleUntold, ended, forced, forcedNames }
        break
      }
      case 'handlers':
        this.#handlers = event.running
        break
      case 'error':
        this.#failures.came(event.where, event.error)
        break
      case 'warning':
        this.#warnings.push({ message: event.message, ...(event.details && { details: event.details }) })
        break
      case 'forced':
        this.#forced ??= event
        break
      case 'ended':
        break
      default:
        event satisfies never
    }
  }

  /** The report of what happened so far. */
  build(exitCode: number): Report {
    const { wallAtStart, rejections, lostLogLines } = this.#context
    const origin = this.#stopAt ?? 0
    const relative = (at: number): number => milliseconds(at - origin)
    const date = (at: number): string => new Date(wallAtStart + at).toISOString()
    const profile = this.#profile
    const wiring: Wiring = this.#context.wiring?.() ?? WIRING
    return {
      $schema: REPORT_SCHEMA,
      version: 1,
      exitCode,
      reason: this.#reason,
      forced: this.#forced?.why ?? null,
      forcedBy: (this.#forced && forcedBy(this.#forced)) ?? null,
      startedAt: date(0),
      stopRequestedAt: this.#stopAt === undefined ? null : date(this.#stopAt),
      budget: profile ? reportedBudget(profile) : null,
      endedAt: date(this.#lastAt),
      platform: this.#platform,
      listeners: [...this.#listeners],
      signals: this.#signals.map((signal) => ({ ...signal, at: relative(signal.at) })),
      phases: [...this.#phases.values()].map(({ limitMs, ...phase }) => ({
        ...phase,
        start: relative(phase.start),
        end: phase.end === null ? null : relative(phase.end),
        budget: sooner(limitMs, budgetOf(wiring[phase.name], relative(phase.start), profile)),
        cut: phase.outcome === 'cut' ? this.#stragglersOf(phase.name) : [],
      })),
      lastCall: this.#lastCall,
      requests: this.#requests,
      watches: this.#watches,
      connections: this.#connections,
      handlers: this.#handlers,
      rejections: rejections?.() ?? {},
      hooks: [...this.#hooks.values()],
      lateAnswers: [...this.#lateAnswers],
      errors: this.#failures.list(),
      warnings: [
        ...this.#warnings,
        ...countWarning('log lines were lost', 'lines', lostLogLines?.() ?? 0),
        ...countWarning('older errors were left out', 'errors', this.#failures.leftOut),
      ],
    }
  }

  #stop({ at, reason, budget }: Extract<LifecycleEvent, { type: 'signal' }>): void {
    this.#stopAt = at
    this.#profile = budget
    this.#reason = reason ?? null
    // Other reasons with an error come from a phase or a hook, which has reported it.
    if (reason?.kind === 'crash') this.#failures.add(reason.origin, reason.error)
    if (reason?.kind === 'listener-died') this.#failures.add(reason.address, reason.error)
  }

  #stragglersOf(phase: string): readonly Straggler[] {
    switch (phase) {
      case 'request-drain':
        return this.#requests.cut
      case 'watch-drain':
        return this.#watches.cut
      case 'close-connections':
        return this.#connections.forcedNames
      case 'handlers':
        return this.#handlers
      default:
        return []
    }
  }
}

/** No event: lost lines would be logged, where they are lost as well, and what is left out here was logged. */
const countWarning = (message: string, what: string, count: number): ReportedWarning[] =>
  count > 0 ? [{ message, details: { [what]: count } }] : []

/** Microseconds are as fine as any clock here is. */
const milliseconds = (ms: number): number => Math.round(ms * 1000) / 1000

function reportedBudget({ delayMs, watchGraceMs, deadlineMs, cutsMs }: StopProfile): ReportedBudget {
  const { hooks, requests, connections, audit, destroy, flush } = cutsMs
  return {
    delay: milliseconds(delayMs),
    watchGrace: milliseconds(watchGraceMs),
    deadline: milliseconds(deadlineMs),
    cuts: {
      hooks: milliseconds(hooks),
      requests: milliseconds(requests),
      connections: milliseconds(connections),
      audit: milliseconds(audit),
      destroy: milliseconds(destroy),
      flush: milliseconds(flush),
    },
  }
}

/** Its own limit or its cut, whichever comes first; null when it has neither. */
function sooner(limitMs: number | undefined, budgetMs: number | null): number | null {
  if (limitMs === undefined) return budgetMs
  return milliseconds(Math.min(limitMs, budgetMs ?? limitMs))
}

/** What a phase had from its start to its cut. */
function budgetOf(row: PhaseRow | undefined, startMs: number, profile: StopProfile | undefined): number | null {
  const cut = BUDGET_INSTANTS.find((instant) => cutSignal(instant) === row?.cut)
  return cut && profile ? milliseconds(Math.max(0, instantMs(profile, cut) - startMs)) : null
}
