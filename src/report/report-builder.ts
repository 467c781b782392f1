import { forcedBy, type LifecycleEvent, type Straggler } from '../base/events.ts'
import type { StopProfile } from '../base/stop-profile.ts'
import type { WarningCode } from '../base/warnings.ts'
import { cutOf } from './ending.ts'
import { Failures } from './failures.ts'
import {
  REPORT_SCHEMA,
  type Report,
  type ReportedAudit,
  type ReportedBudget,
  type ReportedConnections,
  type ReportedDrain,
  type ReportedHook,
  type ReportedLateAnswer,
  type ReportedPhase,
  type ReportedWarning,
} from './report.ts'
import { type EventOf, failureIn, type HookView, type LifeView, type PhaseView, WAITED_FOR_BY } from './view.ts'

/** Events of the audit backend: stored, not to be stored any more, and neither yet. */
interface AuditedEvents {
  readonly delivered: number
  readonly lost: number
  readonly pending: number
}

export interface ReportContext {
  /** What is known of the life by now. */
  readonly view: () => LifeView
  /** Wall-clock milliseconds since the epoch at the start of the life. */
  readonly wallAtStart: number
  /** Requests refused so far, by kind; read whenever a report is built. */
  readonly rejections?: () => Readonly<Record<string, number>>
  /** Log lines that are lost; read whenever a report is built. */
  readonly lostLogLines?: () => number
  /** What has become of audit events; read whenever a report is built. */
  readonly auditCounts?: () => AuditedEvents | undefined
}

/**
 * What is known of a life as a report, with what may come any number of times. `observe` is a sink
 * of events and never throws; `build` may be called at any time and any number of times, also in
 * the middle of a life that is ended by force.
 */
export class ReportBuilder {
  readonly #context: ReportContext
  readonly #lateAnswers: ReportedLateAnswer[] = []
  readonly #failures = new Failures()
  readonly #warnings: ReportedWarning[] = []

  constructor(context: ReportContext) {
    this.#context = context
  }

  /** Bound, because it is a sink of events. */
  readonly observe = (event: LifecycleEvent): void => {
    const failure = failureIn(event)
    if (failure && event.type === 'error') this.#failures.came(failure.where, failure.error)
    else if (failure) this.#failures.add(failure.where, failure.error)
    if (event.type === 'signal' && event.name === 'StopRequested') this.#stopRequested(event)
    if (event.type === 'warning') this.#warnings.push({ message: event.message, ...(event.details && { details: event.details }) })
    if (event.type !== 'late') return
    const { what, answer, lateMs, error } = event
    this.#lateAnswers.push({ what, answer, lateMs: milliseconds(lateMs), ...(error && { error }) })
  }

  /** Audit events that will not be stored, as far as that is known. */
  get lostAuditEvents(): number {
    const { view, auditCounts } = this.#context
    return reportedAudit(view(), auditCounts?.())?.lost ?? 0
  }

