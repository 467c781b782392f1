import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Clock } from '../../base/clock.ts'
import type { TellPlan } from '../../machines/phases/tell.ts'
import type { Connection } from '../h1/connection.ts'
import { isEventStream } from '../h1/response-head.ts'
import { type Exchange, exchangeOf } from './exchange.ts'

/**
 * Tell, then close (V6): from ShutdownInitiated on, a growing share of responses carries `Connection: close`, so that
 * keep-alive clients reconnect elsewhere before anything is closed under them.
 *
 * Whether to tell is decided when the head of a response is written, not when its request arrives: requests that were under
 * way at the beginning take part, and only then is it known whether another request waits behind this one. Told on an
 * earlier response, that request would be lost.
 */
export class Telling {
  readonly #clock: Clock
  readonly #random: () => number
  readonly #writeHead: ServerResponse['writeHead']
  #plan: TellPlan | undefined
  #beganAt = 0
  #isComplete = false

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock
    this.#random = random
    this.#writeHead = this.#tellingWriteHead()
  }

  /** A second call does nothing. */
  begin(plan: TellPlan): void {
    if (this.#plan) return
    this.#plan = plan
    this.#beganAt = this.#clock.now()
  }

  /** From now on every response tells. */
  complete(): void {
    this.#plan ??= { how: 'at-once', delayMs: 0 }
    this.#isComplete = true
  }

  /** The share of responses that tell now. */
  get probability(): number {
    if (this.#isComplete) return 1
    if (!this.#plan || this.#plan.how === 'after-delay') return 0
    const { how, delayMs } = this.#plan
    if (how === 'at-once' || delayMs <= 0) return 1
    return Math.min(1, (2 * (this.#clock.now() - this.#beganAt)) / delayMs)
  }

  /**
   * Has the response decide about telling when its head is written, and notices then whether it is a watch. One whose head is out
   * already cannot tell any more: the next one on its connection does. A second call does nothing.
   */
  arm(exchange: Exchange): void {
    const { response, connection } = exchange
    if (!response || exchange.writeHead) return
    connection.closeGently()
    if (response.headersSent) {
      connection.isOverdue = true
      exchange.noteHead()
    } else {
      exchange.writeHead = response.writeHead
      response.writeHead = this.#writeHead
    }
  }

  #tells(exchange: Exchange, connection: Connection): boolean {
    if (connection.outstanding.newest !== exchange) return false
    if (exchange.mustTell) return true
    const { probability } = this
    return probability > 0 && (connection.isOverdue || this.#random() < probability)
  }

  /**
   * One function for all responses, so that arming one costs two assignments. `shouldKeepAlive = false` is not enough: a
   * `Connection: keep-alive` of the handler's own, as proxies and event streams send it, takes precedence over it [measured].
   */
  #tellingWriteHead(): ServerResponse['writeHead'] {
    const tells = (exchange: Exchange): boolean => this.#tells(exchange, exchange.connection)
    return function writeHead(this: ServerResponse, ...args: WriteHeadArgs): ServerResponse {
      const exchange = exchangeOf(this.req) as Exchange
      const original = exchange.writeHead as (...args: WriteHeadArgs) => ServerResponse
      const [status] = args
      // A status below 200 is not the response yet. One without a client has no connection to tell of.
      if (exchange.isOver || this.headersSent || !(status >= 200)) return original.apply(this, args)
      const isTelling = tells(exchange)
      const result = original.apply(this, isTelling ? withClose(this, args) : args)
      if (isTelling) exchange.connection.wasTold = true
      // Not in the middle of a `write`: a watch that is told at once may end its response in the same step.
      if (isEventStream(this)) queueMicrotask(() => exchange.noteHead())
      return result
    } as ServerResponse['writeHead']
  }
}

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[] | readonly (readonly [string, OutgoingHttpHeader])[]
type WriteHeadArgs = [status: number, reasonOrHeaders?: string | Headers | null, headers?: Headers | null]

/** The same arguments with `Connection: close` where node looks for it: in the given headers, else on the response. */
function withClose(response: ServerResponse, [status, second, third]: WriteHeadArgs): WriteHeadArgs {
  const headers = typeof second === 'string' ? third : (third ?? second)
  const given = headers ? entriesOf(headers as Headers) : []
  const own = given.filter(([name]) => isConnection(name))
  const close = closing(own.length > 0 ? own.map(([, value]) => value).join() : response.getHeader('connection'))
  if (!headers || typeof headers === 'string') {
    response.setHeader('Connection', close)
    return typeof second === 'string' ? [status, second] : [status]
  }
  const rest = given.filter(([name]) => !isConnection(name))
  const told = Array.isArray(headers) ? [...rest.flat(), 'Connection', close] : { ...Object.fromEntries(rest), Connection: close }
  return typeof second === 'string' ? [status, second, told as Headers] : [status, told as Headers]
}

/** Headers come as an object, as a flat list of names and values, or as a list of pairs. */
function entriesOf(headers: Headers): [string, unknown][] {
  if (!Array.isArray(headers)) return Object.entries(headers)
  if (Array.isArray(headers[0])) return headers as [string, unknown][]
  const pairs: [string, unknown][] = []
  for (let index = 0; index < headers.length; index += 2) pairs.push([headers[index] as string, headers[index + 1]])
  return pairs
}

const isConnection = (name: string): boolean => name.length === 10 && name.toLowerCase() === 'connection'

/** A `Connection` value with its `keep-alive` replaced by `close`; what else it says, such as `Upgrade`, stays. */
function closing(given: unknown): string {
  const options = String(given ?? '').split(',')
  const others = options.map((option) => option.trim()).filter((option) => option && !/^(?:keep-alive|close)$/i.test(option))
  return [...others, 'close'].join(', ')
}
