import { countsOf } from '../actors/audit.ts'
import { Drains } from '../actors/reported-drains.ts'
import { StopCauses } from '../actors/stop-causes.ts'
import { deferred } from '../base/deferred.ts'
import { errorRecord } from '../base/events.ts'
import { EventLog } from '../log/event-log.ts'
import { SaidErrors } from '../log/said-errors.ts'
import { stopProfiles } from '../options/budget.ts'
import { UnseenWork } from '../process/work-left.ts'
import { Recorder } from '../report/recorder.ts'
import type { Report } from '../report/report.ts'
import { ReportBuilder } from '../report/report-builder.ts'
import { Consequences } from './consequences.ts'
import { Course } from './course.ts'
import { EventOutlet } from './event-outlet.ts'
import { FinalOutput, msForReaders } from './final-output.ts'
import { Finish } from './finish.ts'
import { LifeHealth } from './life-health.ts'
import { connectionMetric, LifeMetrics, lifeMetrics } from './life-metrics.ts'
import { LifecycleStatus } from './lifecycle-status.ts'
import { OpenedListeners } from './opened-listeners.ts'
import { Output } from './output.ts'
import { Ownership } from './ownership.ts'
import { type LifecycleParts, systemsBeside } from './parts.ts'
import { Planner, registeredIn } from './plan.ts'
import { Registrations } from './registrations.ts'
import { RootActor } from './root-actor.ts'
import { RunOfLife } from './run-of-life.ts'
import { SignalLatches } from './signal-latches.ts'
import { StartOutcome } from './start-outcome.ts'
import { type OwnAnswer, trafficOf } from './traffic-of.ts'

/**
 * Makes what a life consists of and connects it: each thing is given those that it needs, which
 * stand above it.
 * @param life what users hold
 */
export function assemble(life: object, parts: LifecycleParts) {
  const { options, host } = parts
  const { wording } = options

  // What has happened, and what is known of it.
  const recorder = new Recorder(host.clock)
  const { record } = recorder
  const wallAtStart = host.clock.wall()
  const signals = new SignalLatches()
  const causes = new StopCauses()
  const startOutcome = new StartOutcome()
  const ended = deferred<Report>()
  const ownership = new Ownership()
  const unseenWork = new UnseenWork(host.process, host.clock)
  const root = new RootActor(recorder)

  const registrations = new Registrations(options, (changed) => {
    if (!root.hasBegun) return
    root.send({ type: 'pre-shutdown-hooks.changed', hooks: changed.plannedHooks() })
    root.send({ type: 'destroy-functions.changed', functions: changed.plannedDestroyFunctions() })
    root.send({ type: 'budget.changed', profiles: stopProfiles(options.plans, registeredIn(options, changed, root.wiring)) })
  })

  // Who hears of it.
  const output = new Output(host, options, parts.log, () => msForReaders(recorder))
  const log = new EventLog(() => output.openLogger(ownership.isTaken), options)
  const outlet = new EventOutlet(life)
  const hasNoLog = (): boolean => log.hasFailed || output.hasNoLogger(ownership.isTaken)
  const saidErrors = new SaidErrors(host.process.stderr, hasNoLog)

  // What is served: the gate answers health and metrics in front of the handler.
  const { servesNothing } = parts
  const health = new LifeHealth({ clock: host.clock, options, record, log, signals, root, servesNothing })
  const metrics = new LifeMetrics(
    {
      clock: host.clock,
      failed: (error, isNew) => record({ type: 'error', where: 'metrics', error: errorRecord(error), ...(!isNew && { times: 0 }) }),
      recovered: (source) => log.info({ source }, 'metrics of a source are printed again'),
    },
    () => health.endpoints.checkMetrics(),
  )
  const ownAnswer: OwnAnswer = { listener: undefined }
  const traffic = trafficOf({ parts, record, health: health.endpoints, metrics: metrics.endpoint, ownAnswer })
  const drains = new Drains({ traffic, record })

  // How the life stands.
  const report = new ReportBuilder({
    view: () => recorder.view,
    wallAtStart,
    rejections: () => traffic.counts().rejected,
    lostLogLines: () => log.lostLines(),
    auditCounts: countsOf(options.audit, (error) => record({ type: 'error', where: 'audit counts', error: errorRecord(error) })),
  })
  const status = new LifecycleStatus({ options, recorder, root, traffic, health, report })
  metrics.print(() => health.endpoints.requestMetrics())
  metrics.print(() => [connectionMetric(wording.metrics, traffic)])
  metrics.print(() => {
    const { view, elapsed: now } = status
    return lifeMetrics(wording.metrics, { view, gauges: status.gauges(), sourceFailures: metrics.sourceFailures, now, wallAtStart })
  })
  metrics.print(() => parts.metrics?.() ?? [])

  // How it goes, and how it ends.
  const listeners = new OpenedListeners({ parts, record, traffic, health, metrics: metrics.endpoint, status, ownAnswer })
  const planner = new Planner(options, registrations, listeners)
  const { reportFile, reservesMs } = options
  const finalOutput = new FinalOutput({
    ...{ process: host.process, clock: host.clock, recorder, log, report, reportFile, flushReserveMs: reservesMs.flush },
    loggerMs: options.logger ? options.hookTimeoutMs : undefined,
    isSilent: options.logger === false,
  })
  const beside = systemsBeside(parts)
  const observer = parts.observe?.({
    beside,
    host,
    options,
    record,
    status,
    plan: () => planner.plan(),
    requestStop: (reason) => root.requestStop(reason),
    sayUnrecorded: (fields, message) => finalOutput.sayUnrecorded(fields, message),
  })
  const finish = new Finish({
    ...{ host, options, record, root, status, report, traffic, drains, listeners },
    ...{ finalOutput, outlet, observer, ownership, unseenWork, startOutcome, ended },
  })
  const applications: unknown[] = []
  const course = new Course({
    ...{ parts, record, recorder, registrations, root, status, causes, traffic, drains, listeners, observer, log },
    ...{ finalOutput, finish, signals, health, startOutcome, planner, ended, applications, beside },
  })
  const run = new RunOfLife({ parts, record, course, root, status, causes, log, output, finalOutput, outlet, ended })

  const consequences = new Consequences({ options, registrations, traffic, status, root, startOutcome, signals, unseenWork })
  const sinks = [
    consequences.observe,
    listeners.observe,
    causes.observe,
    report.observe,
    log.write,
    saidErrors.observe,
    ...(observer ? [observer.fact] : []),
    outlet.hand,
  ]
  for (const sink of sinks) recorder.addSink(sink)
  record({ type: 'platform', platform: options.platform.name, reason: options.platform.reason, defaults: options.chosen })

  return {
    ...{ applications, beside, course, ended, health, finalOutput, listeners, log, metrics, outlet, ownership, planner },
    ...{ record, registrations, root, run, signals, status, traffic },
  }
}
