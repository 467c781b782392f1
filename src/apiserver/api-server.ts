import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Host, systemHost } from '../actors/host.ts'
import type { StopCode, UserCode } from '../actors/user-code.ts'
import { optionError, QuiesceError, show } from '../base/errors.ts'
import { errorRecord } from '../base/events.ts'
import { createServerOn } from '../create-server.ts'
import type { ExchangeView, PlacedStep } from '../http/chain.ts'
import { isThenable } from '../http/emit-gate.ts'
import { HEALTH_ENDPOINTS, type Health, type LivezCheckOptions } from '../http/health/health.ts'
import type { Check, CheckOptions } from '../http/health/health-check.ts'
import { exchangeOf } from '../http/traffic/exchange.ts'
import type { FailureAnswer } from '../http/traffic/recovery.ts'
import type { Life } from '../lifecycle/life.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import type { DestroyOptions, PreShutdownHookOptions } from '../lifecycle/registrations.ts'
import { ApiExchange, apiExchangeOf, infoOf } from './api-exchange.ts'
import type { Auditing } from './audit/auditing.ts'
import { auditingFrom } from './audit/from-options.ts'
import { audit } from './chain/audit.ts'
import { auditInit } from './chain/audit-init.ts'
import { cacheControl } from './chain/cache-control.ts'
import { buildChain, overFor, type Parts, pass, passNow } from './chain/chain.ts'
import { Deadlines } from './chain/deadlines.ts'
import type { PlacedFilter } from './chain/filter.ts'
import { hsts } from './chain/hsts.ts'
import { muxComplete } from './chain/mux-complete.ts'
import { panicRecovery } from './chain/panic-recovery.ts'
import { requestDeadline } from './chain/request-deadline.ts'
import { requestInfoFilter } from './chain/request-info.ts'
import { timeOut, timeout } from './chain/timeout.ts'
import { type CompletedConfig, isCompleted } from './config.ts'
import { type Delegate, notFoundDelegate } from './delegate.ts'
import { apiGroupsPage } from './mux/api-groups.ts'
import { indexPage } from './mux/index-page.ts'
import { plainNotFound } from './mux/not-found.ts'
import { type ApiHandler, type Listing, PathMux } from './mux/path-mux.ts'
import { versionPage } from './mux/version.ts'
import { Registered } from './registered.ts'
import { NO_METRICS, type RequestMetrics } from './request-metrics.ts'

export interface ApiServerParts {
  /** For errors and logs. Default `apiserver`. */
  readonly name?: string
  /** What answers paths that this server has not. Default: nothing does. */
  readonly delegate?: Delegate
  /** What filters count, of the server that is run. Default: nothing does. */
  readonly metrics?: RequestMetrics
}

/**
 * A generic API server. Its handlers are by path; what it has not goes to its delegate, and filters
 * are passed once, those of the server that is run.
 *
 * Hooks, checks and mux-complete signals of a delegate become its own when it is created, so they
 * have to be added before; after {@link prepare} nothing can be added.
 * @throws QuiesceError ERR_OPTION_INVALID for a config that {@link completeConfig} has not made,
 * ERR_DUPLICATE for a hook that the delegate has, too
 * @see kubernetes/apiserver pkg/server/config.go completedConfig.New
 */
export function createApiServer(config: CompletedConfig, parts: ApiServerParts = {}): ApiServer {
  return createApiServerOn(systemHost, config, parts)
}

/** `createApiServer` in a given world, which may be the test kit's. */
export function createApiServerOn(host: Host, config: CompletedConfig, parts: ApiServerParts = {}): ApiServer {
  if (!isCompleted(config)) throw optionError('config', config, 'what completeConfig() returns')
  return new ApiServer(host, config, parts)
}

type Warning = Parameters<Lifecycle['record']>[0]

