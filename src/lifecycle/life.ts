import type { Observable } from 'rxjs/internal/Observable'
import type { BoundAddress } from '../actors/listen-target.ts'
import type { StopCode, UserCode } from '../actors/user-code.ts'
import type { Duration } from '../base/duration.ts'
import type { LifecycleEvent } from '../base/events.ts'
import type { LivezCheckOptions } from '../http/health/health.ts'
import type { Check, CheckOptions } from '../http/health/health-check.ts'
import type { HoldContext } from '../http/traffic/holds.ts'
import type { Counts } from '../http/traffic/traffic-snapshot.ts'
import type { SignalName } from '../machines/signals.ts'
import type { MetricSource, OwnMetrics } from '../metrics/family.ts'
import type { StopOptions } from '../options/stop-options.ts'
import type { Report } from '../report/report.ts'
import type { DestroyOptions, PhaseOptions, PreShutdownHookOptions } from './registrations.ts'

/** How {@link Life.every} goes on. */
export interface RecurringOptions {
  /**
   * `drained`: as long as the drain waits for requests or holds; `draining`: until nothing new is
   * accepted. Default `drained`.
   */
  readonly until?: 'drained' | 'draining' | undefined
}

/**
 * A server's life: what belongs to it is registered, it is started, it ends once, and it says what
 * happened. `createServer`, `attachLifecycle` and `createLife` make one. Two lives in one process
 * share nothing but the process.
 *
 * Every `add…` returns a Disposable that takes away what was added, as long as it is not too late
 * for that, and throws a QuiesceError: ERR_NAME_MISSING and ERR_FUNCTION_MISSING for what is
 * missing, ERR_DUPLICATE for a name that is taken (`details.registeredAt` says where), ERR_TOO_LATE
 * when it is too late to take effect, ERR_OPTION_INVALID for an option that cannot be used.
 */
export interface Life extends AsyncDisposable {
  /**
   * Serves until stopped, as the main job of the process: OS signals (the option `signals`),
   * crashes, the IPC message `shutdown`, the option `signal`, and in a worker of `node:cluster` the
   * end of its channel to the primary stop it; other listeners of these signals and of crashes run
   * too, and are warned about.
   * Always resolves with the report, whose `errors` hold every failure; sets `process.exitCode` if
   * it is unset, and ends a process that is still alive a second later, unless the option `exit` is
   * `natural`. An exit code that is not 0 is said on standard error in one line, with what led to
   * it, unless the option `logger` is `false`. On a terminal it shows what the end waits for, and
   * prints a timeline of it (the option `pretty`). Of several lives that run in one process the
   * last one ends it, with the most severe of their exit codes. When something else ends the
   * process before that, by `process.exit()`, what is left of the log and the report are written in
   * one step, of at most the flush reserve, and its exit code stays. A second call returns the same
   * promise.
   * @throws QuiesceError ERR_WORKER_THREAD outside the main thread; ERR_IMPORT_ONLY at once, in a
   * module that the command line only imports
   * @example
   * const { exitCode } = await createServer(app, { port: 8080 }).run()
   */
  run(): Promise<Report>

  /**
   * Gives the process back that `run()` owns, while the life goes on: OS signals, crashes and the
   * IPC message `shutdown` do what they do to any process, or what the program has them do, and the
   * end of the life neither sets the exit code nor ends the process. `stop()`, the option `signal`
   * and the promise of `run()` stay as they are. Before `run()`, after the end, and a second time
   * it does nothing.
   * @example
   * const ended = life.run()
   * life.releaseProcess()
   * process.once('SIGTERM', () => void life.stop('SIGTERM'))
   */
  releaseProcess(): void

  /**
   * Starts the server, and owns nothing of the process; that it ends in the middle of the life is
   * heard, and the option `signal` stops it, as with `run()`. Resolves when it serves and every
   * post-start hook has been started; rejects, after everything that was acquired has been
   * released, when it could not start (ERR_START with the cause) or was stopped before it served
   * (ERR_STOPPED_DURING_START). `details.report` is the report. A second call starts nothing, and
   * settles as the first one did; of a life that has served and was stopped it rejects with
   * ERR_TOO_LATE.
   * @example
   * await life.start()
   * console.log(life.addresses[0]?.url)
   */
  start(): Promise<void>

  /**
   * Ends the life in order and resolves with the report; never exits, and rejects only for an
   * argument that cannot be used. A second call changes nothing, unless it means `now`, and
   * resolves with the same report. A hook that awaits it waits for itself, until its timeout, and
   * the handler of a request until the deadline: call it without `await` there. Before `start()`
   * there is nothing to take leave of: it drains what is in flight, closes an attached server and
   * runs what was registered to be destroyed. When that server listens already, the report and the
   * log warn that pre-shutdown hooks were not run and clients were not told.
   *
   * `stop({ now: true })` ends it by force, in one step and with exit code 1, as a second OS signal
   * does: connections are closed, what was under way is named in the report, destroy functions are
   * not called any more. Under `run()` the process ends with it.
   *
   * @param given a reason, which stands in the report (default: `stop() was called`), or more: see
   * {@link StopOptions}. For an error, give its message
   * @throws QuiesceError ERR_OPTION_INVALID, as a rejection, for what cannot be used; nothing has
   * been stopped then
   * @example
   * const report = await life.stop({ reason: 'deploy', deadline: '10s' })
   */
  stop(given?: string | StopOptions): Promise<Report>

