import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestAudit } from './audit/request-audit.ts'
import type { UserInfo } from './authentication/user.ts'
import type { Authorizer } from './authorization/authorizer.ts'
import type { OuterHeaders } from './chain/default-headers.ts'
import type { Seat } from './chain/flow-control.ts'
import type { Warnings } from './chain/warnings.ts'
import type { Exchange, ExchangeView, Level } from './engine.ts'
import type { Layer } from './latency.ts'
import { type RequestInfo, requestInfo } from './request/request-info.ts'
import type { Failure } from './status.ts'
import type { RequestSpan } from './tracing/request-tracing.ts'
import type { Upgrade } from './upgrades.ts'

/** On the request itself: a property costs the request path less than a look-up in a WeakMap. */
const API_EXCHANGE: unique symbol = Symbol('quiesce.apiserver.exchange')

/**
 * One request on its way through the filters of an API server: the engine's view of it, and what
 * filters have found out for those behind them. Each field is written by one filter, which its
 * comment names.
 */
export class ApiExchange {
  /** Over HTTP/2 another object for those behind the count: the handler's. */
  request: IncomingMessage
  /** What filters and handlers answer with; over HTTP/2 another object likewise. */
  response: ServerResponse
  /** Milliseconds of the life's clock when the request arrived. */
  readonly receivedAt: number
  readonly view: ExchangeView

  /** The chain: how many of its filters this request was given to. */
  filtersAsked = 0
  /** audit-init */
  auditId = ''
  /** mux-complete: it came before every path was installed. */
  isEarly = false
  /** request-info */
  info: RequestInfo
  /** request-info: by the server's rule; neither bounded, nor limited, nor counted as a request. */
  isLongRunning = false
  /**
   * The headers that filters before the count have set: what is left when the answer of a handler
   * is given up. Undefined before the count.
   */
  outerHeaders: OuterHeaders | undefined = undefined
  /** The mux that serves it: the path that its handler was registered with. */
  route: string | undefined = undefined
  /** Where it is counted while it lasts; undefined: it does not. */
  lastsIn: Level | undefined = undefined
  /** What the handler has returned, if that is a promise. */
  handling: PromiseLike<unknown> | undefined = undefined
  /** request-deadline: milliseconds of the life's clock; undefined: its time is not bounded. */
  deadlineAt: number | undefined = undefined
  /** request-deadline: neighbours among those with the same time. */
  older: ApiExchange | undefined = undefined
  newer: ApiExchange | undefined = undefined
  /** timeout: it bounds this request. */
  isBounded = false
  /** timeout: its time was over before its answer was. */
  isTimedOut = false
  /** timeout: its time was over before its client had its answer. */
  isLate = false
  /** Those of its answer; undefined while there are none. */
  warnings: Warnings | undefined = undefined
  /** Milliseconds that layers have taken; undefined while none has said so. */
  latency: Map<Layer, number> | undefined = undefined
  /** flow-control: undefined without one, and when it was given back. */
  seat: Seat | undefined = undefined
  /** Of an upgrade that has come behind the count. */
  upgrade: Upgrade | undefined = undefined
  /** Its socket was given to the handler of an upgrade. */
  isTakenOver = false
  /** authentication; undefined before, and without an authenticator. */
  user: UserInfo | undefined = undefined
  /** authorization: who decides about it; undefined: everything is allowed. */
  authorizer: Authorizer | undefined = undefined
  /** impersonation: who acts as {@link user}. */
  impersonator: UserInfo | undefined = undefined
  /** tracing */
  span: RequestSpan | undefined = undefined
  /** audit, or what is noted for it before: what is recorded of the request. */
  audit: RequestAudit | undefined = undefined
  /**
   * audit: records the end of it, for what answers in its handler's place; whether it is stored.
   */
  beforeReplacement: ((exchange: ApiExchange) => boolean | Promise<boolean>) | undefined = undefined
  /**
   * panic-recovery: what a handler, or a filter, has thrown; and what sends the answer in its place
   * while that waits for its event.
   */
  panic: { readonly thrown: unknown; answerNow?: () => void } | undefined = undefined
  /** sendStatus: what it was answered with. */
  failure: Failure | undefined = undefined

  constructor(view: ExchangeView, response: ServerResponse, info: RequestInfo) {
    this.view = view
    this.request = view.request
    this.response = response
    this.receivedAt = view.arrivedAt
    this.info = info
    ;(view.request as Tagged)[API_EXCHANGE] = this
  }

  /**
   * The context of the request: aborted when its time is over, its client has left, its handler has
   * failed, or the server does not wait for it any more.
   */
  get signal(): AbortSignal {
    return (this.view as Exchange).takeSignal()
  }

  /**
   * The context of authenticators and authorizers. It aborts with the request, without marking the
   * handler's signal as used: a connection that the handler takes over is ended in its turn.
   */
  get waiting(): { readonly signal: AbortSignal } {
    return new Waiting(this.view)
  }

  /** The handler's own objects, where the first filters have had others. */
  handOver(request: IncomingMessage, response: ServerResponse): void {
    this.request = request
    this.response = response
    ;(request as Tagged)[API_EXCHANGE] = this
  }
}

class Waiting {
  readonly #view: ExchangeView

  constructor(view: ExchangeView) {
    this.#view = view
  }

  get signal(): AbortSignal {
    return this.#view.signal
  }
}

interface Tagged {
  [API_EXCHANGE]?: ApiExchange
}

/**
 * That of a request which an API server serves; undefined for any other, and for what the engine
 * has left of one whose client is long gone.
 */
export const apiExchangeOf = (request: object | undefined): ApiExchange | undefined => (request as Tagged | undefined)?.[API_EXCHANGE]

/**
 * Who sent a request, or who that one acts as, for its handler. Undefined on a server that does not
 * authenticate.
 */
export const userOf = (request: object): UserInfo | undefined => apiExchangeOf(request)?.user

/** @see kubernetes/apiserver pkg/endpoints/request/requestinfo.go NewRequestInfo */
export const infoOf = ({ method = 'GET', url = '/' }: IncomingMessage): RequestInfo => requestInfo(method, url)