/** What filters need of the life. */
interface Given {
  readonly isComplete: () => boolean
  readonly deadlines: Deadlines
  readonly requestTimeoutMs: number
  /** Undefined: nothing is recorded. */
  readonly auditing: Auditing | undefined
}

export class ApiServer implements Delegate {
  readonly name: string
  readonly config: CompletedConfig
  readonly registered = new Registered()
  readonly #host: Host
  readonly #mux: PathMux
  readonly #delegate: Delegate
  readonly #metrics: RequestMetrics
  #isPrepared = false
  /** Warnings, until there is a life to say them. */
  readonly #unsaid: Warning[] = []
  #say = (warning: Warning): void => void this.#unsaid.push(warning)

  constructor(
    host: Host,
    config: CompletedConfig,
    { name = 'apiserver', delegate = notFoundDelegate(), metrics = NO_METRICS }: ApiServerParts,
  ) {
    this.name = name
    this.config = config
    this.#host = host
    this.#delegate = delegate
    this.#metrics = metrics
    this.registered.inherit(delegate.registered)
    const unserved = delegate.handler ?? (config.enableIndex ? indexPage(() => this.listedPaths, 404) : plainNotFound)
    this.#mux = new PathMux(unserved, (path, registeredAt) =>
      this.#say({ type: 'warning', message: `duplicate path registration of ${show(path)}`, details: { path, registeredAt } }),
    )
    if (config.enableIndex)
      for (const path of ['/', '/index.html'])
        this.#mux.handle(
          path,
          indexPage(() => this.listedPaths),
          { listed: false },
        )
    const version = versionPage(config.version)
    this.#mux.handle('/version', version)
    this.#mux.handlePrefix('/version/', version, { listed: false })
    if (!config.enableDiscovery) return
    const groups = apiGroupsPage()
    this.#mux.handle('/apis', groups)
    this.#mux.handle('/apis/', groups, { listed: false })
  }

  /** Enters it behind the filters. */
  get handler(): ApiHandler {
    return this.#mux.serve
  }

  /** Its own and its delegate's, sorted, each once. */
  get listedPaths(): readonly string[] {
    return [...new Set([...this.#mux.listedPaths, ...this.#delegate.listedPaths])].sort()
  }

  /**
   * Serves exactly this path, with every method. A second handler for a path takes the place of the
   * first, and that is logged. Also while serving: the next request is answered by it. An unlisted
   * one is not named by the index.
   * @throws QuiesceError ERR_OPTION_INVALID for a path without its first slash, or no function
   * @see kubernetes/apiserver pkg/server/mux/pathrecorder.go Handle, UnlistedHandle
   */
  handle(path: string, handler: ApiHandler, options?: Listing): void {
    checkHandler(path, handler)
    this.#mux.handle(path, handler, options)
  }

  /**
   * As {@link handle}, for every path that begins with this one and has no handler of its own.
   * @throws QuiesceError ERR_OPTION_INVALID also for one that does not end in a slash
   * @see kubernetes/apiserver pkg/server/mux/pathrecorder.go HandlePrefix, UnlistedHandlePrefix
   */
  handlePrefix(path: string, handler: ApiHandler, options?: Listing): void {
    checkHandler(path, handler)
    this.#mux.handlePrefix(path, handler, options)
  }

  /** Takes the handlers of a path away. */
  unregister(path: string): void {
    this.#mux.unregister(path)
  }

  /** As {@link Life.addPostStartHook}. */
  addPostStartHook(name: string, run: UserCode): Disposable {
    return this.registered.addPostStartHook(name, run)
  }

  /** As {@link Life.addPreShutdownHook}. */
  addPreShutdownHook(name: string, run: StopCode, options?: PreShutdownHookOptions): Disposable {
    return this.registered.addPreShutdownHook(name, run, options)
  }

  /** As {@link Life.addMuxCompleteSignal}. */
  addMuxCompleteSignal(name: string, complete: AbortSignal | PromiseLike<unknown>): Disposable {
    return this.registered.addMuxCompleteSignal(name, complete)
  }

  /** As {@link Life.addDestroy}; those of delegates are called after it. */
  addDestroy(name: string, run: StopCode, options?: DestroyOptions): Disposable {
    return this.registered.addDestroy(name, run, options)
  }

  /** Names of the mux-complete signals of this server and its delegates. */
  get muxCompleteSignals(): readonly string[] {
    return this.registered.muxCompleteSignals
  }

  /** As {@link Life.addHealthCheck}: on all three endpoints. */
  addHealthCheck(name: string, check: Check, options?: CheckOptions): Disposable {
    return this.registered.addCheck(HEALTH_ENDPOINTS, name, check, options)
  }

  /** As {@link Life.addHealthzCheck}; servers around this one have it on all three endpoints. */
  addHealthzCheck(name: string, check: Check, options?: CheckOptions): Disposable {
    return this.registered.addCheck(['healthz'], name, check, options)
  }

  /** As {@link Life.addReadyzCheck}. */
  addReadyzCheck(name: string, check: Check, options?: CheckOptions): Disposable {
    return this.registered.addCheck(['readyz'], name, check, options)
  }

  /** As {@link Life.addLivezCheck}. */
  addLivezCheck(name: string, check: Check, options?: LivezCheckOptions): Disposable {
    return this.registered.addCheck(['livez'], name, check, options)
  }

  /**
   * Puts the chain in front of the handlers and installs what has to be there last: health,
   * metrics. To be called once, on the server that is run.
   * @throws QuiesceError ERR_TOO_LATE for the second call
   * @see kubernetes/apiserver pkg/server/genericapiserver.go PrepareRun
   */
  prepare(): PreparedApiServer {
    this.#claim()
    let chain: Parts
    let over: (exchange: ApiExchange) => void
    const steps: PlacedStep[] = [
      {
        name: 'chain-outer',
        before: 'retry-after',
        admit: (view) => passNow(chain.outer, begin(view)),
        over: (view) => over(seen(view)),
      },
      { name: 'chain-between', after: 'retry-after', admit: (view) => passNow(chain.between, seen(view)) },
    ]
    const listener: ApiHandler = (request, response) => {
      const exchange = exchangeAtHandler(request, response)
      exchange.outerHeaders = response.getHeaders()
      const verdict = pass(chain.inner, exchange)
      if (typeof verdict === 'boolean') return verdict ? this.#handle(exchange) : undefined
      return verdict.then((isLetPass) => (isLetPass ? this.#handle(exchange) : undefined))
    }
    let recovery: FailureAnswer
    const { isLongRunning, engine } = this.config
    const auditing = auditingFrom(
      { ...this.config, audit: engine.audit },
      {
        ...this.#host,
        failed: (plugin, error) => life.record({ type: 'error', where: `audit ${plugin}`, error: errorRecord(error) }),
      },
    )
    const options = {
      ...engine,
      ...(auditing && { audit: auditing }),
      longRunning: (request: Parameters<typeof infoOf>[0]) => isLongRunning(infoOf(request)),
      steps,
      health: true,
    }
    const life = createServerOn(this.#host, { listener }, options, undefined, {
      healthIsHandlers: true,
      failureAnswer: (exchange, thrown) => recovery(exchange, thrown),
    })
    recovery = panicRecovery(this.#host.clock, life.log, this.#metrics)
    const deadlines = new Deadlines(this.#host.clock, timeOut(life.log, this.#metrics))
    void life.ended.then(() => deadlines.close())
    const isComplete = life.signal('MuxAndDiscoveryComplete')
    chain = buildChain(
      this.#filters({ isComplete: () => isComplete.aborted, deadlines, requestTimeoutMs: life.options.requestTimeoutMs, auditing }),
      this.config.filters,
    )
    over = overFor(chain, (filter, error) => life.record({ type: 'error', where: `filter ${filter}`, error: errorRecord(error) }))
    this.registered.giveTo(life)
    this.#delegate.prepareFor(life)
    this.#install(life, life.health)
    this.#speakThrough(life)
    return new PreparedApiServer(life)
  }

  /**
   * As a delegate: what it destroys is destroyed by the server that is run, after its own; it has
   * health endpoints of its own, which answer for what the servers around it have not.
   */
  prepareFor(life: Lifecycle): void {
    this.#claim()
    this.registered.giveDestroysTo(life)
    this.#delegate.prepareFor(life)
    const health = life.furtherHealth()
    this.registered.giveHealthTo(life, health)
    this.#install(life, health)
    this.#speakThrough(life)
  }

  #speakThrough(life: Lifecycle): void {
    this.#say = life.record
    for (const warning of this.#unsaid.splice(0)) life.record(warning)
  }

  #claim(): void {
    if (this.#isPrepared)
      throw new QuiesceError('ERR_TOO_LATE', `prepare() of ${show(this.name)}: it has been prepared`, { name: this.name })
    this.#isPrepared = true
  }

  #handle(exchange: ApiExchange): unknown {
    const returned = this.handler(exchange.request, exchange.response)
    if (isThenable(returned)) exchange.handling = returned
    return returned
  }

  /** Those of the chain that are always there, or that the config asks for. */
  #filters({ isComplete, deadlines, requestTimeoutMs, auditing }: Given): readonly PlacedFilter[] {
    const { config } = this
    const perhaps = [
      auditInit,
      muxComplete(isComplete),
      requestInfoFilter(config.isLongRunning),
      hsts(config.hstsDirectives),
      cacheControl,
      requestDeadline(deadlines, requestTimeoutMs, auditing?.recordFailure),
      timeout,
      audit(auditing),
    ]
    return perhaps.filter((filter) => filter !== undefined)
  }

  #install({ answerMetrics }: Lifecycle, health: Health): void {
    health.install()
    const answer: ApiHandler = (request, response) => {
      if (!health.handle(request, response)) plainNotFound(request, response)
    }
    for (const endpoint of HEALTH_ENDPOINTS)
      for (const path of [`/${endpoint}`, ...health.checkNames(endpoint).map((check) => `/${endpoint}/${check}`)])
        this.#mux.handle(path, answer)
    if (!this.config.enableMetrics) return
    for (const path of ['/metrics', '/metrics/slis'])
      this.#mux.handle(path, (request, response) => {
        answerMetrics(request, response)
      })
  }
}