  /** Stops, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>

  /**
   * Resolves with the report when the life has ended, whatever ended it; never rejects. It does not
   * begin before the life is started or stopped.
   */
  readonly ended: Promise<Report>

  /** Where it listens; empty before it does. The admin listener is not among them. */
  readonly addresses: readonly BoundAddress[]

  /**
   * An AbortSignal that aborts when the lifecycle signal `name` fires; the same object every time
   * it is asked for.
   * @throws QuiesceError ERR_UNKNOWN_REFERENCE for a name that no phase fires
   * @example
   * life.signal('NotAcceptingNewRequest').addEventListener('abort', () => consumer.pause())
   */
  signal(name: SignalName | (string & {})): AbortSignal

  /**
   * Every event of this life, as it happens; completes with the end. Observers run in the same step
   * and should return soon; one that throws does not disturb the life, but its error is an uncaught
   * exception, as always with rxjs, and under `run()` a crash.
   * @example
   * life.events$.subscribe((event) => {
   *   if (event.type === 'signal') console.log(event.name, event.outcome)
   * })
   */
  readonly events$: Observable<LifecycleEvent>

  /**
   * Makes work that is not HTTP part of the request drain: with `work`, until it has settled (its
   * result is returned); without, until the returned Disposable is disposed. Rejects with the error
   * of `work`. A refusal, or work that ends by its signal, causes no unhandled rejection when
   * nothing handles it.
   * A refused hold is counted (`counts().rejected.hold`), and the first ones are named in warnings.
   * @throws QuiesceError ERR_NOT_ACCEPTING from NotAcceptingNewRequest on, without having called
   * `work`
   * @example
   * await life.hold('send mail', ({ signal }) => mailer.send(message, { signal }))
   */
  hold(name: string): Disposable
  hold<T>(name: string, work: (context: HoldContext) => T | PromiseLike<T>): Promise<T>

  /**
   * Runs `work` every `period`: the first time one period after the server began to serve, and for
   * the last time before the request drain is over, so that locks and heartbeats of requests and
   * holds are kept as long as these are waited for. Each run is part of the request drain, as with
   * {@link hold}; a drain that waits for nothing else has no further one. Runs never overlap: what
   * falls into a run that is still under way is left out. A run that throws is logged and stands in
   * the report; the next one comes all the same.
   *
   * Work that takes in something new, as a poll of a queue does, ends with `{ until: 'draining' }`
   * before NotAcceptingNewRequest.
   *
   * @param period above 0
   * @returns what ends it before the drain does; a run that is under way is still waited for
   * @throws QuiesceError ERR_NAME_MISSING, ERR_FUNCTION_MISSING, ERR_OPTION_INVALID, and
   * ERR_TOO_LATE from NotAcceptingNewRequest on
   * @example
   * life.every('publish', '5s', () => outbox.publish())
   * life.every('publish until a stop', '5s', () => outbox.publish(), { until: 'draining' })
   */
  every(name: string, period: Duration, work: (context: HoldContext) => unknown, options?: RecurringOptions): Disposable

  /**
   * What is in flight now, and how many connections are open. Looks at every connection: for
   * metrics and tests, not for every request.
   * @example
   * gauge.set(life.counts().requests)
   */
  counts(): Counts

  /**
   * Switches readiness by hand, as often as needed and also before the life begins: while it is
   * off, `/readyz` fails by the check `set-ready`, with the reason at `/readyz/set-ready`; while it
   * is on, the other checks decide. It changes nothing else: requests are served, liveness stays,
   * and a shutdown is red whatever was said here.
   * @param reason default: `not ready`
   * @throws QuiesceError ERR_OPTION_INVALID
   * @example
   * life.setReady(false, 'maintenance')
   */
  setReady(ready: boolean, reason?: string): void

  /**
   * Adds a check to `/healthz` only.
   * @example
   * life.addHealthzCheck('disk', () => disk.free() > 1e9)
   */
  addHealthzCheck(name: string, check: Check, options?: CheckOptions): Disposable

  /**
   * Adds a check to `/readyz` only. Too late once the life has begun, as for every check.
   * @example
   * life.addReadyzCheck('db', () => pool.query('select 1'), { timeout: '500ms' })
   */
  addReadyzCheck(name: string, check: Check, options?: CheckOptions): Disposable

  /**
   * Adds a check to `/livez` only.
   * @example
   * life.addLivezCheck('loop', () => loop.lagMs() < 1_000, { delay: '30s' })
   */
  addLivezCheck(name: string, check: Check, options?: LivezCheckOptions): Disposable

  /**
   * Adds a check to `/healthz`, `/livez` and `/readyz`.
   * @example
   * life.addHealthCheck('cache', ({ signal }) => cache.ping({ signal }))
   */
  addHealthCheck(name: string, check: Check, options?: CheckOptions): Disposable

