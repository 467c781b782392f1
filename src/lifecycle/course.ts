import { type InspectedRoot, inspectWith, type SystemsBeside } from '../actors/inspection.ts'
import type { Deferred } from '../base/deferred.ts'
import { QuiesceError, toError } from '../base/errors.ts'
import { errorRecord } from '../base/events.ts'
import { type Warning, warningsOf } from '../base/warnings.ts'
import type { EventLog } from '../log/event-log.ts'
import { hurried, stopProfile } from '../options/budget.ts'
import { readStopOptions, type StopOptions } from '../options/stop-options.ts'
import { followLife } from '../platforms/platforms.ts'
import { lifeBegun } from '../process/never-started.ts'
import { inFlightOf } from '../report/gauges.ts'
import type { Recorder } from '../report/recorder.ts'
import type { Report } from '../report/report.ts'
import { checkReportFile } from '../report/report-file.ts'
import { type EffectSources, effectContext } from './effect-context.ts'
import type { LifeHealth } from './life-health.ts'
import { type ComposedMachine, machineFor } from './machine-for.ts'
import { inputOf, type Planner, registeredIn } from './plan.ts'
import type { SignalLatches } from './signal-latches.ts'
import type { StartOutcome } from './start-outcome.ts'
import { hiddenRoutes, withoutEffect } from './start-warnings.ts'

export interface CourseContext extends EffectSources {
  readonly recorder: Recorder
  readonly log: EventLog
  readonly signals: SignalLatches
  readonly health: LifeHealth
  readonly startOutcome: StartOutcome
  readonly planner: Planner
  readonly ended: Deferred<Report>
  /** Further applications behind the gate, beside those of the parts. */
  readonly applications: readonly unknown[]
  /** Systems of actors beside that of the life. */
  readonly beside: SystemsBeside
}

const UNSTARTED =
  'stop() of a life that was never started, whose server listens: pre-shutdown hooks were not run, clients were not told: call start() first'

/**
 * Refuses enumerable properties of Object.prototype: xstate goes through the events that it sends
 * later by for..in, takes such a property for one of them, and fails.
 * @throws QuiesceError ERR_START
 */
function refuseInherited(): void {
  const inherited: string[] = []
  for (const name in {}) inherited.push(name)
  if (inherited.length === 0) return
  throw new QuiesceError(
    'ERR_START',
    `Object.prototype has enumerable properties (${inherited.join(', ')}), with which no state machine can start: the code that adds them has to use Object.defineProperty()`,
    { inherited },
  )
}

/** The course of a life: it begins, it is started, and it is stopped. */
export class Course {
  readonly #context: CourseContext
  #startWarnings: readonly Warning[] = []
  #logOpened: Promise<void> = Promise.resolve()
  #isStarted = false

  constructor(context: CourseContext) {
    this.#context = context
  }

  /** What was registered and has no effect; known once the life has begun. */
  get startWarnings(): readonly Warning[] {
    return this.#startWarnings
  }

