import type { IncomingMessage, ServerResponse } from 'node:http'
import { apiExchangeOf } from '../api-exchange.ts'
import { checkArguments, optionError, stackOfCaller, withOptions } from '../engine.ts'
import { ROUTE } from '../request/route.ts'

/** A request listener of node; what it returns is waited for by the drain when it is a promise. */
export type ApiHandler = (request: IncomingMessage, response: ServerResponse) => unknown

export interface Listing {
  /** Default true. */
  readonly listed?: boolean
}

interface Entry {
  readonly handler: ApiHandler
  readonly isListed: boolean
  readonly registered: Error
}

/** Is told of a path that had a handler, and where that one came from. */
type OnTwice = (path: string, registeredAt: string) => void

/** What is looked at for a request: made anew at each change, so that none sees half of one. */
interface Table {
  readonly exact: ReadonlyMap<string, ApiHandler>
  /** The prefixes in the order in which they are tried. */
  readonly prefixes: readonly (readonly [string, ApiHandler])[]
}

/**
 * Handlers by path: an exact one first, then prefixes, those with most slashes and then the longest
 * first, then what is given for all others. Methods play no part, a slash at the end makes another
 * path, and no path is cleaned.
 * @see kubernetes/apiserver pkg/server/mux/pathrecorder.go PathRecorderMux
 */
export class PathMux {
  readonly #exact = new Map<string, Entry>()
  readonly #prefixes = new Map<string, Entry>()
  readonly #onTwice: OnTwice
  #table: Table = { exact: new Map(), prefixes: [] }
  readonly #notFound: ApiHandler

  /**
   * @param notFound answers every other path
   * @param onTwice is told of a path that had a handler; the later one serves
   */
  constructor(notFound: ApiHandler, onTwice: OnTwice) {
    this.#notFound = notFound
    this.#onTwice = onTwice
  }

  /** Serves one path. An unlisted one is not in {@link listedPaths}. */
  handle(path: string, handler: ApiHandler, options: Listing = {}): void {
    checkArguments('handle(path, handler, options?)', [path, 'a text'], [handler, 'a function'], [options, withOptions<Listing>('listed')])
    const { listed = true } = options
    this.#add(this.#exact, path, { handler, isListed: listed, registered: new Error('first registration') })
  }

  /**
   * Serves every path that begins with this one.
   * @throws QuiesceError ERR_OPTION_INVALID for one that does not end in a slash
   */
  handlePrefix(path: string, handler: ApiHandler, options: Listing = {}): void {
    checkArguments(
      'handlePrefix(path, handler, options?)',
      [path, 'a text'],
      [handler, 'a function'],
      [options, withOptions<Listing>('listed')],
    )
    const { listed = true } = options
    if (!path.endsWith('/')) throw optionError('path', path, `a prefix must end in a trailing slash: ${path}/`)
    this.#add(this.#prefixes, path, { handler, isListed: listed, registered: new Error('first registration') })
  }

  /** Takes away both that are there for it; then it can be given again. */
  unregister(path: string): void {
    checkArguments('unregister(path)', [path, 'a text'])
    this.#exact.delete(path)
    this.#prefixes.delete(path)
    this.#swap()
  }

  /** Sorted, each once. */
  get listedPaths(): readonly string[] {
    const listed = [...this.#exact, ...this.#prefixes].filter(([, { isListed }]) => isListed).map(([path]) => path)
    return [...new Set(listed)].sort()
  }

  readonly serve: ApiHandler = (request, response) => {
    const exchange = apiExchangeOf(request)
    const path = exchange?.info.path ?? '/'
    const { exact, prefixes } = this.#table
    let route: string | undefined = path
    let handler = exact.get(path)
    if (handler === undefined) [route, handler] = prefixes.find(([prefix]) => path.startsWith(prefix)) ?? NONE
    if (handler === undefined) return this.#notFound(request, response)
    if (exchange) ROUTE.set(exchange, route)
    return handler(request, response)
  }

  /** What a path is registered as: itself, or a prefix of it; undefined: it is not. */
  routeOf(path: string): string | undefined {
    const { exact, prefixes } = this.#table
    return exact.has(path) ? path : prefixes.find(([prefix]) => path.startsWith(prefix))?.[0]
  }

  #add(entries: Map<string, Entry>, path: string, entry: Entry): void {
    const first = entries.get(path)
    if (first) this.#onTwice(path, stackOfCaller(first.registered.stack))
    entries.set(path, entry)
    this.#swap()
  }

  #swap(): void {
    const handlers = (entries: ReadonlyMap<string, Entry>) => Array.from(entries, ([path, { handler }]) => [path, handler] as const)
    this.#table = { exact: new Map(handlers(this.#exact)), prefixes: handlers(this.#prefixes).sort(([a], [b]) => precedence(a, b)) }
  }
}

const NONE = [undefined, undefined] as const

/** Most slashes first, then the longest, then in reverse alphabetical order. */
const precedence = (a: string, b: string): number => slashes(b) - slashes(a) || b.length - a.length || (a < b ? 1 : -1)

const slashes = (path: string): number => path.split('/').length
