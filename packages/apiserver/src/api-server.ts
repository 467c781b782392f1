import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ApiExchange, apiExchangeOf } from './api-exchange.ts'
import { auditFailures } from './audit/audit-failures.ts'
import { type AuditCounters, auditCounters } from './audit/auditing.ts'
import { auditingFrom } from './audit/from-options.ts'
import { clientCasFrom } from './authentication/client-cas.ts'
import { authenticates, authenticatorFrom } from './authentication/from-options.ts'
import { authorizerFrom } from './authorization/from-options.ts'
import { recordCut, recordTimedOut } from './chain/audit.ts'
import { buildChain } from './chain/chain.ts'
import { Deadlines } from './chain/deadlines.ts'
import type { FilterFailed } from './chain/filter.ts'
import { type InFlightSeats, inFlightMetric, maxInFlight, Seats } from './chain/max-in-flight.ts'
import { filtersFor } from './chain/order.ts'
import { panicRecovery } from './chain/panic-recovery.ts'
import { Passage } from './chain/passage.ts'
import { timeOut } from './chain/timeout.ts'
import { warnOn } from './chain/warnings.ts'
import { type CompletedConfig, isCompleted } from './config.ts'
import { type Delegate, notFoundDelegate } from './delegate.ts'
import {
  type Check,
  type CheckOptions,
  createServedLife,
  type DestroyOptions,
  errorRecord,
  type FailureAnswer,
  type FetchHandler,
  HEALTH_ENDPOINTS,
  type Health,
  type Host,
  isThenable,
  type Life,
  type LivezCheckOptions,
  optionError,
  type PreShutdownHookOptions,
  QuiesceError,
  requestListener,
  type ServedLife,
  type StopCode,
  type StopCodeContext,
  show,
  systemHost,
  type UserCodeContext,
} from './engine.ts'
import type { ApiGroup } from './groups/api-group.ts'
import { DISCOVERY_TYPES } from './groups/discovery/pages.ts'
import { GroupInstaller } from './groups/group-installer.ts'
import { OPENAPI_ROOT } from './groups/openapi/pages.ts'
import { OPENAPI_V2 } from './groups/openapi/v2-page.ts'
import { Loopback, type LoopbackClient, notListening } from './loopback/loopback.ts'
import { ApiMetrics } from './metrics/api-metrics.ts'
import { auditMetrics } from './metrics/audit-metrics.ts'
import { indexPage } from './mux/index-page.ts'
import { metricsPage } from './mux/metrics-page.ts'
import { plainNotFound } from './mux/not-found.ts'
import { type ApiHandler, type Listing, PathMux } from './mux/path-mux.ts'
import { profilesPage, toProfiles } from './mux/profiles.ts'
import { restRoute } from './mux/rest-route.ts'
import { statuszPage } from './mux/statusz.ts'
import { versionPage } from './mux/version.ts'
import { ApiServerRegistrations } from './registrations.ts'
import { TAKEN_OVER, UPGRADE } from './request/upgrade.ts'
import { NO_METRICS, type RequestMetrics } from './request-metrics.ts'
import { type StorageProbe, StorageReadiness } from './storage-readiness.ts'
import { asOrdinary, takingOver, type UpgradeHandler } from './upgrades.ts'

/** Something with `fetch`, as a Hono app is. */
export interface FetchApp {
  readonly fetch: FetchHandler
}