  /** Composes the machine; from here on a stop has a life to end. A second call does nothing. */
  begin(): void {
    const { parts, root, health, registrations, recorder, log, finish, observer, record } = this.#context
    const { host, options } = parts
    if (root.hasBegun) return
    refuseInherited()
    if (host.process === process) lifeBegun(process)
    health.endpoints.install()
    registrations.phases.close()
    registrations.muxSignals.close()
    const composed = this.#compose()
    recorder.composed(composed.wiring)
    const actor = root.create(composed, inputOf(options, registrations, composed.wiring), effectContext(this.#context))
    this.#logOpened = log.open().catch((error: unknown) => record({ type: 'error', where: 'logger', error: errorRecord(error) }))
    // A subscriber may answer by start() or stop(), which must find a life that has begun.
    this.#warn()
    // Before the journal's own listener: what is said in it is in the journal.
    finish.begin()
    observer?.begin(actor)
    this.#follow()
    host.observe?.(actor)
    this.#inspect(actor)
    actor.subscribe({ error: (error) => finish.lastResort(error), complete: () => finish.inOrder() })
    actor.start()
    this.#heedSignal()
  }

  /** See `Life.start`. */
  async start(): Promise<void> {
    const { signals, startOutcome, causes, root } = this.#context
    // One that failed, or was stopped before it served, rejects with why.
    if (signals.hasFired('Serving') && signals.hasFired('StopRequested'))
      throw new QuiesceError('ERR_TOO_LATE', 'start(): this life has been stopped, and runs once: create another one')
    this.begin()
    if (!this.#isStarted) {
      this.#isStarted = true
      await this.#logOpened
      const { error } = startOutcome
      if (error !== undefined) causes.keep('start', error)
      root.send(error === undefined ? { type: 'start' } : { type: 'start.refused', error: errorRecord(error) })
    }
    await startOutcome.promise
  }

  /** See `Life.stop`. */
  stop(given?: string | StopOptions): Promise<Report> {
    const { parts, root, registrations, ended, record } = this.#context
    const isUnstarted = !root.hasBegun
    let options: ReturnType<typeof readStopOptions>
    try {
      options = readStopOptions(given)
      this.begin()
    } catch (error) {
      // Of a function that returns a promise nothing else is expected.
      return Promise.reject(toError(error))
    }
    const { reason, now, deadlineMs } = options
    if (isUnstarted && parts.adopted?.some(({ server }) => server.listening)) record({ type: 'warning', message: UNSTARTED })
    const work = registeredIn(parts.options, registrations, root.wiring)
    root.send({
      type: 'stop.requested',
      reason: { kind: 'stop', reason },
      ...(deadlineMs !== undefined && { profile: stopProfile(hurried(parts.options.plans.default, deadlineMs), work) }),
    })
    if (now) root.send({ type: 'stop.now', reason })
    return ended.promise
  }

  /**
   * Composes the machine. With invalid registrations start() rejects; the shutdown still runs, so
   * that what the life owns is destroyed.
   */
  #compose(): ComposedMachine {
    const { parts, planner, health, startOutcome } = this.#context
    try {
      const composition = planner.composition()
      health.endpoints.checkReferences()
      checkReportFile(parts.options.reportFile)
      return machineFor(composition)
    } catch (error) {
      startOutcome.failed(error)
      return machineFor({ mode: parts.options.whileDraining })
    }
  }

  #warn(): void {
    const { parts, registrations, health, applications, record } = this.#context
    const { options } = parts
    this.#startWarnings = warningsOf('WARN_WITHOUT_EFFECT', withoutEffect(options, registrations, health))
    for (const { code, message } of [...options.warnings, ...this.#startWarnings]) record({ type: 'warning', message, details: { code } })
    // Health is answered before the application, which may have had answers of its own.
    if (options.health === false || parts.healthIsHandlers) return
    const hidden = hiddenRoutes(health.endpoints.paths, [...(parts.applications?.() ?? []), ...applications])
    if (hidden !== undefined) record({ type: 'warning', message: hidden })
  }

  /** Has the option `signal` stop it; one that is aborted already does so before it starts. */
  #heedSignal(): void {
    const { parts, root, ended } = this.#context
    const { signal } = parts.options
    if (!signal) return
    const onAbort = (): void => root.requestStop({ kind: 'abort-signal', reason: errorRecord(signal.reason).message })
    if (signal.aborted) {
      onAbort()
      return
    }
    signal.addEventListener('abort', onAbort, { once: true })
    void ended.promise.then(() => signal.removeEventListener('abort', onAbort))
  }

  /** Has the platform hear of the life. */
  #follow(): void {
    const { parts, recorder, status, record } = this.#context
    const { clock, process } = parts.host
    followLife(process, {
      clock,
      subscribe: (listener) => recorder.addSink(listener),
      record,
      look: () => {
        const progress = status.progress()
        return progress && { at: status.elapsed, headline: progress.headline, inFlight: inFlightOf(status.gauges()) }
      },
    })
  }

  /** Has the option `inspect` hear of every actor. */
  #inspect(root: InspectedRoot): void {
    const { parts, record, beside } = this.#context
    const { inspect } = parts.options
    if (!inspect) return
    const failed = (error: unknown): void => record({ type: 'error', where: 'inspect', error: errorRecord(error) })
    try {
      const see = inspectWith(inspect, failed)
      for (const each of [root, ...beside.roots()]) see(each)
      beside.onNew(see)
    } catch (thrown) {
      failed(thrown)
    }
  }
}
