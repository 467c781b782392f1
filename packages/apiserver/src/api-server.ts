import { assembleApiServer } from './assemble.ts'
import { firstPaths, lastPaths, openApiPaths } from './built-in-paths.ts'
import { type CompletedConfig, isCompleted } from './config.ts'
import { type Delegate, notFoundDelegate } from './delegate.ts'
import {
  type Check,
  type CheckOptions,
  checkArguments,
  type DestroyOptions,
  HEALTH_ENDPOINTS,
  type Health,
  type Host,
  type InspectedRoot,
  type Life,
  type LivezCheckOptions,
  optionError,
  type PreShutdownHookOptions,
  QuiesceError,
  type ServedLife,
  type StopCode,
  type StopCodeContext,
  show,
  systemHost,
  type UserCodeContext,
  withFields,
} from './engine.ts'
import { Facts } from './facts.ts'
import type { ApiGroup } from './groups/api-group.ts'
import { awaitedGroups } from './groups/awaited-groups.ts'
import type { GroupInstaller } from './groups/group-installer.ts'
import type { Resource } from './groups/resource/define-resource.ts'
import type { WriteBarrier } from './groups/write-barrier.ts'
import { installerFor } from './groups-of-server.ts'
import { LoopbackBeforeLife, type WithLoopback, withLoopback } from './loopback/before-life.ts'
import type { Loopback, LoopbackClient } from './loopback/loopback.ts'
import type { ApiHandler, Listing } from './mux/path-mux.ts'
import { ApiServerRegistrations } from './registrations.ts'
import type { RequestMetrics } from './request-metrics.ts'
import { type FetchApp, ServedPaths } from './served-paths.ts'
import { StorageReadiness } from './storage-readiness.ts'
import type { UpgradeHandler } from './upgrades.ts'

export interface ApiServerParts {
  /** The name for errors and logs. Default `apiserver`. */
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

/**
 * Upstream's has a loop that keeps the watermark; here requests keep it, and the hook is there for
 * probes that ask for it by its name.
 */
const WATERMARK_HOOK = 'max-in-flight-filter'

const A_ROOT = withFields('what createActor() of xstate returned', 'sessionId', 'system')

/** Upstream's is always there; without TLS it has nothing to say. */
const LOOPBACK_CHECK = 'loopback-serving-certificate'

export class ApiServer implements Delegate {
  readonly name: string
  readonly config: CompletedConfig
  /** @see kubernetes/apiserver pkg/server/genericapiserver.go NextDelegate */
  readonly nextDelegate: Delegate
  readonly registered = new ApiServerRegistrations()
  /** Storages, and the hook that waits for them; those of a delegate are its own. */
  readonly storageReadiness: StorageReadiness
  readonly #host: Host
  readonly #metrics: RequestMetrics | undefined
  readonly #facts = new Facts()
  readonly #loopback = new LoopbackBeforeLife()
  readonly #groups: GroupInstaller
  readonly #served: ServedPaths
  readonly #watched: InspectedRoot[] = []
  #life: ServedLife | undefined
  #isPrepared = false

