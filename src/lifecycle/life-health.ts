import type { Clock } from '../base/clock.ts'
import { optionError, show } from '../base/errors.ts'
import { errorRecord } from '../base/events.ts'
import type { LifeEndpoints } from '../endpoints/of-life.ts'
import { Health, type HealthSettings, type HookCheckOptions, type LivezCheckOptions } from '../http/health/health.ts'
import type { Check, CheckOptions, CheckOutcome } from '../http/health/health-check.ts'
import type { FailedCheck } from '../http/health/health-endpoint.ts'
import { exchangeOf } from '../http/traffic/exchange.ts'
import { isExempt } from '../http/traffic/exempt.ts'
import { pathOf, type RequestLike } from '../http/url.ts'
import type { EventLog } from '../log/event-log.ts'
import type { ResolvedOptions } from '../options/options.ts'
import type { Recorder } from '../report/recorder.ts'
import type { RootActor } from './root-actor.ts'
import type { SignalLatches } from './signal-latches.ts'

export interface LifeHealthContext {
  readonly clock: Clock
  readonly options: ResolvedOptions
  readonly record: Recorder['record']
  readonly log: EventLog
  readonly signals: SignalLatches
  readonly root: RootActor
  readonly servesNothing: true | undefined
}

/** The health of one life: its endpoints, the checks of users, and what is said of both. */
export class LifeHealth {
  readonly endpoints: Health
  readonly #context: LifeHealthContext
  /** The names of the checks that users have added and not removed. */
  readonly #ownChecks = new Set<string>()
  #isMounted = false

  constructor(context: LifeHealthContext) {
    this.#context = context
    this.endpoints = this.further({ onFirstReady: () => context.root.send({ type: 'readyz.passed' }) })
  }

  /** Health endpoints of this life for a server behind the one that is run, without checks yet. */
  further(observer: Pick<HealthSettings, 'onFirstReady'> = {}): Health {
    const { clock, options, record, log, signals, root } = this.#context
    return new Health({
      clock,
      pendingMux: () => root.pendingMux(),
      isStarting: () => root.hasBegun && !signals.hasFired('Serving'),
      isShuttingDown: () => signals.hasFired('ShutdownInitiated'),
      livezGraceMs: options.livezGraceMs,
      metrics: options.wording.metrics,
      checkTimeoutMs: options.healthCheckTimeoutMs,
      lastFlushAgeMs: () => log.lastFlushAgeMs(),
      onFailed: (endpoint, failed) => this.#logFailure(endpoint, failed),
      onTurn: (name, outcome) => this.#logTurn(name, outcome),
      onError: (error) => record({ type: 'error', where: 'health', error: errorRecord(error) }),
      ...(options.health && { paths: options.health, extra: options.healthOptions.extra, answers: options.healthOptions }),
      ...observer,
    })
  }

  /** What listeners of the life answer with; undefined when health is off. */
  get answered(): Health | undefined {
    return this.#context.options.health ? this.endpoints : undefined
  }

  setReady(ready: boolean, reason: string | undefined): void {
    if (typeof ready !== 'boolean') throw optionError('setReady', ready, 'true, or false and a reason')
    if (reason !== undefined && typeof reason !== 'string') throw optionError('reason of setReady()', reason, 'text')
    this.endpoints.setReady(ready, reason)
    this.#context.log.info({ ready, ...(reason !== undefined && { why: reason }) }, 'readiness switched by hand')
  }

  addHealthzCheck(name: string, check: Check, options?: CheckOptions): Disposable {
    return this.#own(name, this.endpoints.addHealthzCheck(name, check, options))
  }

  addReadyzCheck(name: string, check: Check, options?: CheckOptions): Disposable {
    return this.#own(name, this.endpoints.addReadyzCheck(name, check, options))
  }

  addLivezCheck(name: string, check: Check, options?: LivezCheckOptions): Disposable {
    return this.#own(name, this.endpoints.addLivezCheck(name, check, options))
  }

  addCheck(name: string, check: Check, options?: CheckOptions): Disposable {
    return this.#own(name, this.endpoints.addCheck(name, check, options))
  }

  /**
   * The check of a post-start hook, which passes when the hook has returned. A check that cannot be
   * added takes the hook with it.
   */
  addPostStartHookCheck(name: string, hook: Disposable, hasFinished: () => boolean, options: HookCheckOptions): Disposable {
    try {
      const check = this.endpoints.addPostStartHookCheck(name, hasFinished, options)
      return {
        [Symbol.dispose]: () => {
          hook[Symbol.dispose]()
          check[Symbol.dispose]()
        },
      }
    } catch (error) {
      hook[Symbol.dispose]()
      throw error
    }
  }

  /**
   * Says that an endpoint of the life is mounted in an application. The gate lets probes and
   * scrapers in until the very end, by their paths: a prefix it knows from the option `exempt`
   * alone.
   */
  readonly mounted: LifeEndpoints['mounted'] = (what) => {
    const { options, record } = this.#context
    if (what === 'health') this.#isMounted = true
    let isWarned = false
    return (request: RequestLike) => {
      const exchange = isWarned ? undefined : exchangeOf(request)
      if (!exchange || isExempt(exchange.request, options.exempt)) return
      isWarned = true
      const path = show(pathOf(exchange.request.url ?? ''))
      const message = `${what} is mounted at ${path}, which is refused while draining: name the path, or one above it, in the option exempt`
      record({ type: 'warning', message })
    }
  }

  /** Checks of users that no endpoint answers, in a sentence; known when the life begins. */
  unreadChecks(): readonly string[] {
    const { options, servesNothing } = this.#context
    const isRead = options.health !== false && (!servesNothing || options.admin !== undefined)
    if (isRead || this.#isMounted || this.#ownChecks.size === 0) return []
    const remedy = servesNothing ? 'the option admin' : 'the option health'
    return [`health checks never run, because no health endpoint is answered (${remedy}): ${[...this.#ownChecks].join(', ')}`]
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

  /**
   * Logs what failed, for debugging; the answers withhold the reasons.
   * @see kubernetes/apiserver pkg/server/healthz/healthz.go handleRootHealth
   */
  #logFailure(endpoint: string, failed: readonly FailedCheck[]): void {
    const names = failed.map(({ name }) => name).join(',')
    this.#context.log.debug({ failed }, `${names} check failed: ${endpoint}`)
  }

  /** The endpoints withhold the reason, and a line for each probe is for debugging only. */
  #logTurn(check: string, outcome: CheckOutcome): void {
    const { log } = this.#context
    if (outcome.passed) log.info({ check }, `health check ${show(check)} passes again`)
    else log.warn({ check, why: outcome.reason }, `health check ${show(check)} failed: ${outcome.reason}`)
  }
}