  /** The report of what happened so far. */
  build(exitCode: number): Report {
    const { wallAtStart, rejections, lostLogLines, auditCounts } = this.#context
    const view = this.#context.view()
    const { at, stop, forced, platform, listeners, lastCall, handlers } = view
    const origin = stop?.at ?? 0
    const audit = reportedAudit(view, auditCounts?.())
    const relative = (time: number): number => milliseconds(time - origin)
    const date = (time: number): string => new Date(wallAtStart + time).toISOString()
    return {
      $schema: REPORT_SCHEMA,
      version: 1,
      exitCode,
      reason: stop?.reason ?? null,
      forced: forced?.why ?? null,
      forcedBy: (forced && forcedBy(forced)) ?? null,
      startedAt: date(0),
      stopRequestedAt: stop ? date(stop.at) : null,
      budget: stop?.budget ? reportedBudget(stop.budget) : null,
      endedAt: date(at),
      platform: { name: platform.platform, reason: platform.reason, defaults: platform.defaults },
      listeners: listeners.map(({ isOpen: _, ...listener }) => listener),
      signals: Array.from(view.signals.values(), (signal) => ({ ...signal, at: relative(signal.at) })),
      phases: Array.from(view.phases.values(), (phase) => reportedPhase(view, phase, relative)),
      lastCall: lastCall ? { accepted: lastCall.accepted, answered: lastCall.answered } : null,
      requests: reportedDrain(view.drained.requests),
      watches: reportedDrain(view.drained.watches),
      connections: reportedConnections(view.connections),
      handlers: reportedStragglers(handlers),
      rejections: rejections?.() ?? {},
      audit,
      hooks: Array.from(view.hooks.values(), reportedHook),
      lateAnswers: [...this.#lateAnswers],
      errors: this.#failures.list(),
      warnings: [
        ...this.#warnings,
        ...countWarning('log lines were lost', 'lines', lostLogLines?.() ?? 0, 'WARN_LOG_LOST'),
        ...countWarning('audit events were lost', 'events', audit?.lost ?? 0, 'WARN_AUDIT_LOST'),
        ...countWarning('older errors were left out', 'errors', this.#failures.leftOut),
      ],
    }
  }

  #stopRequested({ reason }: EventOf<'signal'>): void {
    // Other reasons with an error come from a phase or a hook, which has reported it.
    if (reason?.kind === 'crash') this.#failures.add(reason.origin, reason.error)
    if (reason?.kind === 'listener-died') this.#failures.add(reason.address, reason.error)
  }
}

function reportedPhase(view: LifeView, phase: PhaseView, relative: (at: number) => number): ReportedPhase {
  const { name, startedAt, limitMs, endedAt, outcome, error } = phase
  const cut = cutOf(view, name, startedAt)
  const bounds = [...(limitMs === undefined ? [] : [limitMs]), ...(cut ? [cut.at - startedAt] : [])]
  return {
    name,
    start: relative(startedAt),
    end: endedAt === undefined ? null : relative(endedAt),
    outcome: outcome ?? null,
    cut: outcome === 'cut' ? reportedStragglers(stragglersOf(view, name)) : [],
    ...(error && { error }),
    budget: bounds.length > 0 ? milliseconds(Math.max(0, Math.min(...bounds))) : null,
  }
}

function stragglersOf({ drained, connections, handlers }: LifeView, phase: string): readonly Straggler[] {
  switch (phase) {
    case WAITED_FOR_BY.request:
      return drained.requests?.cut ?? []
    case WAITED_FOR_BY.watch:
      return drained.watches?.cut ?? []
    case WAITED_FOR_BY.connection:
      return connections?.forcedNames ?? []
    case WAITED_FOR_BY.handler:
      return handlers
    default:
      return []
  }
}

const reportedStragglers = (stragglers: readonly Straggler[]): readonly Straggler[] =>
  stragglers.map((straggler) => ({ ...straggler, ageMs: milliseconds(straggler.ageMs) }))

const reportedHook = ({ kind, name, outcome, durationMs, error, waitedFor }: HookView): ReportedHook => ({
  kind,
  name,
  outcome: outcome ?? null,
  durationMs: durationMs === undefined ? null : milliseconds(durationMs),
  ...(error && { error }),
  ...(waitedFor && { waitedFor }),
})

const reportedDrain = (drained: EventOf<'drained'> | undefined): ReportedDrain =>
  drained ? { before: drained.before, after: drained.after, cut: reportedStragglers(drained.cut) } : { before: 0, after: 0, cut: [] }

function reportedConnections(event: EventOf<'connections'> | undefined): ReportedConnections {
  const { notified = 0, idleUnnotified = 0, ended = 0, forced = 0, forcedNames = [], lastRequestMs, upgraded, byProtocol } = event ?? {}
  const last = lastRequestMs === undefined ? {} : { lastRequestMs: milliseconds(lastRequestMs) }
  return {
    notified,
    idleUnnotified,
    ended,
    forced,
    forcedNames: reportedStragglers(forcedNames),
    ...last,
    ...(upgraded && { upgraded }),
    ...(byProtocol && { byProtocol }),
  }
}

/** What is on its way when the backend has been shut down, or the end is forced, never arrives. */
function reportedAudit({ signals, forced }: LifeView, counts: AuditedEvents | undefined): ReportedAudit | null {
  if (!counts) return null
  const { delivered, lost, pending } = counts
  const isOver = forced !== undefined || signals.has('AuditStopped')
  return { delivered, lost: lost + (isOver ? pending : 0) }
}

/**
 * No event: lost lines would be logged, where they are lost as well, and what is left out here was
 * logged.
 */
const countWarning = (message: string, what: string, count: number, code?: WarningCode): ReportedWarning[] =>
  count > 0 ? [{ message, details: { ...(code && { code }), [what]: count } }] : []

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
