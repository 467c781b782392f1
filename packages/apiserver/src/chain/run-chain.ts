import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { ApiExchange, apiExchangeOf, infoOf } from '../api-exchange.ts'
import { type Exchange, type ExchangeView, exchangeOf, type FailureAnswer, type PlacedStep, responseOfUpgrade } from '../engine.ts'
import type { ApiHandler } from '../mux/path-mux.ts'
import { UPGRADE } from '../request/upgrade.ts'
import type { RequestMetrics } from '../request-metrics.ts'
import { NOT_IMPLEMENTED } from '../upgrades.ts'
import { answerBeforeChain } from './before-chain.ts'
import { overFor, pass, passNow } from './chain.ts'
import { OUTER_HEADERS, type OuterHeaders, outerHeadersOf } from './default-headers.ts'
import type { Filter, FilterFailed, FiltersByPart, UserFilter } from './filter.ts'
import { inSpan, splitAtSpan } from './tracing.ts'

/** What requests pass, and what is made of it once for all of them. */
interface RequestPath extends FiltersByPart {
  /** The filters behind the count up to that of tracing, and those behind it. */
  readonly untilSpan: readonly Filter[]
  readonly behindSpan: readonly Filter[]
  readonly outerHeaders: (exchange: ApiExchange) => OuterHeaders
  readonly over: (exchange: ApiExchange) => void
  readonly failureAnswer: FailureAnswer
}

interface ChainParts {
  readonly chain: FiltersByPart
  readonly users: readonly UserFilter[]
  readonly failed: FilterFailed
  /** What is answered for whatever fails on the way. */
  readonly failureAnswer: FailureAnswer
}

/**
 * How a request goes through the filters of a server to its handler: as steps of the engine's chain
 * before the count, and as its listener behind it. Filters need a life, and a life what its
 * requests pass: so it is made without filters, and given them before the first request.
 */
export class ChainRunner {
  #path: RequestPath | undefined
  readonly #metrics: RequestMetrics
  readonly #serve: (exchange: ApiExchange) => unknown
  readonly #ordinary: ApiHandler

  /**
   * @param serve what comes behind all filters
   * @param ordinary answers upgrades that no handler takes
   */
  constructor(metrics: RequestMetrics, serve: (exchange: ApiExchange) => unknown, ordinary: ApiHandler) {
    this.#metrics = metrics
    this.#serve = serve
    this.#ordinary = ordinary
  }

  /** Takes the filters, once. */
  open({ chain, users, failed, failureAnswer }: ChainParts): void {
    const [untilSpan, behindSpan] = splitAtSpan(chain.inner)
    this.#path = {
      ...chain,
      untilSpan,
      behindSpan,
      outerHeaders: outerHeadersOf(chain, users),
      over: overFor(chain, failed),
      failureAnswer,
    }
  }

  /** The steps before the count. */
  get steps(): readonly PlacedStep[] {
    return [
      {
        name: 'chain-outer',
        before: 'retry-after',
        admit: (view) => {
          const exchange = begin(view)
          return exchange !== undefined && passNow(this.#filters.outer, exchange)
        },
        over: ({ request }) => {
          const exchange = apiExchangeOf(request)
          if (!exchange) return
          this.#filters.over(exchange)
          if (OUTER_HEADERS.of(exchange) !== undefined) this.#metrics.answered(exchange)
        },
      },
      { name: 'chain-between', after: 'retry-after', admit: (view) => passNow(this.#filters.between, seen(view)) },
    ]
  }

  /** The filters behind the count, and the handler. */
  readonly listener: ApiHandler = (request, response) => {
    const exchange = exchangeAtHandler(request, response)
    const { outerHeaders, untilSpan } = this.#filters
    OUTER_HEADERS.set(exchange, outerHeaders(exchange))
    const verdict = pass(untilSpan, exchange)
    if (typeof verdict === 'boolean') return verdict ? inSpan(exchange, () => this.#goOn(exchange)) : undefined
    return verdict.then((isLetPass) => (isLetPass ? inSpan(exchange, () => this.#goOn(exchange)) : undefined))
  }

  /** The same for an upgrade. */
  readonly upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): unknown => {
    const exchange = apiExchangeOf(request) as ApiExchange
    UPGRADE.set(exchange, { socket, head, ordinary: this.#ordinary })
    return this.listener(request, exchange.response)
  }

  /** What failed requests are answered with. */
  readonly failureAnswer: FailureAnswer = (exchange, thrown) => this.#filters.failureAnswer(exchange, thrown)

  get #filters(): RequestPath {
    return this.#path as RequestPath
  }

  #goOn(exchange: ApiExchange): unknown {
    const verdict = pass(this.#filters.behindSpan, exchange)
    if (typeof verdict === 'boolean') return verdict ? this.#serve(exchange) : undefined
    return verdict.then((isLetPass) => (isLetPass ? this.#serve(exchange) : undefined))
  }
}

/**
 * Undefined for what has been answered. Without a response it is an upgrade, or a CONNECT, which is
 * not served at all.
 */
function begin(view: ExchangeView): ApiExchange | undefined {
  const exchange = exchangeOf(view.request) as Exchange
  if (view.response === undefined && view.request.method === 'CONNECT') {
    exchange.connection.wire.refuse(exchange, NOT_IMPLEMENTED)
    return undefined
  }
  const answer = answerBeforeChain(view.request, view.response)
  if (answer !== undefined) {
    exchange.connection.wire.refuse(exchange, answer)
    return undefined
  }
  return new ApiExchange(view, view.response ?? responseOfUpgrade(exchange), infoOf(view.request))
}

const seen = ({ request }: ExchangeView): ApiExchange => apiExchangeOf(request) as ApiExchange

/**
 * The exchange at its handler: over HTTP/2 that gets objects of node's, which the steps have not
 * seen.
 */
function exchangeAtHandler(request: IncomingMessage, response: ServerResponse): ApiExchange {
  const known = apiExchangeOf(request)
  if (known) return known
  const exchange = seen(exchangeOf(request) as ExchangeView)
  exchange.handOver(request, response)
  return exchange
}
