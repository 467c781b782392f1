import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ExchangeView } from '../http/chain.ts'
import { type RequestInfo, requestInfo } from '../http/request-info.ts'
import type { User } from './user.ts'

/** On the request itself: a property costs the request path less than a look-up in a WeakMap. */
const API_EXCHANGE: unique symbol = Symbol('quiesce.apiserver.exchange')

/**
 * One request on its way through the filters of an API server: the engine's view of it, and what
 * filters have found out for those behind them. Each field is written by one filter, which its
 * comment names.
 */
export class ApiExchange {
  readonly request: IncomingMessage
  /** What filters and handlers answer with; made for an upgrade, too, until it is taken over. */
  readonly response: ServerResponse
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
  /** authentication; undefined before, and without an authenticator. */
  user: User | undefined = undefined
  /** impersonation: who acts as {@link user}. */
  impersonator: User | undefined = undefined

  constructor(view: ExchangeView, response: ServerResponse, info: RequestInfo) {
    this.view = view
    this.request = view.request
    this.response = response
    this.receivedAt = view.arrivedAt
    this.info = info
    ;(view.request as Tagged)[API_EXCHANGE] = this
  }
}

interface Tagged {
  [API_EXCHANGE]?: ApiExchange
}

/** That of a request which an API server serves; undefined for any other. */
export const apiExchangeOf = (request: object): ApiExchange | undefined => (request as Tagged)[API_EXCHANGE]

/** @see kubernetes/apiserver pkg/endpoints/request/requestinfo.go NewRequestInfo */
export const infoOf = ({ method = 'GET', url = '/' }: IncomingMessage): RequestInfo => requestInfo(method, url)