function checkHandler(path: unknown, handler: unknown): void {
  if (typeof path !== 'string' || !path.startsWith('/')) throw optionError('path', path, 'a path that begins with a slash')
  if (typeof handler !== 'function') throw optionError(`handler of ${path}`, handler, 'a function (request, response)')
}

/**
 * A server with everything installed: it can be run, and nothing else.
 * @see kubernetes/apiserver pkg/server/genericapiserver.go preparedGenericAPIServer
 */
export class PreparedApiServer {
  /** The one life of the whole chain. */
  readonly life: Life

  constructor(life: Life) {
    this.life = life
  }

  /** As {@link Life.run}. */
  run(): ReturnType<Life['run']> {
    return this.life.run()
  }
}

function begin(view: ExchangeView): ApiExchange {
  if (view.response === undefined) throw new QuiesceError('ERR_INTERNAL', 'an API server takes no upgrades')
  return new ApiExchange(view, view.response, infoOf(view.request))
}

const seen = ({ request }: ExchangeView): ApiExchange => apiExchangeOf(request) as ApiExchange

/** Over HTTP/2 a handler gets objects of node's, which the steps have not seen. */
function exchangeAtHandler(request: IncomingMessage, response: ServerResponse): ApiExchange {
  const known = apiExchangeOf(request)
  if (known) return known
  const exchange = seen(exchangeOf(request) as ExchangeView)
  exchange.handOver(request, response)
  return exchange
}