  constructor(host: Host, config: CompletedConfig, { name = 'apiserver', delegate = notFoundDelegate(), metrics }: ApiServerParts) {
    this.name = name
    this.config = config
    this.#host = host
    this.nextDelegate = delegate
    this.#metrics = metrics
    this.registered.addCheck(['healthz', 'livez'], LOOPBACK_CHECK, this.#loopback.check)
    this.registered.inherit(delegate.registered)
    if (!this.registered.hasPostStartHook(WATERMARK_HOOK)) this.registered.addPostStartHook(WATERMARK_HOOK, () => {})
    this.storageReadiness = new StorageReadiness(host.clock, config.storageInitializationTimeoutMs, this.#facts.record)
    this.#groups = installerFor({
      host,
      config,
      name,
      delegate,
      facts: this.#facts,
      registered: this.registered,
      storageReadiness: this.storageReadiness,
      watch: (root) => this.watchActors(root),
    })
    this.#served = new ServedPaths({
      groups: this.#groups,
      delegate,
      hasIndex: config.enableIndex,
      onTwice: (path, registeredAt) => this.#facts.warn(`duplicate path registration of ${show(path)}`, { path, registeredAt }),
    })
    this.#served.handleAll(firstPaths(config, this.#groups, () => this.listedPaths))
  }

  /**
   * A client of the server that is run, whichever of a row this one is: for hooks, and for what a
   * server does by itself. It belongs to the same listeners, and ends with them.
   */
  get loopback(): LoopbackClient {
    return this.#loopback
  }

  /** Enters it behind the filters. */
  get handler(): ApiHandler {
    return this.#served.handler
  }

  /** The handler of upgrades, likewise; undefined when neither it nor its delegates take any. */
  get upgrades(): ApiHandler | undefined {
    return this.#served.upgrades
  }

  /** Its own and its delegate's, sorted, each once. */
  get listedPaths(): readonly string[] {
    return this.#served.listed
  }

  /** What a path is registered as, here or in a delegate; undefined: it is not. */
  routeOf(path: string): string | undefined {
    return this.#served.routeOf(path)
  }

  /** Roots of the actors that {@link watchActors} was given, and of its delegate's. */
  readonly actors = (): readonly InspectedRoot[] => [...this.#watched, ...(this.nextDelegate.actors?.() ?? [])]

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
    this.#served.handleMissing(openApiPaths(this.config, this.#groups))
    return installed
  }

  /**
   * Installs groups like {@link installApiGroups} that have to be found first, such as definitions
   * in a database. It is a mux-complete signal: until they are there, unknown paths are answered
   * with 503, and what has become of it is seen in the inspector and in the report.
   * @returns what takes them back, or keeps them from being installed
   * @throws QuiesceError ERR_TOO_LATE once it is prepared, ERR_OPTION_INVALID
   * @example
   * server.installApiGroupsWhen('definitions', readDefinitions().then(groupsOf))
   */
  installApiGroupsWhen(name: string, groups: PromiseLike<readonly ApiGroup[]>): Disposable {
    const awaited = awaitedGroups(name, groups, (all) => this.installApiGroups(...all))
    this.addMuxCompleteSignal(name, awaited.installed)
    this.#groups.expect()
    return awaited
  }

  /**
   * The same for the group without a name, below `/api`.
   * @see kubernetes/apiserver pkg/server/genericapiserver.go InstallLegacyAPIGroup
   */
  installLegacyApiGroup(prefix: '/api', group: ApiGroup): Disposable {
    const installed = this.#groups.installLegacy(prefix, group)
    this.#served.handleMissing(openApiPaths(this.config, this.#groups))
    return installed
  }

  /**
   * Says that a garbage collector looks after the objects of these kinds, of this server and those
   * behind it: who deletes one with `Foreground` or `Orphan` has it stay until the collector has
   * done its part. `addGarbageCollector()` does this; a collector in another program needs it to be
   * called. Without a collector such objects would never be gone, so the default is that requests
   * for it change nothing.
   * @throws QuiesceError ERR_OPTION_INVALID
   * @see kubernetes/apiserver pkg/registry/generic/options.go RESTOptions.EnableGarbageCollection
   */
  enableGarbageCollection(...resources: readonly Resource[]): void {
    this.#groups.collect(resources)
    this.nextDelegate.enableGarbageCollection?.(...resources)
  }

  /**
   * Has writes of objects that are kept, of this server and those behind it, be answered with 503
   * and `Retry-After` for as long as a barrier says why: `addStorageVersions()` has one. It is
   * asked about each write, behind all filters; reads pass.
   * @throws QuiesceError ERR_OPTION_INVALID
   * @see kubernetes/apiserver pkg/endpoints/filters/storageversion.go
   */
  holdWrites(barrier: WriteBarrier): void {
    this.#groups.hold(barrier)
    this.nextDelegate.holdWrites?.(barrier)
  }

  /**
   * Serves exactly this path, with every method. A second handler for a path takes the place of the
   * first, and that is logged. Also while serving: the next request is answered by it. An unlisted
   * one is not named by the index. What has `fetch`, as a Hono app, is given the whole path.
   * @throws QuiesceError ERR_OPTION_INVALID for a path without its first slash, or no function
   * @see kubernetes/apiserver pkg/server/mux/pathrecorder.go Handle, UnlistedHandle
   */
  handle(path: string, handler: ApiHandler | FetchApp, options?: Listing): void {
    this.#served.handle(path, handler, options)
  }

  /**
   * Handles, like {@link handle}, every path that begins with this one and has no handler of its
   * own.
   * @throws QuiesceError ERR_OPTION_INVALID also for one that does not end in a slash
   * @see kubernetes/apiserver pkg/server/mux/pathrecorder.go HandlePrefix, UnlistedHandlePrefix
   */
  handlePrefix(path: string, handler: ApiHandler | FetchApp, options?: Listing): void {
    this.#served.handlePrefix(path, handler, options)
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
    this.#served.handleUpgrade(path, handler)
  }

  /**
   * Handles upgrades, like {@link handleUpgrade}, of every path that begins with this one, which
   * ends in a slash.
   */
  handleUpgradePrefix(path: string, handler: UpgradeHandler): void {
    this.#served.handleUpgradePrefix(path, handler)
  }

  /** Takes the handlers of a path away. */
  unregister(path: string): void {
    this.#served.unregister(path)
  }

  /**
   * Adds a hook like {@link Life.addPostStartHook}; it is given the server's {@link loopback}
   * client, too.
   */
  addPostStartHook(name: string, run: (context: UserCodeContext & WithLoopback) => unknown): Disposable {
    return this.registered.addPostStartHook(name, withLoopback(this.#loopback, run))
  }

  /**
   * Whether this server, or one behind it, has a post-start hook of that name: for code that adds
   * one unless it is there.
   */
  hasPostStartHook(name: string): boolean {
    checkArguments('hasPostStartHook(name)', [name, 'a text'])
    return this.registered.hasPostStartHook(name)
  }

  /**
   * Adds a hook like {@link Life.addPreShutdownHook}; it is given the server's {@link loopback}
   * client, too.
   */
  addPreShutdownHook(
    name: string,
    run: (context: StopCodeContext & WithLoopback) => unknown,
    options?: PreShutdownHookOptions,
  ): Disposable {
    return this.registered.addPreShutdownHook(name, withLoopback(this.#loopback, run), options)
  }

  /**
   * Writes a warning into the log and into the report: for what a server does beside its requests.
   * Before the server is prepared, the warning waits until it is.
   */
  warn(message: string, details: Readonly<Record<string, unknown>> = {}): void {
    checkArguments('warn(message, details?)', [message, 'a text'], [details, 'an object'])
    this.#facts.warn(message, details)
  }

  /**
   * Has the inspector, and what the option `inspect` names, see the actors of a further system, as
   * they see those of the server's stores and elections. Also while serving.
   * @param root what `createActor()` of xstate returned
   * @throws QuiesceError ERR_OPTION_INVALID
   * @example
   * const brewing = createActor(brewingMachine)
   * server.watchActors(brewing)
   */
  watchActors(root: InspectedRoot): void {
    checkArguments('watchActors(root)', [root, A_ROOT])
    this.#watched.push(root)
    this.#life?.watchActors(root)
  }

  /** Adds a signal like {@link Life.addMuxCompleteSignal}. */
  addMuxCompleteSignal(name: string, complete: AbortSignal | PromiseLike<unknown>): Disposable {
    return this.registered.addMuxCompleteSignal(name, complete)
  }

  /** Adds a function like {@link Life.addDestroy}; those of delegates are called after it. */
  addDestroy(name: string, run: StopCode, options?: DestroyOptions): Disposable {
    return this.registered.addDestroy(name, run, options)
  }

  /** Names of the mux-complete signals of this server and its delegates. */
  get muxCompleteSignals(): readonly string[] {
    return this.registered.muxCompleteSignals
  }

  /** Adds a check like {@link Life.addHealthCheck}: on all three endpoints. */
  addHealthCheck(name: string, check: Check, options?: CheckOptions): Disposable {
    return this.registered.addCheck(HEALTH_ENDPOINTS, name, check, options)
  }

  /**
   * Adds a check like {@link Life.addHealthzCheck}; servers around this one have it on all three
   * endpoints.
   */
  addHealthzCheck(name: string, check: Check, options?: CheckOptions): Disposable {
    return this.registered.addCheck(['healthz'], name, check, options)
  }

  /** Adds a check like {@link Life.addReadyzCheck}. */
  addReadyzCheck(name: string, check: Check, options?: CheckOptions): Disposable {
    return this.registered.addCheck(['readyz'], name, check, options)
  }

  /** Adds a check like {@link Life.addLivezCheck}. */
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
    const { life, loopback, forgetCounts } = assembleApiServer({
      host: this.#host,
      config: this.config,
      facts: this.#facts,
      served: this.#served,
      actors: this.actors,
      metrics: this.#metrics,
    })
    this.#life = life
    this.#loopback.become(loopback)
    this.registered.giveTo(life)
    this.nextDelegate.prepareFor(life, loopback)
    this.#serveLastPaths(life, life.health, forgetCounts)
    return new PreparedApiServer(life)
  }

  /**
   * Prepares a delegate: what it destroys is destroyed by the server that is run, after its own; it
   * has health endpoints of its own, which answer for what the servers around it have not.
   */
  prepareFor(life: ServedLife, loopback: Loopback): void {
    this.#claim()
    this.#life = life
    this.#loopback.become(loopback)
    this.registered.giveDestroysTo(life)
    this.nextDelegate.prepareFor(life, loopback)
    const health = life.furtherHealth()
    this.registered.giveHealthTo(life, health)
    this.#facts.recordBy(life.record)
    this.#serveLastPaths(life, health)
  }

  #claim(): void {
    if (this.#isPrepared)
      throw new QuiesceError('ERR_TOO_LATE', `prepare() of ${show(this.name)}: it has been prepared`, { name: this.name })
    this.#isPrepared = true
    this.#served.closeUpgrades()
  }

  #serveLastPaths(life: ServedLife, health: Health, forgetCounts = nothingToForget): void {
    health.install()
    const { clock } = this.#host
    this.#served.handleAll(lastPaths(this.config, { clock, life, health, listedPaths: () => this.listedPaths, forgetCounts }))
  }
}

/** Requests are counted by the server that is run. */
const nothingToForget = (): void => {}

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

  /** Runs the server like {@link Life.run}. */
  run(): ReturnType<Life['run']> {
    return this.life.run()
  }
}
