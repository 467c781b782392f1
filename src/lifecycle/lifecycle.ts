import { AsyncResource } from 'node:async_hooks'
import type { Server } from 'node:net'
import type { Observable } from 'rxjs/internal/Observable'
import { Subject } from 'rxjs/internal/Subject'
import { type ActorRefFrom, type AnyActor, createActor } from 'xstate'
import { Drains, giveWorld, type World } from '../actors/effects.ts'
import type { Host } from '../actors/host.ts'
import { inspectAll } from '../actors/inspection.ts'
import type { BoundAddress, Listener } from '../actors/listener.ts'
import { recur } from '../actors/recurring.ts'
import { StopCauses } from '../actors/stop-causes.ts'
import type { StopCode, UserCode } from '../actors/user-code.ts'
import { checkFunction, checkName } from '../base/checked.ts'
import { deferred } from '../base/deferred.ts'
import { didYouMean } from '../base/did-you-mean.ts'
import { type Duration, formatDuration, parseDuration } from '../base/duration.ts'
import { optionError, QuiesceError, show, toError } from '../base/errors.ts'
import { type Consequence, errorRecord, isCrashEvent, type LifecycleEvent, type StopReason } from '../base/events.ts'
import { refuseWhileLookedAt } from '../base/looked-at.ts'
import type { StopProfile } from '../base/stop-profile.ts'
import { MetricsEndpoint } from '../endpoints/metrics-endpoint.ts'
import { ENDPOINTS, type LifeEndpoints } from '../endpoints/of-life.ts'
import type { ExchangeView } from '../http/chain.ts'
import { Health, type HealthSettings, type HookCheckOptions, type LivezCheckOptions } from '../http/health/health.ts'
import type { Check, CheckOptions, CheckOutcome } from '../http/health/health-check.ts'
import type { FailedCheck } from '../http/health/health-endpoint.ts'
import { safeLongRunning } from '../http/long-running.ts'
import { readingOf } from '../http/reading.ts'
import { pathOf, type RequestLike } from '../http/request-info.ts'
import { exchangeOf } from '../http/traffic/exchange.ts'
import { isExempt } from '../http/traffic/exempt.ts'
import type { HoldContext } from '../http/traffic/holds.ts'
import type { FailureAnswer } from '../http/traffic/recovery.ts'
import { type Counts, Traffic } from '../http/traffic/traffic.ts'
import { transportOf } from '../http/transports.ts'
import type { OlderConnections } from '../http/wire.ts'
import { EventLog } from '../log/event-log.ts'
import { SaidErrors } from '../log/said-errors.ts'
import { type ExitCode, moreSevere } from '../machines/exit-codes.ts'
import type { LifecycleMachine, LifePlan } from '../machines/lifecycle.ts'
import { muxSignalsWaiting } from '../machines/phases/mux-complete.ts'
import type { SignalName } from '../machines/signals.ts'
import { comesBefore } from '../machines/user-phases.ts'
import type { LifecycleInEvent } from '../machines/vocabulary.ts'
import type { Wiring } from '../machines/wiring.ts'
import { type MetricFamily, type MetricSource, type OwnMetrics, ownMetrics } from '../metrics/family.ts'
import { MetricSources } from '../metrics/sources.ts'
import { exitGraceMs, hurried, type RegisteredWork, stopProfile, stopProfiles } from '../options/budget.ts'
import type { ResolvedOptions } from '../options/options.ts'
import { readStopOptions, type StopOptions } from '../options/stop-options.ts'
import type { StopSignal } from '../options/stop-signals.ts'
import type { FollowedLife } from '../platforms/platform.ts'
import { followLife } from '../platforms/platforms.ts'
import { isInteractiveStop } from '../platforms/terminal.ts'
import { lifeBegun, lifeCreated, lifeLookedAt, serversAttached } from '../process/never-started.ts'
import { ProcessEnd } from '../process/process-end.ts'
import { onProcessExit } from '../process/process-exit.ts'
import { runLifecycle } from '../process/run.ts'
import { UnseenWork, type WorkLeft } from '../process/work-left.ts'
import { publishEvents } from '../report/diagnostics.ts'
import { leftUntil } from '../report/ending.ts'
import { type Gauges, gaugesOf, inFlightOf, NAMES_MAX } from '../report/gauges.ts'
import { type Progress, progressOf } from '../report/progress.ts'
import { Recorder } from '../report/recorder.ts'
import type { Report } from '../report/report.ts'
import { ReportBuilder } from '../report/report-builder.ts'
import { checkReportFile } from '../report/report-file.ts'
import type { Presentation } from '../terminal/presentation.ts'
import { type AdminListener, openAdminListener } from './admin-listener.ts'
import { LastWords } from './last-words.ts'
import type { RecurringOptions } from './life.ts'
import { lifeMetrics } from './life-metrics.ts'
import { type ComposedMachine, machineFor } from './machine-for.ts'
import { type DefaultLog, Output } from './output.ts'
import { compositionOf, inputOf, planFrom, registeredIn, signalNamesOf } from './plan.ts'
import { type DestroyOptions, type PhaseOptions, type PreShutdownHookOptions, Registrations } from './registrations.ts'
import { hasRoute } from './routes-of-applications.ts'
import type { ServedLife } from './served-life.ts'
import { SignalLatches } from './signal-latches.ts'
import { startAdvice } from './start-advice.ts'
import { whyNotServed } from './why-not-served.ts'

/** Names of hooks in one sentence. */
const TIMEOUTS_NAMED_MAX = 5
/** For programs, of a warning that something registered has no effect. */
const WITHOUT_EFFECT = { code: 'WARN_WITHOUT_EFFECT' } as const

