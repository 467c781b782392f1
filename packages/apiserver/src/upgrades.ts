import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ApiExchange, apiExchangeOf } from './api-exchange.ts'
import { SEAT } from './chain/flow-control.ts'
import { type Exchange, exchangeOf, PLAIN_TEXT, PLAIN_TEXT_OVER, respond, takeSocket } from './engine.ts'
import type { ApiHandler } from './mux/path-mux.ts'
import { TAKEN_OVER, UPGRADE, type Upgrade } from './request/upgrade.ts'

/** A listener of node's event `upgrade`, as the handler of a WebSocket library is one. */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => unknown

/**
 * What a mux serves an upgrade with. It comes behind all filters; from then on the connection is a
 * watch (V7): neither bounded nor limited.
 */
export const takingOver =
  (handler: UpgradeHandler): ApiHandler =>
  (request) => {
    const exchange = apiExchangeOf(request) as ApiExchange
    const { socket, head } = upgradeOf(request)
    TAKEN_OVER.set(exchange, true)
    SEAT.of(exchange)?.giveBack()
    SEAT.set(exchange, undefined)
    takeSocket(exchangeOf(request) as Exchange)
    return handler(request, socket, head)
  }

/**
 * A path that takes no upgrades answers one like any other request, as RFC 9110 has it, when it
 * can: the body of an upgrade is not read by node any more.
 */
export const asOrdinary: ApiHandler = (request, response) =>
  hasBody(request) ? respond(response, REFUSED) : upgradeOf(request).ordinary(request, response)

const upgradeOf = (request: IncomingMessage): Upgrade => UPGRADE.of(apiExchangeOf(request) as ApiExchange) as Upgrade

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || !['0', undefined].includes(headers['content-length'])

const REFUSED = {
  status: 400,
  headers: PLAIN_TEXT,
  body: 'this path accepts no upgrade, and no body together with one\n',
}

/** The answer to a CONNECT over HTTP/2, whose stream would pass the filters without a response. */
export const NOT_IMPLEMENTED = {
  status: 501,
  reasonPhrase: 'Not Implemented',
  headers: PLAIN_TEXT_OVER,
  body: 'this server does not support CONNECT\n',
}
