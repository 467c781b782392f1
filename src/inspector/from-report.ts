import type { LifecycleEvent, LifecycleFact } from '../base/events.ts'
import type { StopProfile } from '../base/stop-profile.ts'
import type { Composition } from '../machines/lifecycle.ts'
import { type Mode, type PhaseName, WIRING } from '../machines/wiring.ts'
import type { Report, ReportedBudget, ReportedHook, ReportedPhase } from '../report/report.ts'
import { phaseOfHook } from '../report/view.ts'
import { describedPhases } from './described-phases.ts'
import type { JournalEntry, OpeningEntry } from './protocol.ts'

/**
 * A journal made from a report. A report has the times of signals and phases; what it has no times
 * for is placed where it belongs: the hooks of a phase one after the other from its beginning,
 * errors at the end. It knows nothing of actors.
 */
export function journalOfReport(report: Report): JournalEntry[] {
  const facts = new Facts(report).all()
  const end = Math.max(0, ...facts.map(({ at }) => at))
  const bodies = [
    { at: 0, ...openingOf(report) },
    ...facts.map((event) => ({ at: event.at, kind: 'fact' as const, event })),
    { at: end, kind: 'report' as const, report },
  ]
  return bodies.map((body, index) => ({ n: index + 1, ...body }))
}

class Facts {
  readonly #report: Report
  readonly #facts: LifecycleEvent[] = []
  /** What is to be added to the report's times, which count from the stop request. */
  readonly #offset: number

  constructor(report: Report) {
    this.#report = report
    const { startedAt, stopRequestedAt } = report
    this.#offset = stopRequestedAt === null ? 0 : Date.parse(stopRequestedAt) - Date.parse(startedAt)
  }

  /** The events in the order of their times. */
  all(): readonly LifecycleEvent[] {
    const { platform, listeners, signals, phases, hooks, errors, lateAnswers, warnings, forced, forcedBy, exitCode } = this.#report
    const { name, reason, defaults } = platform
    this.#add(0, { type: 'platform', platform: name, reason, defaults })
    for (const warning of warnings) this.#add(0, { type: 'warning', ...warning })
    for (const phase of phases) this.#phase(phase)
    for (const signal of signals) this.#signal(signal)
    const bound = this.#timeOf(signals.find((signal) => signal.name === 'Bound')?.at)
    for (const listener of listeners) this.#add(bound, { type: 'listening', ...listener, ...addressOf(listener.url) })
    for (const kind of new Set(hooks.map((hook) => hook.kind))) this.#hooks(hooks.filter((hook) => hook.kind === kind))
    this.#drains()
    const end = Math.max(0, ...this.#facts.map(({ at }) => at))
    for (const { where, error } of errors) this.#add(end, { type: 'error', where, error })
    for (const late of lateAnswers) this.#add(end, { type: 'late', ...late })
    if (forced !== null) this.#add(end, { type: 'forced', why: forced, ...forcedBy })
    this.#add(end, { type: 'ended', exitCode })
    return this.#facts.toSorted((a, b) => a.at - b.at)
  }

  #add(at: number, fact: LifecycleFact): void {
    this.#facts.push({ at, ...fact })
  }

  #timeOf(at: number | undefined): number {
    return at === undefined ? 0 : Math.max(0, at + this.#offset)
  }

  #signal({ name, at, outcome }: Report['signals'][number]): void {
    const { reason, budget } = this.#report
    const ofStop = name === 'StopRequested' && { ...(reason && { reason }), ...(budget && { budget: profileOf(budget) }) }
    this.#add(this.#timeOf(at), { type: 'signal', name, outcome, ...ofStop })
  }

  #phase({ name, start, end, outcome, error }: ReportedPhase): void {
    if (end !== start) this.#add(this.#timeOf(start), { type: 'phase.started', phase: name })
    if (end === null || outcome === null) return
    this.#add(this.#timeOf(end), { type: 'phase.ended', phase: name, outcome, ...(error && { error }) })
  }

  /**
   * Hooks of one kind. Post-start hooks begin together, the others follow each other; none is
   * longer than its phase.
   */
  #hooks(hooks: readonly ReportedHook[]): void {
    let next: number | undefined
    for (const { kind, name, outcome, durationMs, error, waitedFor } of hooks) {
      const phase = this.#report.phases.find((candidate) => candidate.name === phaseOfHook({ kind, name }))
      const latest = this.#timeOf(phase?.end ?? Number.POSITIVE_INFINITY)
      const begun = kind === 'post-start' || next === undefined ? this.#timeOf(phase?.start) : next
      this.#add(begun, { type: 'hook.started', kind, name })
      if (outcome === null) continue
      next = Math.min(latest, begun + (durationMs ?? 0))
      this.#add(next, {
        type: 'hook.ended',
        kind,
        name,
        outcome,
        durationMs: durationMs ?? 0,
        ...(error && { error }),
        ...(waitedFor && { waitedFor }),
      })
    }
  }

  /** The drains, each when its phase ended. */
  #drains(): void {
    const { requests, watches, connections, handlers, phases } = this.#report
    const endOf = (name: string): number | undefined => {
      const end = phases.find((phase) => phase.name === name)?.end
      return typeof end === 'number' ? this.#timeOf(end) : undefined
    }
    const atEndOf = (name: string, fact: LifecycleFact): void => {
      const end = endOf(name)
      if (end !== undefined) this.#add(end, fact)
    }
    atEndOf('request-drain', { type: 'drained', what: 'requests', ...requests })
    atEndOf('watch-drain', { type: 'drained', what: 'watches', ...watches })
    atEndOf('close-connections', { type: 'connections', ...connections })
    atEndOf('handlers', { type: 'handlers', running: handlers })
  }
}

/** A report does not say how long the last call might have taken, only how long it took. */
const profileOf = ({ delay, watchGrace, deadline, cuts }: ReportedBudget): StopProfile => ({
  delayMs: delay,
  lastCallMs: 0,
  watchGraceMs: watchGrace,
  deadlineMs: deadline,
  cutsMs: cuts,
})

function openingOf(report: Report): OpeningEntry {
  const deadline = report.platform.defaults['deadline'] as { readonly ms?: unknown } | undefined
  return {
    kind: 'opening',
    format: 1,
    source: 'report',
    title: `report of ${report.endedAt}`,
    wallAtStart: report.startedAt,
    mode: modeOf(report),
    phases: phasesOf(report),
    ...(typeof deadline?.ms === 'number' && { deadlineMs: deadline.ms }),
  }
}

/** The mode of a life, by the one of its rows that stands for it. */
const modeOf = ({ phases }: Report): Mode =>
  phases.some(({ name }) => name === ('close-listener-after-drain' satisfies PhaseName)) ? 'retry-after' : 'refuse'

/** The rows of the life: those of its mode, and what its report has beside them. */
function phasesOf(report: Report): OpeningEntry['phases'] {
  const { phases } = report
  const composition: Composition = {
    mode: modeOf(report),
    userPhases: phases
      .filter(({ name }) => !Object.hasOwn(WIRING, name))
      .map(({ name }) => ({ name, after: ['NotAcceptingNewRequest'], before: ['destroy'], timeoutMs: 1 })),
  }
  return describedPhases(composition)
}

function addressOf(url: string): { address: string; port: number } {
  if (!URL.canParse(url) || url.startsWith('unix:')) return { address: url.replace(/^unix:/, ''), port: 0 }
  const { hostname, port } = new URL(url)
  return { address: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port) }
}