const UNSTARTED =
  'stop() of a life that was never started, whose server listens: pre-shutdown hooks were not run, clients were not told: call start() first'

/** What a life is made of; `createServer` and `attachLifecycle` differ in nothing else. */
export interface LifecycleParts {
  readonly options: ResolvedOptions
  /** It has no listener but that of the option `admin`. */
  readonly servesNothing?: true
  readonly host: Host
  /** Creates the listeners behind the gate; called once, when they are to be bound. */
  readonly openListeners: (traffic: Traffic) => Promise<readonly Listener[]>
  /** What requests come to behind the gate, to find routes that it hides. */
  readonly applications?: () => readonly unknown[]
  /**
   * Listeners that are there already; a stop closes them even when it comes before they were bound.
   */
  readonly adopted?: readonly Listener[]
  /**
   * The handler answers the health endpoints itself, with `Lifecycle.health`; an admin listener
   * answers them in any case.
   */
  readonly healthIsHandlers?: boolean
  /** What failed handlers are answered for with. Default: a plain 500. */
  readonly failureAnswer?: FailureAnswer
  /** Metrics of its own, after those of health. */
  readonly metrics?: () => readonly MetricFamily[]
  /** Connections that the adopted server may have by now. */
  readonly older?: OlderConnections | undefined
  readonly log: DefaultLog
  /** What watches the life, if anything shall. */
  readonly observe?: (life: Lifecycle) => Observer | undefined
}

/** Watches a life, decides nothing, and changes nothing in it: the inspector and its journal. */
export interface Observer {
  /** A sink of events. */
  readonly fact: (event: LifecycleEvent) => void
  /** To be called before the machine starts. */
  begin(root: AnyActor): void
  /** A listener of its own, if it has one; bound with the others. */
  open(): Promise<readonly Listener[]>
  /** The last word: undefined when there is nothing to wait for. */
  end(report: Report, flushMs: number): Promise<unknown> | undefined
}

/**
 * The composition root behind `createServer` and `attachLifecycle`: it connects machines, actors
 * and HTTP, and decides nothing itself. {@link ServedLife} says what its public methods promise;
 * the others are for `run()`, the inspector and our tests.
 */
export class Lifecycle implements ServedLife {
  readonly options: ResolvedOptions
  readonly host: Host
  readonly record: Recorder['record']
  readonly #parts: LifecycleParts
  readonly #report: ReportBuilder
  readonly #events = new Subject<LifecycleEvent>()
  readonly #signals = new SignalLatches()
  readonly #causes = new StopCauses()
  readonly #traffic: Traffic
  readonly #drains: Drains
  readonly #health: Health
  readonly #registrations: Registrations
  readonly #served = deferred<void>()
  readonly #ended = deferred<Report>()
  readonly #log: EventLog
  readonly #output: Output
  readonly #saidErrors: SaidErrors
  #hasLogFailed = false
  readonly #lastWords: LastWords
  readonly #recorder: Recorder
  /** Milliseconds since the epoch. */
  readonly #wallAtStart: number
  readonly #observer: Observer | undefined
  #listeners: readonly Listener[]
  #logOpened: Promise<void> = Promise.resolve()
  #actor: ActorRefFrom<LifecycleMachine> | undefined
  #startError: unknown
  #composed: ComposedMachine | undefined
  /** The process says so at its end if it never is. */
  #isToBeStarted = false
  #started = false
  #run: Promise<Report> | undefined
  readonly #released = new AbortController()
  #processExit: Disposable | undefined
  /** What users hear when report and log are written, while the process exits. */
  #held: LifecycleEvent[] | undefined
  readonly #addresses: BoundAddress[] = []
  readonly #finishedHooks = new Set<string>()
  readonly #unseenWork: UnseenWork

