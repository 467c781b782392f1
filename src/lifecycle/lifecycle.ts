import type { Server } from 'node:net'
import type { Observable } from 'rxjs/internal/Observable'
import type { Host } from '../actors/host.ts'
import type { InspectedRoot } from '../actors/inspection.ts'
import type { BoundAddress } from '../actors/listen-target.ts'
import { recur } from '../actors/recurring.ts'
import type { StopCode, UserCode } from '../actors/user-code.ts'
import { didYouMean } from '../base/did-you-mean.ts'
import type { Duration } from '../base/duration.ts'
import { QuiesceError, show } from '../base/errors.ts'
import { errorRecord, type LifecycleEvent } from '../base/events.ts'
import { refuseWhileImportOnly } from '../base/import-only.ts'
import type { MetricsEndpoint } from '../endpoints/metrics-endpoint.ts'
import { ENDPOINTS, type LifeEndpoints } from '../endpoints/of-life.ts'
import type { ExchangeView } from '../http/chain.ts'
import type { Health, HookCheckOptions, LivezCheckOptions } from '../http/health/health.ts'
import type { Check, CheckOptions } from '../http/health/health-check.ts'
import type { HoldContext } from '../http/traffic/holds.ts'
import type { Counts } from '../http/traffic/traffic-snapshot.ts'
import type { EventLog } from '../log/event-log.ts'
import type { LifePlan } from '../machines/lifecycle.ts'
import type { SignalName } from '../machines/signals.ts'
import type { MetricSource, OwnMetrics } from '../metrics/family.ts'
import type { ResolvedOptions } from '../options/options.ts'
import type { StopOptions } from '../options/stop-options.ts'
import { expectStart } from '../process/never-started.ts'
import { runLifecycle } from '../process/run.ts'
import type { Recorder } from '../report/recorder.ts'
import type { Report } from '../report/report.ts'
import { hookKey } from '../report/view.ts'
import { assemble } from './assemble.ts'
import type { RecurringOptions } from './life.ts'
import type { LifecycleStatus } from './lifecycle-status.ts'
import type { LifecycleParts } from './parts.ts'
import { signalNamesOf } from './plan.ts'
import { checkedRecurring } from './recurring-options.ts'
import type { DestroyOptions, PhaseOptions, PreShutdownHookOptions } from './registrations.ts'
import type { RootActor } from './root-actor.ts'
import type { RunOfLife } from './run-of-life.ts'
import type { ServedLife } from './served-life.ts'

/**
 * What users hold of a life; behind `createServer`, `attachLifecycle` and `createLife`. It hands
 * each call to the part that answers it: assemble.ts makes and connects them. {@link ServedLife}
 * says what its public methods promise; the others are for what is built on a life, and for our
 * tests.
 */
export class Lifecycle implements ServedLife {
  readonly options: ResolvedOptions
  readonly host: Host
  readonly record: Recorder['record']
  /** How it stands now. */
  readonly status: LifecycleStatus
  /** Its machine. */
  readonly root: RootActor
  /** What `run()` has of it. */
  readonly running: RunOfLife
  readonly #parts: ReturnType<typeof assemble>
  readonly #expectedStart: ReturnType<typeof expectStart>
  #run: Promise<Report> | undefined

  constructor(parts: LifecycleParts) {
    this.options = parts.options
    this.host = parts.host
    this.#parts = assemble(this, parts)
    this.record = this.#parts.record
    this.status = this.#parts.status
    this.root = this.#parts.root
    this.running = this.#parts.run
    // A world of tests has no end that anything could be said at.
    const isExpected = parts.host.process === process && parts.options.logger !== false
    this.#expectedStart = isExpected ? expectStart(process, parts.host.clock, parts.adopted) : undefined
  }

  watchActors(root: InspectedRoot): void {
    this.#parts.beside.came(root)
  }

  // --- the course --------------------------------------------------------------------------------

  run(): Promise<Report> {
    refuseWhileImportOnly('run()')
    const { ownership, run } = this.#parts
    ownership.take()
    this.#run ??= runLifecycle(run, ownership.released)
    return this.#run
  }

  releaseProcess(): void {
    this.#parts.ownership.release()
  }

  start(): Promise<void> {
    refuseWhileImportOnly('start()')
    return this.#parts.course.start()
  }

  stop(given?: string | StopOptions): Promise<Report> {
    return this.#parts.course.stop(given)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('disposed')
  }

  get ended(): Promise<Report> {
    return this.#parts.ended.promise
  }

  get addresses(): readonly BoundAddress[] {
    return this.#parts.listeners.addresses
  }

  get events$(): Observable<LifecycleEvent> {
    return this.#parts.outlet.events$
  }