export interface ApiServerParts {
  /** For errors and logs. Default `apiserver`. */
  readonly name?: string
  /** What answers paths that this server has not. Default: nothing does. */
  readonly delegate?: Delegate
  /** What counts requests, of the server that is run. Default: what `/metrics` prints of them. */
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

type Warning = Parameters<ServedLife['record']>[0]

/**
 * Upstream's has a loop that keeps the watermark; here requests keep it, and the hook is there for
 * probes that ask for it by its name.
 */
const WATERMARK_HOOK = 'max-in-flight-filter'

/** Waits for the storages of API groups. */
const STORAGE_HOOK = 'storage-readiness'

/** Upstream's is always there; without TLS it has nothing to say. */
const LOOPBACK_CHECK = 'loopback-serving-certificate'

/** What a hook of an API server is given beside what every hook is. */
export interface WithLoopback {
  /** As {@link ApiServer.loopback}. */
  readonly loopback: LoopbackClient
}

export class ApiServer implements Delegate {
  readonly name: string
  readonly config: CompletedConfig
  readonly registered = new ApiServerRegistrations()
  /**
   * A client of the server that is run, whichever of a row this one is: for hooks, and for what a
   * server does by itself. It belongs to the same listeners, and ends with them.
   */
  readonly loopback: LoopbackClient = {
    fetch: async (path, init) => {
      if (this.#loopback === undefined) throw notListening(path, 'it has not been prepared')
      return this.#loopback.fetch(path, init)
    },
  }
  #loopback: Loopback | undefined
  /** Storages, and the hook that waits for them; those of a delegate are its own. */
  readonly storageReadiness: StorageReadiness
  readonly #host: Host
  readonly #mux: PathMux
  readonly #groups: GroupInstaller
  #life: ServedLife | undefined
  readonly #delegate: Delegate
  #upgrades: PathMux | undefined
  readonly #metrics: RequestMetrics
  /** Undefined: nothing is printed of it. */
  readonly #counted: ApiMetrics | undefined
  readonly #seats: InFlightSeats
  #isPrepared = false
  #awaitsStorages = false
  /** Warnings, until there is a life to say them. */
  readonly #unsaid: Warning[] = []
  #say = (warning: Warning): void => void this.#unsaid.push(warning)
  readonly #sayTwice = (path: string, registeredAt: string): void =>
    this.#say({ type: 'warning', message: `duplicate path registration of ${show(path)}`, details: { path, registeredAt } })

  constructor(host: Host, config: CompletedConfig, { name = 'apiserver', delegate = notFoundDelegate(), metrics }: ApiServerParts) {
    this.name = name
    this.config = config
    this.#host = host
    this.#delegate = delegate
    this.#counted = metrics === undefined && config.enableMetrics ? new ApiMetrics(host.clock, this.routeOf) : undefined
    this.#metrics = metrics ?? this.#counted ?? NO_METRICS
    this.storageReadiness = new StorageReadiness(host.clock, config.storageInitializationTimeoutMs, (fact) => this.#say(fact))
    this.#seats = {
      readOnly: new Seats(config.maxRequestsInFlight, host.clock),
      mutating: new Seats(config.maxMutatingRequestsInFlight, host.clock),
    }
    const failed = (error: unknown): void => this.#say({ type: 'error', where: 'API groups', error: errorRecord(error) })
    this.#groups = new GroupInstaller({
      world: {
        clock: host.clock,
        random: host.random,
        warn: (exchange, text) => warnOn(exchange, '', text),
        admission: config.admission ?? [],
        bodyMax: config.maxRequestBodyBytes,
        failed,
      },
      warn: (message) => this.#say({ type: 'warning', message }),
      delegated: () => delegate.apiGroups ?? [],
      storages: {
        awaitReady: (resource, probe) => this.#awaitStorage(resource, probe),
        failed,
        destroyAtEnd: (destroy) => (this.#life ?? this.registered).addDestroy(`${name}-storages`, destroy),
      },
      info: { title: 'Generic API Server', version: config.version['gitVersion'] || 'unversioned' },
    })
    this.registered.addCheck(['healthz', 'livez'], LOOPBACK_CHECK, () => this.#loopback?.check())
    this.registered.inherit(delegate.registered)
    if (!this.registered.hasPostStartHook(WATERMARK_HOOK)) this.registered.addPostStartHook(WATERMARK_HOOK, () => {})
    const unserved = delegate.handler ?? (config.enableIndex ? indexPage(() => this.listedPaths, 404) : plainNotFound)
    this.#mux = new PathMux(unserved, this.#sayTwice)
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
    const groups = restRoute({ root: '/apis', produces: DISCOVERY_TYPES, get: this.#groups.root })
    this.#mux.handle('/apis', groups)
    this.#mux.handle('/apis/', groups, { listed: false })
  }

  /** @see kubernetes/apiserver pkg/server/genericapiserver.go NextDelegate */
  get nextDelegate(): Delegate {
    return this.#delegate
  }

  /** Enters it behind the filters. */
  get handler(): ApiHandler {
    return this.#direct
  }

  /**
   * Routes of API groups first, as they are this server's even where there is none; then paths, and
   * then the delegate.
   * @see kubernetes/apiserver pkg/server/handler.go director
   */
  readonly #direct: ApiHandler = (request, response) => {
    const isOfGroup = this.#groups.claims(apiExchangeOf(request)?.info.path ?? '/')
    return (isOfGroup ? this.#groups.serve : this.#mux.serve)(request, response)
  }

  /** Of upgrades, likewise; undefined when neither it nor its delegates take any. */
  get upgrades(): ApiHandler | undefined {
    return this.#upgrades?.serve ?? this.#delegate.upgrades
  }

  /** Its own and its delegate's, sorted, each once. */
  get listedPaths(): readonly string[] {
    return [...new Set([...this.#groups.listedPaths, ...this.#mux.listedPaths, ...this.#delegate.listedPaths])].sort()
  }

  /** What a path is registered as, here or in a delegate; undefined: it is not. */
  readonly routeOf = (path: string): string | undefined =>
    this.#groups.routeOf(path) ?? this.#mux.routeOf(path) ?? this.#delegate.routeOf?.(path)

  /** Its own and its delegate's. */
  get apiGroups(): readonly ApiGroup[] {
    return this.#groups.allGroups
  }

  /**
   * Serves the resources of API groups below `/apis`, with their discovery and OpenAPI documents.
   * Their storages are waited for by the readiness of a server that has not been prepared yet, and
   * destroyed when it ends. Also while serving; then the next request is answered by them.
   * @returns what takes them back; their storages stay until the server ends
   * @throws QuiesceError ERR_OPTION_INVALID, ERR_DUPLICATE for a group that is there
   * @see kubernetes/apiserver pkg/server/genericapiserver.go InstallAPIGroups
   * @example
   * const versions = { v1: [{ resource: widgets, storage: memoryStorage().resource() }] }
   * server.installApiGroups(apiGroup({ group: 'demo.example', versions }))
   */
  installApiGroups(...groups: readonly ApiGroup[]): Disposable {
    const installed = this.#groups.install(groups)
    this.#serveOpenApi()
    return installed
  }

  /**
   * As {@link installApiGroups}, for groups that have to be found first, such as definitions in a
   * database. It is a mux-complete signal: until they are there, unknown paths are answered with
   * 503, and what has become of it is seen in the inspector and in the report.
   * @returns what takes them back, or keeps them from being installed
   * @throws QuiesceError ERR_TOO_LATE once it is prepared, ERR_OPTION_INVALID
   * @example
   * server.installApiGroupsWhen('definitions', readDefinitions().then(groupsOf))
   */
  installApiGroupsWhen(name: string, groups: PromiseLike<readonly ApiGroup[]>): Disposable {
    if (typeof (groups as PromiseLike<unknown> | undefined)?.then !== 'function')
      throw optionError(`groups of ${show(name)}`, groups, 'a promise of a list of groups')
    let isWanted = true
    let installed: Disposable | undefined
    const installing = Promise.resolve(groups).then((all) => {
      if (isWanted) installed = this.installApiGroups(...all)
    })
    this.addMuxCompleteSignal(name, installing)
    this.#groups.expect()
    return {
      [Symbol.dispose]: () => {
        isWanted = false
        installed?.[Symbol.dispose]()
      },
    }
  }

  /**
   * The same for the group without a name, below `/api`.
   * @see kubernetes/apiserver pkg/server/genericapiserver.go InstallLegacyAPIGroup
   */
  installLegacyApiGroup(prefix: '/api', group: ApiGroup): Disposable {
    const installed = this.#groups.installLegacy(prefix, group)
    this.#serveOpenApi()
    return installed
  }

  #serveOpenApi(): void {
    if (!this.config.enableOpenApi || this.#mux.routeOf(OPENAPI_ROOT) !== undefined) return
    this.#mux.handle(OPENAPI_V2, this.#groups.openApiV2)
    this.#mux.handle(OPENAPI_ROOT, this.#groups.openApi)
    this.#mux.handlePrefix(`${OPENAPI_ROOT}/`, this.#groups.openApi)
  }

  #awaitStorage(resource: string, probe: StorageProbe): void {
    this.storageReadiness.register(resource, probe)
    if (this.#isPrepared || this.#awaitsStorages) return
    // That of a delegate has the name already.
    const hook = this.registered.hasPostStartHook(STORAGE_HOOK) ? `${STORAGE_HOOK}-${this.name}` : STORAGE_HOOK
    this.registered.addPostStartHook(hook, this.storageReadiness.hook)
    this.#awaitsStorages = true
  }

  /**
   * Serves exactly this path, with every method. A second handler for a path takes the place of the
   * first, and that is logged. Also while serving: the next request is answered by it. An unlisted
   * one is not named by the index. What has `fetch`, as a Hono app, is given the whole path.
   * @throws QuiesceError ERR_OPTION_INVALID for a path without its first slash, or no function
   * @see kubernetes/apiserver pkg/server/mux/pathrecorder.go Handle, UnlistedHandle
   */
  handle(path: string, handler: ApiHandler | FetchApp, options?: Listing): void {
    this.#mux.handle(path, handlerOf(path, handler), options)
  }

  /**
   * As {@link handle}, for every path that begins with this one and has no handler of its own.
   * @throws QuiesceError ERR_OPTION_INVALID also for one that does not end in a slash
   * @see kubernetes/apiserver pkg/server/mux/pathrecorder.go HandlePrefix, UnlistedHandlePrefix
   */
  handlePrefix(path: string, handler: ApiHandler | FetchApp, options?: Listing): void {
    this.#mux.handlePrefix(path, handlerOf(path, handler), options)
  }

  /**
   * Takes over the upgrades of exactly this path, which have passed all filters. A path without
   * such a handler answers an upgrade like any other request. The connection is a watch from then
   * on.
   * @param handler a listener of node's event `upgrade`
   * @throws QuiesceError ERR_TOO_LATE once it is prepared, ERR_OPTION_INVALID
   * @example
   * server.handleUpgrade('/ws', (...upgrade) => wss.handleUpgrade(...upgrade, serve))
   */
  handleUpgrade(path: string, handler: UpgradeHandler): void {
    this.#upgradeMux(path, handler).handle(path, takingOver(handler))
  }

  /** As {@link handleUpgrade}, for every path that begins with this one, which ends in a slash. */
  handleUpgradePrefix(path: string, handler: UpgradeHandler): void {
    this.#upgradeMux(path, handler).handlePrefix(path, takingOver(handler))
  }

  /** Takes the handlers of a path away. */
  unregister(path: string): void {
    this.#mux.unregister(path)
  }

  /** As {@link Life.addPostStartHook}; it is given the server's {@link loopback} client, too. */
  addPostStartHook(name: string, run: (context: UserCodeContext & WithLoopback) => unknown): Disposable {
    return this.registered.addPostStartHook(name, this.#withLoopback(run))
  }

  /**
   * Whether this server, or one behind it, has a post-start hook of that name: for code that adds
   * one unless it is there.
   */
  hasPostStartHook(name: string): boolean {
    return this.registered.hasPostStartHook(name)
  }

  /** As {@link Life.addPreShutdownHook}; it is given the server's {@link loopback} client, too. */
  addPreShutdownHook(
    name: string,
    run: (context: StopCodeContext & WithLoopback) => unknown,
    options?: PreShutdownHookOptions,
  ): Disposable {
    return this.registered.addPreShutdownHook(name, this.#withLoopback(run), options)
  }

  /** What is no function is refused by where it is registered. */
  #withLoopback<C extends UserCodeContext>(run: (context: C & WithLoopback) => unknown): (context: C) => unknown {
    return typeof run === 'function' ? (context) => run({ ...context, loopback: this.loopback }) : run
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
    const passage = new Passage(this.#metrics, (exchange) => this.#handle(exchange), this.handler)
    let recovery: FailureAnswer
    const { engine } = this.config
    const isAuthenticated = authenticates(this.config)
    const loopback = new Loopback(this.#host.clock, isAuthenticated)
    const authorizer = authorizerFrom(this.config)
    const isAuthorized = authorizer !== undefined && !this.config.authorizationMode?.includes('AlwaysAllow')
    const clientCas = clientCasFrom(this.config)
    const parts = { clock: this.#host.clock, loopbackToken: loopback.token, clientCas, isAuthorized }
    const authenticator = isAuthenticated ? authenticatorFrom(this.config, parts) : undefined
    this.#loopback = loopback
    const failedAt = (where: string, error: unknown): void => life.record({ type: 'error', where, error: errorRecord(error) })
    const auditing = auditingFrom(
      { ...this.config, audit: engine.audit },
      { ...this.#host, failed: auditFailures(this.#host.clock, (fact) => life.record(fact)) },
    )
    const options = {
      ...engine,
      ...(auditing && { audit: auditing }),
      // The filter request-info has been asked before.
      longRunning: (request: IncomingMessage) => apiExchangeOf(request)?.isLongRunning || undefined,
      steps: passage.steps,
      health: true,
    }
    const life = createServedLife(this.#host, { listener: passage.listener }, options, this.config.log, {
      healthIsHandlers: true,
      failureAnswer: (exchange, thrown) => recovery(exchange, thrown),
      metrics: () => [
        ...(this.config.flowControl ? [] : [inFlightMetric(this.#seats)]),
        ...auditMetrics(auditing?.counters),
        ...(this.#counted?.collect() ?? []),
      ],
      upgrade: this.upgrades && passage.upgrade,
      ownClient: loopback,
      furtherCas: clientCas.further,
      beforeListening: async () => {
        const warn = (message: string): void => life.record({ type: 'warning', message })
        const world = { clock: this.#host.clock, random: this.#host.random, warn }
        await clientCas.open(world)
        await authenticator?.open?.(world)
        await authorizer?.open?.({ ...this.#host, failed: (error) => failedAt('authorization', error), warn })
      },
    })
    for (const { code, message } of this.config.warnings) this.#say({ type: 'warning', message, details: { code } })
    if (auditing) auditing.beforeStop = () => recordCut(auditing, life.requestsUnderWay(), (error) => failedAt('filter audit', error))
    recovery = panicRecovery(this.#host.clock, life.log, this.#metrics)
    const deadlines = new Deadlines(this.#host.clock, timeOut(life.log, this.#metrics, auditing && recordTimedOut(auditing)))
    void life.ended.then(() => {
      deadlines.close()
      clientCas.close()
      authenticator?.close?.()
      authorizer?.close?.()
    })
    const isComplete = life.signal('MuxAndDiscoveryComplete')
    const { filters: users = [] } = this.config
    const failed: FilterFailed = (filter, error) => failedAt(`filter ${filter}`, error)
    const ours = filtersFor({
      ...this.#host,
      config: this.config,
      log: life.log,
      logsRequests: life.options.logger !== false,
      requestTimeoutMs: life.options.requestTimeoutMs,
      metrics: this.#metrics,
      flowControl: this.config.flowControl ?? maxInFlight(this.#seats),
      isComplete: () => isComplete.aborted,
      deadlines,
      auditing,
      clientCas,
      authenticator,
      authorizer,
      failed,
    })
    passage.open(buildChain(ours, users), users, failed)
    this.registered.giveTo(life)
    this.#delegate.prepareFor(life, loopback)
    this.#install(life, life.health, auditing?.counters)
    this.#speakThrough(life)
    return new PreparedApiServer(life)
  }

  /**
   * As a delegate: what it destroys is destroyed by the server that is run, after its own; it has
   * health endpoints of its own, which answer for what the servers around it have not.
   */
  prepareFor(life: ServedLife, loopback: Loopback): void {
    this.#claim()
    this.#loopback = loopback
    this.registered.giveDestroysTo(life)
    this.#delegate.prepareFor(life, loopback)
    const health = life.furtherHealth()
    this.registered.giveHealthTo(life, health)
    this.#install(life, health)
    this.#speakThrough(life)
  }

  #speakThrough(life: ServedLife): void {
    this.#life = life
    this.#say = life.record
    for (const warning of this.#unsaid.splice(0)) life.record(warning)
  }

  #claim(): void {
    if (this.#isPrepared)
      throw new QuiesceError('ERR_TOO_LATE', `prepare() of ${show(this.name)}: it has been prepared`, { name: this.name })
    this.#isPrepared = true
  }

  #upgradeMux(path: string, handler: UpgradeHandler): PathMux {
    if (this.#isPrepared) throw new QuiesceError('ERR_TOO_LATE', `handleUpgrade(${show(path)}): the server has been prepared`, { path })
    checkHandler(path, handler)
    this.#upgrades ??= new PathMux((request, response) => (this.#delegate.upgrades ?? asOrdinary)(request, response), this.#sayTwice)
    return this.#upgrades
  }

  #handle(exchange: ApiExchange): unknown {
    const { request, response } = exchange
    const handler = (UPGRADE.of(exchange) && this.upgrades) ?? this.handler
    const returned = handler(request, response)
    if (exchange.isLongRunning || TAKEN_OVER.of(exchange)) this.#metrics.lasts(exchange)
    if (!isThenable(returned)) return returned
    // One promise for all who wait for it: what begins when it is waited for would begin twice.
    exchange.handling = Promise.resolve(returned)
    return exchange.handling
  }

  #forget(audited: AuditCounters | undefined): void {
    this.#counted?.reset()
    if (audited) Object.assign(audited, auditCounters())
  }

  #install({ metricsEndpoint }: ServedLife, health: Health, audited?: AuditCounters): void {
    health.install()
    const answer: ApiHandler = (request, response) => {
      if (!health.handle(request, response)) plainNotFound(request, response)
    }
    for (const endpoint of HEALTH_ENDPOINTS)
      for (const path of [`/${endpoint}`, ...health.checkNames(endpoint).map((check) => `/${endpoint}/${check}`)])
        this.#mux.handle(path, answer)
    if (this.config.enableMetrics) {
      this.#mux.handle('/metrics', metricsPage(metricsEndpoint, this.config.enableProfiling ? () => this.#forget(audited) : undefined))
      this.#mux.handle('/metrics/slis', metricsPage(metricsEndpoint))
    }
    if (this.config.enableProfiling) {
      this.#mux.handle('/debug/pprof', toProfiles, { listed: false })
      this.#mux.handlePrefix('/debug/pprof/', profilesPage(this.#host.clock), { listed: false })
    }
    const { enableStatusz, version } = this.config
    if (enableStatusz)
      this.#mux.handle(
        '/statusz',
        statuszPage(this.#host.clock, version['gitVersion'] ?? '', () => this.listedPaths),
      )
  }
}

function checkPath(path: unknown): void {
  if (typeof path !== 'string' || !path.startsWith('/')) throw optionError('path', path, 'a path that begins with a slash')
}

function checkHandler(path: unknown, handler: unknown): void {
  checkPath(path)
  if (typeof handler !== 'function') throw optionError(`handler of ${String(path)}`, handler, 'a function (request, response)')
}

/** The adapter of an app is loaded for its first request. */
function handlerOf(path: string, handler: ApiHandler | FetchApp): ApiHandler {
  checkPath(path)
  if (typeof handler === 'function') return handler
  if (typeof (handler as FetchApp | null | undefined)?.fetch !== 'function')
    throw optionError(`handler of ${path}`, handler, 'a function (request, response), or an app with fetch')
  const load = requestListener(handler)
  let loaded: ReturnType<typeof load> | undefined
  return async (request, response) => {
    loaded ??= load()
    return (await loaded)(request, response as ServerResponse<IncomingMessage> & { req: IncomingMessage })
  }
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
