import type { IncomingMessage, ServerResponse } from 'node:http'
import type { UserInfo } from './authentication/user.ts'
import type { Exchange, ExchangeView } from './engine.ts'
import { type RequestInfo, requestInfo } from './request/request-info.ts'
import { emptySlots, type Slotted } from './request/slots.ts'

/**
 * The key on the request itself: a property costs the request path less than a look-up in a
 * WeakMap.
 */
const API_EXCHANGE: unique symbol = Symbol('quiesce.apiserver.exchange')

/**
 * One request on its way through the filters of an API server: the engine's view of it, and what
 * every request has. What else a filter finds out is a slot, which its file declares.
 */
export class ApiExchange implements Slotted {
  /** The request; over HTTP/2 those behind the count have another object: the handler's. */
  request: IncomingMessage
  /** What filters and handlers answer with; over HTTP/2 another object likewise. */
  response: ServerResponse
  /** Milliseconds of the life's clock when the request arrived. */
  readonly receivedAt: number
  readonly view: ExchangeView

  /** What filters have found out. */
  readonly slots = emptySlots()
  /** The chain: how many of its filters this request was given to. */
  filtersAsked = 0
  /** audit-init */
  auditId = ''
  /** request-info */
  info: RequestInfo
  /** request-info: by the server's rule; neither bounded, nor limited, nor counted as a request. */
  isLongRunning = false
  /** What the handler has returned, if that is a promise. */
  handling: PromiseLike<unknown> | undefined = undefined
  /** request-deadline: milliseconds of the life's clock; undefined: its time is not bounded. */
  deadlineAt: number | undefined = undefined
  /** request-deadline: neighbours among those with the same time. */
  older: ApiExchange | undefined = undefined
  newer: ApiExchange | undefined = undefined
  /** authentication; undefined before, and without an authenticator. */
  user: UserInfo | undefined = undefined

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
 * The exchange of a request which an API server serves; undefined for any other, and for what the
 * engine has left of one whose client is long gone.
 */
export const apiExchangeOf = (request: object | undefined): ApiExchange | undefined => (request as Tagged | undefined)?.[API_EXCHANGE]

/**
 * Who sent a request, or who that one acts as, for its handler. Undefined on a server that does not
 * authenticate.
 */
export const userOf = (request: object): UserInfo | undefined => apiExchangeOf(request)?.user

/** @see kubernetes/apiserver pkg/endpoints/request/requestinfo.go NewRequestInfo */
export const infoOf = ({ method = 'GET', url = '/' }: IncomingMessage): RequestInfo => requestInfo(method, url)