  /**
   * Adds a function that runs once the server serves, side by side with traffic; `/readyz` is red
   * until it has ended. It may run as long as the server: its signal is aborted when the listener
   * is told to stop, also when it has returned by then, for work that it has started. One that ends
   * by its signal has not failed. When it fails, the server stops in order, exit code 4. Too late
   * once it serves.
   * @see kubernetes/apiserver pkg/server/hooks.go AddPostStartHook
   * @example
   * life.addPostStartHook('warm', async ({ signal }) => {
   *   await cache.warm({ signal })
   * })
   */
  addPostStartHook(name: string, run: UserCode): Disposable

  /**
   * Adds a function that runs when a stop is requested, while the server still serves; too late
   * after that. Hooks run one after the other, in the order in which they were added; one with
   * `after` runs as soon as the hooks named there have ended, and with `after: []` at once. All of
   * them share the time until `Cut.hooks`: one that takes it all keeps those behind it from
   * running, which every summary says. Failing or timing out costs exit code 4 and stops nothing.
   * It is told why: `({ reason }) => reason.kind === 'crash' && reason.error`, the Error itself.
   * The server closes after it: its `close()`, or that of its framework, belongs into {@link
   * addDestroy}. Called here, it is called back at once instead of waiting for itself, and the
   * report warns.
   * @throws QuiesceError ERR_CYCLE when hooks would wait for each other; an `after` that names no
   * hook is refused by `start()`
   * @see kubernetes/apiserver pkg/server/hooks.go AddPreShutdownHook
   * @example
   * life.addPreShutdownHook('leave', () => registry.leave(), { timeout: '2s' })
   */
  addPreShutdownHook(name: string, run: StopCode, options?: PreShutdownHookOptions): Disposable

  /**
   * Adds a function that runs when nothing uses the server any more, one after the other, on every
   * end. They run in the order of registration, or as the option `destroyOrder` says (after a
   * failed start in reverse), but each after those that its `after` names. It is told why, as a
   * pre-shutdown hook is. Too late once they run.
   * @throws QuiesceError ERR_CYCLE when they would wait for each other; an `after` that names none
   * is refused by `start()`
   * @see kubernetes/apiserver pkg/server/genericapiserver.go RegisterDestroyFunc
   * @example
   * life.addDestroy('queue', () => queue.close())
   * life.addDestroy('pool', () => pool.end(), { after: ['queue'] })
   */
  addDestroy(name: string, run: StopCode, options?: DestroyOptions): Disposable

  /**
   * Adds a phase of your own to the life, drawn, bounded and reported like ours. It fires the
   * signal `<Name>Done`. Too late once the life has begun. Phases may name each other in any
   * order: an `after` or `before` that names nothing is refused by `start()`, a built-in name that
   * is misspelt at once. In a phase that the listeners close after, the server's `close()` is
   * called back at once, as in a pre-shutdown hook.
   * @throws QuiesceError ERR_DUPLICATE also for the name of a phase of ours, ERR_CYCLE when phases
   * would wait for each other, ERR_UNKNOWN_REFERENCE
   * @example
   * life.addPhase('flush', () => outbox.publish(), { after: ['RequestsDrained'] })
   */
  addPhase(name: string, run: UserCode, options?: PhaseOptions): Disposable

  /**
   * Makes MuxAndDiscoveryComplete wait for this signal or promise, too. A promise that rejects
   * counts as a signal that never comes: MuxAndDiscoveryComplete does not fire, the server serves
   * on, and the life ends with exit code 4. What it answers after a stop was requested is reported
   * as late and changes nothing. Too late once the life has begun.
   * @see kubernetes/apiserver pkg/server/genericapiserver.go RegisterMuxAndDiscoveryCompleteSignal
   * @example
   * life.addMuxCompleteSignal('routes', loadRoutes())
   */
  addMuxCompleteSignal(name: string, complete: AbortSignal | PromiseLike<unknown>): Disposable

  /**
   * What its own `/metrics` says of it, for a registry that prints it among others: see
   * `registerInto`. Made when it is asked for.
   * @example
   * const told = life.metrics.collect().find(({ name }) => name === 'quiesce_connections_notified')
   */
  readonly metrics: OwnMetrics

  /**
   * Has `/metrics` print further metrics: those of a `MetricRegistry`, or of a prom-client registry
   * as `fromPromClient` gives them. A name is printed once: a source that says a name later which
   * is there already loses that family, and one that fails its whole part of that scrape; both is
   * reported as an error.
   * @returns takes it away again; a second time it does nothing
   * @throws QuiesceError ERR_DUPLICATE for a name that is there, ERR_OPTION_INVALID
   * @example
   * const metrics = new MetricRegistry()
   * const jobs = metrics.counter({
   *   name: 'jobs_total',
   *   help: 'Jobs done, by queue.',
   *   labels: ['queue'],
   * })
   * life.addMetrics(metrics)
   * jobs.with('mail').add()
   */
  addMetrics(source: MetricSource): Disposable
}