  constructor(parts: LifecycleParts) {
    const { options, host } = parts
    this.#parts = parts
    this.options = options
    this.host = host
    const recorder = new Recorder(host.clock)
    this.#recorder = recorder
    this.#unseenWork = new UnseenWork(host.process, host.clock)
    this.#wallAtStart = host.clock.wall()
    this.record = recorder.record
    this.#listeners = parts.adopted ?? []
    this.#output = new Output(host, options, parts.log, () => this.#lastWords.msForReaders)
    this.#log = new EventLog(() => this.#output.openLogger(this.#run !== undefined), options)
    this.#saidErrors = new SaidErrors(host.process.stderr)
    this.#report = new ReportBuilder({
      view: () => recorder.view,
      wallAtStart: this.#wallAtStart,
      rejections: () => this.#traffic.counts().rejected,
      lostLogLines: () => this.#log.lostLines(),
      auditCounts: () => this.options.audit?.counts?.(),
    })
    this.#lastWords = new LastWords({
      process: host.process,
      recorder,
      log: this.#log,
      report: this.#report,
      reportFile: options.reportFile,
      flushReserveMs: options.reservesMs.flush,
    })
    this.#traffic = new Traffic({
      clock: host.clock,
      random: host.random,
      mode: options.whileDraining,
      isLongRunning: safeLongRunning(options.longRunning, (error) =>
        this.record({ type: 'error', where: 'longRunning', error: errorRecord(error) }),
      ),
      transportOf,
      readingOf,
      record: this.record,
      wording: options.wording,
      goawayChance: options.goawayChance,
      exempt: options.exempt,
      failureAnswer: parts.failureAnswer,
      steps: [
        ...(options.health
          ? [
              {
                name: 'health',
                onPublic: !parts.healthIsHandlers,
                admit: ({ request, response }: ExchangeView) => response === undefined || !this.#health.handle(request, response),
              },
              // Listeners of ours would answer them as well, but behind the steps whose place is
              // after this one.
              {
                name: 'health on the admin listener',
                after: 'health',
                onAdmin: true,
                onPublic: false,
                admit: ({ request, response }: ExchangeView) => {
                  if (response === undefined || !this.#answerOnAdmin || !this.#health.answers(request)) return true
                  this.#answerOnAdmin(request, response)
                  return false
                },
              },
            ]
          : []),
        ...(options.metrics
          ? [
              {
                name: 'metrics',
                before: 'retry-after',
                admit: ({ request, response }: ExchangeView) => response === undefined || !this.metricsEndpoint.handle(request, response),
              },
            ]
          : []),
        ...(options.steps ?? []),
      ],
    })
    this.#metrics = new MetricSources(this.metrics, {
      clock: host.clock,
      failed: (error, isNew) => this.record({ type: 'error', where: 'metrics', error: errorRecord(error), ...(!isNew && { times: 0 }) }),
      recovered: (source) => this.#log.info({ source }, 'metrics of a source are printed again'),
    })
    this.#drains = new Drains({ traffic: this.#traffic, record: this.record })
    this.#health = this.furtherHealth({ onFirstReady: () => this.send({ type: 'readyz.passed' }) })
    this.#registrations = new Registrations(options, () => this.#registrationsChanged())
    // Handled here as well: a life that never serves while start() is not awaited must not be an
    // unhandled rejection.
    this.#served.promise.catch(() => {})
    this.#observer = parts.observe?.(this)
    const sinks = [
      this.#latch,
      this.#causes.observe,
      this.#report.observe,
      this.#log.write,
      this.#sayError,
      ...(this.#observer ? [this.#observer.fact] : []),
      this.#tellUsers,
    ]
    for (const sink of sinks) recorder.addSink(sink)
    this.record({ type: 'platform', platform: options.platform.name, reason: options.platform.reason, defaults: options.chosen })
    // A world of tests has no end that anything could be said at, and a server of the user's may
    // never have to listen, as where tests inject requests: one that does is another matter.
    if (host.process !== process || options.logger === false) return
    const servers = parts.adopted?.map(({ server }) => server)
    if (servers) serversAttached(process, host.clock, servers)
    else {
      lifeCreated(process)
      this.#isToBeStarted = true
    }
  }

  get events$(): Observable<LifecycleEvent> {
    return this.#events.asObservable()
  }

  get ended(): Promise<Report> {
    return this.#ended.promise
  }

  /** For what is no event and stands in no report: the lines of single requests. */
  get log(): Pick<EventLog, 'writes' | 'debug' | 'error'> {
    return this.#log
  }

  /** For a handler that answers the health endpoints itself. */
  get health(): Health {
    return this.#health
  }

  /** What was registered and has no effect; `run()` says it on standard error, too. */
  get startWarnings(): readonly string[] {
    return this.#startWarnings
  }

  /** What was registered where nothing answers is found out at the start. */
  #unreadChecks(names: readonly string[]): readonly string[] {
    const isRead = this.options.health !== false && (!this.#parts.servesNothing || this.options.admin !== undefined)
    if (isRead || this.#isHealthMounted || names.length === 0) return []
    const remedy = this.#parts.servesNothing ? 'the option admin' : 'the option health'
    return [`health checks are never asked, because no health endpoint is answered (${remedy}): ${names.join(', ')}`]
  }

  /** Of a hook's own; the time of one that states none fits. */
  #uselessTimeouts(): readonly string[] {
    const { hookTimeoutMs, plans } = this.options
    const { deadlineMs } = plans.default
    const { preShutdownHooks, destroyFunctions, phases } = this.#registrations
    const all = [...preShutdownHooks.entries(), ...destroyFunctions.entries(), ...phases.entries()]
    const names = all.flatMap(([name, { timeoutMs }]) => (timeoutMs > deadlineMs && timeoutMs !== hookTimeoutMs ? [show(name)] : []))
    if (names.length === 0) return []
    const more = names.length - TIMEOUTS_NAMED_MAX
    const said = `${names.slice(0, TIMEOUTS_NAMED_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
    return [`the timeout of ${said} has no effect: the whole stop has a deadline of ${formatDuration(deadlineMs)}, which comes before`]
  }

  /** Health is answered before the application: it may have had answers of its own. */
  #warnOfHiddenRoutes(): void {
    if (this.options.health === false || this.#parts.healthIsHandlers) return
    const applications = [...(this.#parts.applications?.() ?? []), ...this.#applications]
    const hidden = this.#health.paths.filter((path) => applications.some((application) => hasRoute(application, path)))
    if (hidden.length > 0) this.record({ type: 'warning', message: hiddenRoutesWarning(hidden) })
  }

  get [ENDPOINTS](): LifeEndpoints {
    return {
      health: this.#health,
      metrics: this.metricsEndpoint,
      clock: this.host.clock,
      mounted: (what) => this.#mounted(what),
      servedBy: (application) => void this.#applications.push(application),
    }
  }

  /**
   * The gate lets probes and scrapers in until the very end, by their paths: a prefix it knows from
   * the option `exempt` alone.
   */
  #mounted(what: 'health' | 'metrics'): (request: RequestLike) => void {
    if (what === 'health') this.#isHealthMounted = true
    let isWarned = false
    return (request) => {
      const exchange = isWarned ? undefined : exchangeOf(request)
      if (!exchange || isExempt(exchange.request, this.options.exempt)) return
      isWarned = true
      const path = show(pathOf(exchange.request.url ?? ''))
      const message = `${what} is mounted at ${path}, which is refused while draining: name the path, or one above it, in the option exempt`
      this.record({ type: 'warning', message })
    }
  }

  /** Health endpoints of this life for a server behind the one that is run, without checks yet. */
  furtherHealth(observer: Pick<HealthSettings, 'onFirstReady'> = {}): Health {
    const { options, host } = this
    return new Health({
      clock: host.clock,
      pendingMux: () => muxSignalsWaiting(this.#actor),
      isStarting: () => this.#actor !== undefined && !this.#signals.hasFired('Serving'),
      isShuttingDown: () => this.#signals.hasFired('ShutdownInitiated'),
      livezGraceMs: options.livezGraceMs,
      metrics: options.wording.metrics,
      checkTimeoutMs: options.healthCheckTimeoutMs,
      lastFlushAgeMs: () => this.#log.lastFlushAgeMs(),
      onFailed: (endpoint, failed) => this.#healthFailed(endpoint, failed),
      onTurn: (name, outcome) => this.#healthTurned(name, outcome),
      onError: (error) => this.record({ type: 'error', where: 'health', error: errorRecord(error) }),
      ...(options.health && { paths: options.health, extra: options.healthOptions.extra, answers: options.healthOptions }),
      ...observer,
    })
  }

  /** Whether this post-start hook has returned. */
  hasFinishedHook(name: string): boolean {
    return this.#finishedHooks.has(name)
  }

  readonly metricsEndpoint = new MetricsEndpoint({
    '/metrics': () => this.#metrics.collect(),
    '/metrics/slis': () => this.#health.checkMetrics(),
  })

  readonly metrics: OwnMetrics = ownMetrics(() => this.#ownMetrics())
  readonly #metrics: MetricSources
  #isHealthMounted = false
  readonly #applications: unknown[] = []
  /** What listeners of ours answer with; all of them answer health in the same way. */
  #answerOnAdmin: AdminListener['answer'] | undefined
  #startWarnings: readonly string[] = []
  /** Health checks of the user's. */
  readonly #ownChecks = new Set<string>()

  addMetrics(source: MetricSource): Disposable {
    return this.#metrics.add(source)
  }

  get exitCode(): ExitCode {
    return this.#actor?.getSnapshot().context.exitCode ?? 0
  }

  // --- what belongs to the life ------------------------------------------------------------------

  signal(name: SignalName | (string & {})): AbortSignal {
    const known = signalNamesOf(this.options, this.#registrations)
    if (!known.includes(name)) {
      throw new QuiesceError(
        'ERR_UNKNOWN_REFERENCE',
        `signal: got ${show(name)}${didYouMean(String(name), known)}, allowed: ${known.join(', ')}`,
        { name },
      )
    }
    return this.#signals.signal(name)
  }

  setReady(ready: boolean, reason?: string): void {
    if (typeof ready !== 'boolean') throw optionError('setReady', ready, 'true, or false and a reason')
    if (reason !== undefined && typeof reason !== 'string') throw optionError('reason of setReady()', reason, 'text')
    this.#health.setReady(ready, reason)
    this.#log.info({ ready, ...(reason !== undefined && { reason }) }, 'readiness switched by hand')
  }

  addHealthzCheck(name: string, check: Check, options?: CheckOptions): Disposable {
    return this.#own(name, this.#health.addHealthzCheck(name, check, options))
  }

  addReadyzCheck(name: string, check: Check, options?: CheckOptions): Disposable {
    return this.#own(name, this.#health.addReadyzCheck(name, check, options))
  }

  addLivezCheck(name: string, check: Check, options?: LivezCheckOptions): Disposable {
    return this.#own(name, this.#health.addLivezCheck(name, check, options))
  }

  addHealthCheck(name: string, check: Check, options?: CheckOptions): Disposable {
    return this.#own(name, this.#health.addCheck(name, check, options))
  }

  /** A check of the user's, until it is taken back. */
  #own(name: string, added: Disposable): Disposable {
    this.#ownChecks.add(name)
    return {
      [Symbol.dispose]: () => {
        this.#ownChecks.delete(name)
        added[Symbol.dispose]()
      },
    }
  }

  addPostStartHook(name: string, run: UserCode, options: HookCheckOptions = {}): Disposable {
    const hook = this.#registrations.addPostStartHook(name, run, this.options.disabledPostStartHooks)
    if (!hook) return { [Symbol.dispose]: () => {} }
    try {
      const check = this.#health.addPostStartHookCheck(name, () => this.hasFinishedHook(name), options)
      return disposeAll(hook, check)
    } catch (error) {
      hook[Symbol.dispose]()
      throw error
    }
  }

  addPreShutdownHook(name: string, run: StopCode, options?: PreShutdownHookOptions): Disposable {
    return this.#registrations.addPreShutdownHook(name, run, options)
  }

  addDestroy(name: string, run: StopCode, options?: DestroyOptions): Disposable {
    return this.#registrations.addDestroy(name, run, options)
  }

  addPhase(name: string, run: UserCode, options?: PhaseOptions): Disposable {
    return this.#registrations.addPhase(name, run, options)
  }

  addMuxCompleteSignal(name: string, complete: AbortSignal | PromiseLike<unknown>): Disposable {
    return this.#registrations.addMuxCompleteSignal(name, complete)
  }

  hold(name: string): Disposable
  hold<T>(name: string, work: (context: HoldContext) => T | PromiseLike<T>): Promise<T>
  hold<T>(name: string, work?: (context: HoldContext) => T | PromiseLike<T>): Disposable | Promise<T> {
    return work === undefined ? this.#traffic.hold(name) : this.#traffic.hold(name, work)
  }

  /**
   * As {@link hold}, for work that has begun: also while it drains, as long as anything is waited
   * for.
   */
  join(name: string, work: PromiseLike<unknown>): void {
    this.#traffic.join(name, work)
  }

  every(name: string, period: Duration, work: (context: HoldContext) => unknown, options: RecurringOptions = {}): Disposable {
    const { checked, periodMs, until } = checkedRecurring(name, period, work, options)
    const draining = this.#signals.signal('NotAcceptingNewRequest')
    if (draining.aborted) throw new QuiesceError('ERR_TOO_LATE', `every(${show(name)}): the server is draining`, { name })
    return recur(name, periodMs, checked, {
      clock: this.host.clock,
      hold: (held, run) => this.#traffic.recur(held, run),
      serving: this.#signals.signal('Serving'),
      over: until === 'draining' ? draining : this.#signals.signal('RequestsDrained'),
      failed: (thrown) => this.record({ type: 'error', where: `every ${show(name)}`, error: errorRecord(thrown) }),
    })
  }

  counts(): Counts {
    return this.#traffic.counts()
  }

  /** Whether they are waited for or not; those of the admin listener apart. */
  requestsUnderWay(): readonly ExchangeView[] {
    return this.#traffic.underWay()
  }

  // --- start and stop ----------------------------------------------------------------------------

  /** Composes the machine; from here on a stop has a life to end. A second call does nothing. */
  begin(): void {
    if (this.#actor) return
    if (this.host.process === process) lifeBegun(process)
    this.#health.install()
    this.#registrations.phases.close()
    this.#registrations.muxSignals.close()
    this.#composed = this.#compose()
    const { machine, wiring } = this.#composed
    this.#recorder.composed(wiring)
    for (const message of this.options.warnings) this.record({ type: 'warning', message })
    this.#startWarnings = [...this.#unreadChecks([...this.#ownChecks]), ...this.#uselessTimeouts()]
    for (const message of this.#startWarnings) this.record({ type: 'warning', message, details: WITHOUT_EFFECT })
    this.#warnOfHiddenRoutes()
    const input = inputOf(this.options, this.#registrations, wiring)
    const actor = createActor(machine, { clock: this.host.clock, input })
    giveWorld(actor.system, this.#world())
    this.#actor = actor
    this.#logOpened = this.#log.open().catch((error: unknown) => {
      this.#hasLogFailed = true
      this.record({ type: 'error', where: 'logger', error: errorRecord(error) })
    })
    // Before the journal's own listener: what is said in it is in the journal.
    this.#processExit = onProcessExit(this.host.process, (code) => this.#processExits(code))
    this.#observer?.begin(actor)
    followLife(this.host.process, this.#followed())
    this.host.observe?.(actor)
    this.#inspect(actor)
    actor.subscribe({ error: (error) => this.#lastResort(error), complete: () => this.#end() })
    actor.start()
  }

  #inspect(root: AnyActor): void {
    const { inspect, audit } = this.options
    if (!inspect) return
    const failed = (error: unknown): void => this.record({ type: 'error', where: 'inspect', error: errorRecord(error) })
    try {
      inspectAll(inspect, [root, ...(audit?.actors?.() ?? [])], failed)
    } catch (thrown) {
      failed(thrown)
    }
  }

  start(): Promise<void> {
    refuseWhileLookedAt('start()')
    return this.#start()
  }

  async #start(): Promise<void> {
    // One that failed, or was stopped before it served, rejects with why.
    if (this.#signals.hasFired('Serving') && this.#signals.hasFired('StopRequested'))
      throw new QuiesceError('ERR_TOO_LATE', 'start(): this life has been stopped, and runs once: create another one')
    if (!this.#started) {
      this.#started = true
      this.begin()
      await this.#logOpened
      if (this.#startError !== undefined) this.#causes.keep('start', this.#startError)
      this.send(this.#startError === undefined ? { type: 'start' } : { type: 'start.refused', error: errorRecord(this.#startError) })
    }
    await this.#served.promise
  }

  stop(given?: string | StopOptions): Promise<Report> {
    let options: ReturnType<typeof readStopOptions>
    try {
      options = readStopOptions(given)
    } catch (error) {
      // Of a function that returns a promise nothing else is expected.
      return Promise.reject(toError(error))
    }
    const { reason, now, deadlineMs } = options
    const isUnstarted = this.#actor === undefined
    this.begin()
    if (isUnstarted && this.#parts.adopted?.some(({ server }) => server.listening)) this.record({ type: 'warning', message: UNSTARTED })
    this.send({
      type: 'stop.requested',
      reason: { kind: 'stop', reason },
      ...(deadlineMs !== undefined && { profile: stopProfile(hurried(this.options.plans.default, deadlineMs), this.#registered) }),
    })
    if (now) this.send({ type: 'stop.now', reason })
    return this.#ended.promise
  }

  run(): Promise<Report> {
    refuseWhileLookedAt('run()')
    this.#run ??= runLifecycle(this, this.#released.signal)
    return this.#run
  }

  releaseProcess(): void {
    if (this.#run) this.#released.abort()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('disposed')
  }

  get addresses(): readonly BoundAddress[] {
    return this.#addresses
  }

  /** Puts a server of the user's behind this life's gate. */
  takeOver(server: Server): Disposable {
    return this.#traffic.takeOver(server)
  }

  /**
   * Tells the machine what the outside wants or has seen. Before `begin()` and after the end there
   * is no machine to tell.
   */
  send(event: LifecycleInEvent): void {
    const actor = this.#actor
    const { status, context } = actor?.getSnapshot() ?? {}
    if (!actor || !context || status !== 'active') return
    if (event.type === 'process.crashed') this.#recorder.crashed(context.profiles.crash)
    actor.send(event)
  }

  /** Whether `begin()` was called: there is a machine that runs. */
  get hasBegun(): boolean {
    return this.#composed !== undefined
  }

  /**
   * @param isForCheck the life may have been made to be checked, and not to be started
   * @throws QuiesceError ERR_UNKNOWN_REFERENCE as {@link compositionOf}
   */
  plan(isForCheck = false): LifePlan {
    if (isForCheck && this.#isToBeStarted) {
      this.#isToBeStarted = false
      lifeLookedAt(process)
    }
    return planFrom(this.options, this.#registrations, this.#composition())
  }

  /** How the checks of readiness stand by the last request for them; none when health is off. */
  readiness(): ReturnType<Health['standings']> | undefined {
    return this.options.health ? this.#health.standings('readyz') : undefined
  }

  requestStop(reason: StopReason): void {
    this.send({ type: 'stop.requested', reason })
  }

  signalled(signal: string): void {
    this.send({ type: 'process.signalled', signal, interactive: isInteractiveStop(this.options.facts, signal) })
  }

  /** The process has crashed. */
  crashed(origin: string, thrown: unknown): void {
    this.#causes.keep(origin, thrown)
    this.send({ type: 'process.crashed', origin, error: errorRecord(thrown) })
  }

  present(endsBySignal: (signal: StopSignal) => boolean): Promise<Presentation> | undefined {
    return this.#output.present(this, endsBySignal)
  }

  /** What is going on now; to be read some times per second at most. */
  gauges(): Gauges {
    return gaugesOf(this.#traffic.blocking(NAMES_MAX), this.#recorder.view, this.elapsed)
  }

  /**
   * How far the end has come, what it waits for, and how long it may still take; undefined until a
   * stop is requested. To be read some times per second at most.
   */
  progress(): Progress | undefined {
    const { view } = this.#recorder
    return view.stop && progressOf(view, this.options.whileDraining, this.gauges(), this.elapsed)
  }

  /** How long the process may live on after the end of this life, which has come. */
  get exitGraceMs(): number {
    return exitGraceMs(leftUntil(this.#recorder.view, 'flush', this.elapsed))
  }

  /** See {@link LastWords.sayIfLate}. */
  sayIfLate(): void {
    this.#lastWords.sayIfLate()
  }

  /** Milliseconds since the life began. */
  get elapsed(): number {
    return this.#recorder.elapsed
  }

  /**
   * For what is no event, because it is a secret and must not stand in a report; on standard error
   * when no log has it.
   */
  announce(fields: Readonly<Record<string, string>>, message: string): void {
    if (this.#log.writes('info')) this.#log.info(fields, message)
    else this.#lastWords.say(message)
  }

  get report(): Report {
    return this.#report.build(this.exitCode)
  }

  /** What to do when it could not start, if that is known. */
  get startAdvice(): string | undefined {
    const { cause } = this.#causes
    const { label = (option: string) => (this.#parts.adopted ? 'where it calls listen()' : `the option ${option}`) } =
      this.#parts.log.wording ?? {}
    return cause?.kind === 'start-failed' ? startAdvice(cause.error, label) : undefined
  }

  /** Whether failures are logged nowhere. */
  get isSilent(): boolean {
    return !this.#log.writes('error')
  }

  /** Of the stop under way. */
  get #profile(): StopProfile | undefined {
    return this.#actor?.getSnapshot().context.stop?.profile
  }

  // --- inside ------------------------------------------------------------------------------------

  /**
   * With invalid registrations start() rejects; the shutdown still runs, so that what the life owns
   * is destroyed.
   */
  #compose(): ComposedMachine {
    try {
      const composition = this.#composition()
      this.#health.checkReferences()
      checkReportFile(this.options.reportFile)
      return machineFor(composition)
    } catch (error) {
      this.#startError = error
      return machineFor({ mode: this.options.whileDraining })
    }
  }

  #composition() {
    const awaitsListen = this.#listeners.some((listener) => listener.awaitsOwner)
    return compositionOf(this.options, this.#registrations, awaitsListen)
  }

  #world(): World {
    return {
      host: this.host,
      traffic: this.#traffic,
      record: this.record,
      inContext: AsyncResource.bind((fn: () => unknown) => fn()) as <R>(fn: () => R) => R,
      listeners: async () => {
        const listeners = await this.#parts.openListeners(this.#traffic)
        const admin = await this.#adminListener()
        this.#listeners = [...listeners, ...admin, ...(await this.#debugSocket()), ...((await this.#observer?.open()) ?? [])]
        return this.#listeners
      },
      opened: () => this.#listeners,
      audit: this.options.audit,
      hook: (kind, name) => this.#registrations.find(kind, name),
      muxSignal: (name) => this.#registrations.muxSignals.get(name),
      comesBeforeClose: (kind, name) =>
        kind === 'pre-shutdown' || (kind === 'phase' && comesBefore('HTTPServerStoppedListening', name, this.#composed?.wiring ?? {})),
      causes: this.#causes,
      drains: this.#drains,
      older: this.#parts.older,
      listenerDied: (address, error) => {
        if (!error) return this.requestStop({ kind: 'server-closed' })
        this.#causes.keep(address, error)
        this.send({ type: 'listener.died', address, error: errorRecord(error) })
      },
      endsByItself: () => {
        const { stop } = this.#recorder.view
        return stop !== undefined && stop.reason?.kind !== 'server-closed'
      },
      flushLogs: () => {
        this.#lastWords.warnIfLate()
        return this.#log.flush()
      },
      writeReport: (signal) => {
        this.#lastWords.warnIfLate()
        return this.#lastWords.writeReport(this.exitCode, signal)
      },
      unseenWorkOver: (signal) => this.#unseenWorkOver(signal),
      writeReportNow: (why) => {
        this.#lastWords.warnIfLate()
        // The phase that is being cut has not told the root yet.
        const exitCode = why === 'cut' ? moreSevere(this.exitCode, 5) : this.exitCode
        this.#lastWords.write(exitCode)
      },
    }
  }

  /**
   * Only where this life ends the process: elsewhere what goes on is not cut. What was cut or
   * forced is said already.
   */
  async #unseenWorkOver(signal: AbortSignal): Promise<void> {
    const { host, options } = this
    if (this.#run === undefined || this.#released.signal.aborted || options.exit === 'natural') return
    if (!ProcessEnd.of(host.process).isLast || moreSevere(this.exitCode, 4) !== 4) return
    const left = await this.#unseenWork.over(leftUntil(this.#recorder.view, 'flush', this.elapsed), signal)
    if (!left) return
    this.record({ type: 'handlers', running: [{ name: `work that no request stands for (${left.what})`, ageMs: left.afterMs }] })
    this.record({ type: 'warning', message: workLeftWarning(left) })
    this.send({ type: 'work.left', exitCode: left.exitCode })
  }

  #ownMetrics(): readonly MetricFamily[] {
    const { metrics: words } = this.options.wording
    const { failures: sourceFailures } = this.#metrics
    const seen = { view: this.#recorder.view, gauges: this.gauges(), sourceFailures, now: this.elapsed, wallAtStart: this.#wallAtStart }
    return [...this.#health.requestMetrics(), this.#connectionMetric(), ...lifeMetrics(words, seen), ...(this.#parts.metrics?.() ?? [])]
  }

  #connectionMetric(): MetricFamily {
    const samples = this.#traffic.connectionsByProtocol.map(({ protocol, tls, open }) => ({ labels: { protocol, tls }, value: open }))
    return { ...this.options.wording.metrics.connections, type: 'gauge', samples }
  }

  async #adminListener(): Promise<Listener[]> {
    const { admin: target } = this.options
    if (!target) return []
    const sources = { health: this.#answeredHealth, metrics: this.metricsEndpoint }
    const { listener, answer } = await openAdminListener(this.host, this.#traffic, target, sources)
    this.#answerOnAdmin = answer
    return [listener]
  }

  get #answeredHealth(): Health | undefined {
    return this.options.health ? this.#health : undefined
  }

  /** Nothing that is served depends on it. */
  async #debugSocket(): Promise<Listener[]> {
    const { debugSocket: path } = this.options
    if (path === undefined) return []
    const { host } = this
    const sources = {
      health: this.#answeredHealth,
      clock: host.clock,
      look: () => ({ report: this.report, gauges: this.gauges(), progress: this.progress() ?? null }),
      resources: () => host.process.getActiveResourcesInfo(),
    }
    try {
      const { openDebugSocket } = await import('./debug-socket.ts')
      const { listener, answer } = await openDebugSocket(host, this.#traffic, path, sources)
      this.#answerOnAdmin ??= answer
      return [listener]
    } catch (error) {
      this.record({ type: 'error', where: 'debug socket', error: errorRecord(error) })
      return []
    }
  }

  #followed(): FollowedLife {
    return {
      clock: this.host.clock,
      subscribe: (listener) => this.#recorder.addSink(listener),
      record: this.record,
      look: () => {
        const progress = this.progress()
        return progress && { at: this.elapsed, headline: progress.headline, inFlight: inFlightOf(this.gauges()) }
      },
    }
  }

  /** What a signal leads to outside the machine, in the step in which it fires. */
  readonly #consequences: Readonly<Record<Consequence, () => void>> = {
    closePostStartHooks: () => this.#registrations.postStartHooks.close(),
    resolveStart: () => this.#served.resolve(),
    closePreShutdownHooks: () => this.#registrations.preShutdownHooks.close(),
    countFates: () => this.#traffic.initiateShutdown(),
    stopAccepting: () => {
      const leftMs = leftUntil(this.#recorder.view, 'requests', this.elapsed)
      const lastCallMs = this.#profile?.lastCallMs ?? 0
      const { requestDrainTimeoutMs = leftMs } = this.options
      this.#traffic.stopAccepting(lastCallMs, Math.min(leftMs, lastCallMs + requestDrainTimeoutMs), leftMs)
    },
  }

  /**
   * First sink: what the request path reads and what others wait for is set before any observer is
   * told.
   */
  readonly #latch = (event: LifecycleEvent): void => {
    switch (event.type) {
      case 'signal':
        if (event.does) this.#consequences[event.does]()
        if (event.name === 'Serving' || event.name === 'PostStartHooksDone') this.#unseenWork.servingBegins()
        this.#signals.fire(event.name)
        break
      case 'listening':
        if (!event.admin) this.#addresses.push({ url: event.url, address: event.address, port: event.port })
        break
      case 'hook.ended':
        if (event.kind === 'post-start' && event.outcome === 'ok') this.#finishedHooks.add(event.name)
        break
      case 'phase.started':
        if (event.phase === 'destroy') this.#registrations.destroyFunctions.close()
        break
      case 'phase.ended':
        if (event.outcome === 'failed') this.#startError ??= event.error
        break
    }
  }

  /** A crash is said by `run()`, which owns it, also without a place. */
  readonly #sayError = (event: LifecycleEvent): void => {
    if (event.type !== 'error' || event.times === 0 || isCrashEvent(event.where)) return
    if (this.#hasLogFailed || this.#output.hasNoLogger(this.#run !== undefined)) this.#saidErrors.say(event.where, event.error)
  }

  readonly #publish = publishEvents(this)
  readonly #tellUsers = (event: LifecycleEvent): void => {
    if (this.#held) this.#held.push(event)
    else {
      this.#publish(event)
      this.#events.next(event)
    }
  }

  /**
   * For debugging; the answers withhold the reasons.
   * @see kubernetes/apiserver pkg/server/healthz/healthz.go handleRootHealth
   */
  #healthFailed(endpoint: string, failed: readonly FailedCheck[]): void {
    const names = failed.map(({ name }) => name).join(',')
    this.#log.debug({ failed }, `${names} check failed: ${endpoint}`)
  }

  /** The endpoints withhold the reason, and a line for each probe is for debugging only. */
  #healthTurned(check: string, outcome: CheckOutcome): void {
    if (outcome.passed) this.#log.info({ check }, `health check ${show(check)} passes again`)
    else this.#log.warn({ check, reason: outcome.reason }, `health check ${show(check)} failed: ${outcome.reason}`)
  }

  /** The rows of this life, once it is composed. */
  get #wiring(): Wiring {
    return this.#composed?.wiring ?? {}
  }

  get #registered(): RegisteredWork {
    return registeredIn(this.options, this.#registrations, this.#wiring)
  }

  #registrationsChanged(): void {
    this.send({ type: 'pre-shutdown-hooks.changed', hooks: this.#registrations.plannedHooks() })
    this.send({ type: 'destroy-functions.changed', functions: this.#registrations.plannedDestroyFunctions() })
    this.send({ type: 'budget.changed', profiles: stopProfiles(this.options.plans, this.#registered) })
  }

  #end(): void {
    const report = this.report
    this.#finish(report, whyNotServed(report, this.#startError))
  }

  #finish(report: Report, whyNotServed: QuiesceError): void {
    this.#processExit?.[Symbol.dispose]()
    this.#lastWords.sayLostLines(this.exitCode)
    this.#lastWords.sayIfLate()
    this.#served.reject(whyNotServed)
    // Observers hear the last word first. An end by force does not wait for them.
    const resolve = (): void => this.#ended.resolve(report)
    const observed = this.#observer?.end(report, this.#lastWords.flushMs)
    if (observed && report.forced === null) observed.then(resolve, resolve)
    else resolve()
    this.#events.complete()
  }

  /**
   * The process ends in the middle of the life, by an exit that is not ours or because nothing
   * keeps it alive: names what is left and writes what must be written, in one synchronous step.
   * The process's exit code is not ours to change.
   */
  #processExits(exitCode: number): void {
    this.#processExit?.[Symbol.dispose]()
    // An observer may call process.exit() itself, after which nothing runs any more.
    const held: LifecycleEvent[] = []
    this.#held = held
    const own = moreSevere(this.exitCode, 1)
    this.record({ type: 'forced', why: 'process-exit', exitCode })
    const running = this.#traffic.runningHandlers()
    if (running.length > 0) this.record({ type: 'handlers', running })
    this.#drains.name()
    this.record({ type: 'ended', exitCode: own })
    this.#lastWords.write(own)
    const cut = this.#traffic.requestStragglers().length + this.#traffic.watchStragglers().length
    const reason = this.#recorder.view.stop?.reason
    const by = reason?.kind === 'crash' ? `; a listener of ${reason.origin} may have called process.exit(): leave the end to run()` : ''
    if (cut > 0) this.#lastWords.say(`the process exits with ${exitCode} before its server has ended: ${cut} in flight cut off${by}`)
    this.#lastWords.sayLostLines(own)
    this.#held = undefined
    for (const event of held) this.#tellUsers(event)
  }

  /**
   * The root machine itself has failed, which is a defect of ours: end what can be ended, outside
   * of it.
   */
  #lastResort(error: unknown): void {
    this.record({ type: 'error', where: 'lifecycle', error: errorRecord(toError(error)) })
    this.record({ type: 'forced', why: 'internal-error' })
    this.record({ type: 'ended', exitCode: 70 })
    for (const listener of this.#listeners) listener.close()
    this.#traffic.destroyConnections()
    this.#traffic.destroyAdminConnections()
    this.#lastWords.write(70)
    const report = this.#report.build(70)
    this.#finish(report, new QuiesceError('ERR_INTERNAL', 'the lifecycle itself has failed', { report }, error))
  }
}

const hiddenRoutesWarning = (paths: readonly string[]): string =>
  `routes of the application are never reached, because the option health answers their paths before it: ${paths.join(', ')}; ` +
  'make checks of what they look at, give the endpoints other paths (health.paths), or set health to false and have them fail while draining'

const workLeftWarning = ({ what, exitCode, afterMs }: WorkLeft): string =>
  `work that no request stands for went on when the destroy functions had run (${what}), and ` +
  `${exitCode === 4 ? `ended ${Math.round(afterMs)} ms later` : 'is cut by the end of the process'}: ` +
  'give its promise to waitUntil(request, promise) or hold(), and clear timers that are no longer needed'

const UNTIL = ['drained', 'draining'] as const

function checkedRecurring(name: unknown, period: Duration, work: unknown, { until = 'drained' }: RecurringOptions) {
  checkName('recurring work', name)
  const field = `period of every(${show(name)})`
  const periodMs = parseDuration(field, period)
  if (periodMs === 0) throw optionError(field, period, 'more than 0')
  checkFunction(`work of every(${show(name)})`, name, work)
  if (!UNTIL.includes(until)) throw optionError(`until of every(${show(name)})`, until, UNTIL.join(', '))
  return { checked: work as (context: HoldContext) => unknown, periodMs, until }
}

const disposeAll = (...disposables: Disposable[]): Disposable => ({
  [Symbol.dispose]: () => {
    for (const disposable of disposables) disposable[Symbol.dispose]()
  },
})