  signal(name: SignalName | (string & {})): AbortSignal {
    const known = signalNamesOf(this.options, this.#parts.registrations)
    if (!known.includes(name)) {
      throw new QuiesceError(
        'ERR_UNKNOWN_REFERENCE',
        `signal: got ${show(name)}${didYouMean(typeof name === 'string' ? name : '', known)}, allowed: ${known.join(', ')}`,
        { name },
      )
    }
    return this.#parts.signals.signal(name)
  }

  /**
   * What the life would be, without beginning it.
   * @param isForCheck the life may have been made to be checked, and not to be started
   */
  plan(isForCheck = false): LifePlan {
    if (isForCheck) this.#expectedStart?.isForCheck()
    return this.#parts.planner.plan()
  }

  // --- what belongs to it ------------------------------------------------------------------------

  addPostStartHook(name: string, run: UserCode, options: HookCheckOptions = {}): Disposable {
    const { registrations, health } = this.#parts
    const hook = registrations.addPostStartHook(name, run, options, this.options.disabledPostStartHooks)
    if (!hook) return { [Symbol.dispose]: () => {} }
    return health.addPostStartHookCheck(name, hook, () => this.hasFinishedHook(name), options)
  }

  addPreShutdownHook(name: string, run: StopCode, options?: PreShutdownHookOptions): Disposable {
    return this.#parts.registrations.addPreShutdownHook(name, run, options)
  }

  addDestroy(name: string, run: StopCode, options?: DestroyOptions): Disposable {
    return this.#parts.registrations.addDestroy(name, run, options)
  }

  addPhase(name: string, run: UserCode, options?: PhaseOptions): Disposable {
    return this.#parts.registrations.addPhase(name, run, options)
  }

  addMuxCompleteSignal(name: string, complete: AbortSignal | PromiseLike<unknown>): Disposable {
    return this.#parts.registrations.addMuxCompleteSignal(name, complete)
  }

  /** Whether this post-start hook has returned. */
  hasFinishedHook(name: string): boolean {
    return this.status.view.hooks.get(hookKey({ kind: 'post-start', name }))?.outcome === 'ok'
  }

  hold(name: string): Disposable
  hold<T>(name: string, work: (context: HoldContext) => T | PromiseLike<T>): Promise<T>
  hold<T>(name: string, work?: (context: HoldContext) => T | PromiseLike<T>): Disposable | Promise<T> {
    const { traffic } = this.#parts
    return work === undefined ? traffic.holds.take(name) : traffic.holds.run(name, work)
  }

  /**
   * Joins work that has begun to the drain, like {@link hold}: also while it drains, as long as
   * anything is waited for.
   */
  join(name: string, work: PromiseLike<unknown>): void {
    this.#parts.traffic.holds.join(name, work)
  }

  every(name: string, period: Duration, work: (context: HoldContext) => unknown, options: RecurringOptions = {}): Disposable {
    const { signals, traffic } = this.#parts
    const { checked, periodMs, until } = checkedRecurring(name, period, work, options)
    const draining = signals.signal('NotAcceptingNewRequest')
    if (draining.aborted) throw new QuiesceError('ERR_TOO_LATE', `every(${show(name)}): the server is draining`, { name })
    return recur(name, periodMs, checked, {
      clock: this.host.clock,
      hold: (held, run) => traffic.holds.recur(held, run),
      serving: signals.signal('Serving'),
      over: until === 'draining' ? draining : signals.signal('RequestsDrained'),
      failed: (thrown) => this.record({ type: 'error', where: `every ${show(name)}`, error: errorRecord(thrown) }),
    })
  }

  // --- traffic -----------------------------------------------------------------------------------

  counts(): Counts {
    return this.#parts.traffic.counts()
  }

  /** Whether they are waited for or not; those of the admin listener apart. */
  requestsUnderWay(): readonly ExchangeView[] {
    return this.#parts.traffic.snapshot.underWay()
  }

  /** Puts a server of the user's behind this life's gate. */
  takeOver(server: Server): Disposable {
    return this.#parts.traffic.takeOver(server)
  }

  // --- health, metrics and log -------------------------------------------------------------------

  setReady(ready: boolean, reason?: string): void {
    this.#parts.health.setReady(ready, reason)
  }

  addHealthzCheck(name: string, check: Check, options?: CheckOptions): Disposable {
    return this.#parts.health.addHealthzCheck(name, check, options)
  }

  addReadyzCheck(name: string, check: Check, options?: CheckOptions): Disposable {
    return this.#parts.health.addReadyzCheck(name, check, options)
  }

  addLivezCheck(name: string, check: Check, options?: LivezCheckOptions): Disposable {
    return this.#parts.health.addLivezCheck(name, check, options)
  }

  addHealthCheck(name: string, check: Check, options?: CheckOptions): Disposable {
    return this.#parts.health.addCheck(name, check, options)
  }

  /** The health endpoints, for a handler that answers them itself. */
  get health(): Health {
    return this.#parts.health.endpoints
  }

  /** Health endpoints of this life for a server behind the one that is run, without checks yet. */
  furtherHealth(): Health {
    return this.#parts.health.further()
  }

  get metrics(): OwnMetrics {
    return this.#parts.metrics.own
  }

  addMetrics(source: MetricSource): Disposable {
    return this.#parts.metrics.add(source)
  }

  get metricsEndpoint(): MetricsEndpoint {
    return this.#parts.metrics.endpoint
  }

  get [ENDPOINTS](): LifeEndpoints {
    const { health, applications } = this.#parts
    return {
      health: health.endpoints,
      metrics: this.metricsEndpoint,
      clock: this.host.clock,
      mounted: health.mounted,
      servedBy: (application) => void applications.push(application),
    }
  }

  /** The log for what is no event and stands in no report: the lines of single requests. */
  get log(): Pick<EventLog, 'writes' | 'debug' | 'error'> {
    return this.#parts.log
  }

  /** See {@link FinalOutput.sayUnrecorded}. */
  sayUnrecorded(fields: Readonly<Record<string, string>>, message: string): void {
    this.#parts.finalOutput.sayUnrecorded(fields, message)
  }
}
