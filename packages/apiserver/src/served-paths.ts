import type { IncomingMessage, ServerResponse } from 'node:http'
import { apiExchangeOf } from './api-exchange.ts'
import type { BuiltInPath } from './built-in-paths.ts'
import type { Delegate } from './delegate.ts'
import { type FetchHandler, optionError, QuiesceError, requestListener, show } from './engine.ts'
import type { GroupInstaller } from './groups/group-installer.ts'
import { indexPage } from './mux/index-page.ts'
import { plainNotFound } from './mux/not-found.ts'
import { type ApiHandler, type Listing, PathMux } from './mux/path-mux.ts'
import { asOrdinary, takingOver, type UpgradeHandler } from './upgrades.ts'

/** An app with `fetch`, like one of Hono. */
export interface FetchApp {
  readonly fetch: FetchHandler
}

interface Parts {
  readonly groups: GroupInstaller
  readonly delegate: Delegate
  /** Whether a path that is not served is answered with those that are. */
  readonly hasIndex: boolean
  /** Is told of a path that had a handler, and where that one came from. */
  readonly onTwice: (path: string, registeredAt: string) => void
}

/**
 * What one server has behind the filters: the routes of its API groups, its paths, its upgrades,
 * and its delegate for all others.
 * @see kubernetes/apiserver pkg/server/handler.go APIServerHandler
 */
export class ServedPaths {
  readonly #groups: GroupInstaller
  readonly #delegate: Delegate
  readonly #mux: PathMux
  readonly #onTwice: Parts['onTwice']
  #upgrades: PathMux | undefined
  #takesUpgrades = true

  constructor({ groups, delegate, hasIndex, onTwice }: Parts) {
    this.#groups = groups
    this.#delegate = delegate
    this.#onTwice = onTwice
    const unserved = hasIndex ? indexPage(() => this.listed, 404) : plainNotFound
    this.#mux = new PathMux(delegate.handler ?? unserved, onTwice)
  }

  /**
   * Routes of API groups first, as they are this server's even where there is none; then paths, and
   * then the delegate.
   * @see kubernetes/apiserver pkg/server/handler.go director
   */
  readonly handler: ApiHandler = (request, response) => {
    const isOfGroup = this.#groups.claims(apiExchangeOf(request)?.info.path ?? '/')
    return (isOfGroup ? this.#groups.serve : this.#mux.serve)(request, response)
  }

  /** Answers upgrades, likewise; undefined when neither the server nor its delegates take any. */
  get upgrades(): ApiHandler | undefined {
    return this.#upgrades?.serve ?? this.#delegate.upgrades
  }

  /** Its own and its delegate's, sorted, each once. */
  get listed(): readonly string[] {
    return [...new Set([...this.#groups.listedPaths, ...this.#mux.listedPaths, ...this.#delegate.listedPaths])].sort()
  }

  /** What a path is registered as, here or in a delegate; undefined: it is not. */
  readonly routeOf = (path: string): string | undefined =>
    this.#groups.routeOf(path) ?? this.#mux.routeOf(path) ?? this.#delegate.routeOf?.(path)

  handle(path: string, handler: ApiHandler | FetchApp, options?: Listing): void {
    this.#mux.handle(path, handlerOf(path, handler), options)
  }

  handlePrefix(path: string, handler: ApiHandler | FetchApp, options?: Listing): void {
    this.#mux.handlePrefix(path, handlerOf(path, handler), options)
  }

  unregister(path: string): void {
    this.#mux.unregister(path)
  }

  handleAll(paths: readonly BuiltInPath[]): void {
    for (const { path, handler, isPrefix, isListed: listed = true } of paths)
      this.#mux[isPrefix ? 'handlePrefix' : 'handle'](path, handler, { listed })
  }

  /** The same for those that have no handler of their own yet. */
  handleMissing(paths: readonly BuiltInPath[]): void {
    this.handleAll(paths.filter(({ path }) => this.#mux.routeOf(path) !== path))
  }

  handleUpgrade(path: string, handler: UpgradeHandler): void {
    this.#upgradesFor(path, handler).handle(path, takingOver(handler))
  }

  handleUpgradePrefix(path: string, handler: UpgradeHandler): void {
    this.#upgradesFor(path, handler).handlePrefix(path, takingOver(handler))
  }

  /** Ends the registration of handlers of upgrades: whether there is any decides who is asked. */
  closeUpgrades(): void {
    this.#takesUpgrades = false
  }

  #upgradesFor(path: string, handler: UpgradeHandler): PathMux {
    if (!this.#takesUpgrades) throw new QuiesceError('ERR_TOO_LATE', `handleUpgrade(${show(path)}): the server has been prepared`, { path })
    checkHandler(path, handler)
    this.#upgrades ??= new PathMux((request, response) => (this.#delegate.upgrades ?? asOrdinary)(request, response), this.#onTwice)
    return this.#upgrades
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
