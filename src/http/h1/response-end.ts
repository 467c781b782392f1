import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { isMadeByNode } from '../../base/node-internals.ts'
import { wireExchangeOf } from '../exchange-of.ts'
import type { WireExchange } from '../ports.ts'
import { http1WireOf } from './wire.ts'

/** Node publishes here when a response has been sent whole. */
const RESPONSE_FINISH = 'http.server.response.finish'

let subscribers = 0
/**
 * The channel is documented, but experimental: it is relied upon once something was heard on it.
 */
let wasHeard = false

/**
 * Ends each exchange when node has sent its response whole, for all servers of the process. One
 * that breaks off ends with its connection. A `close` listener on every response would say both,
 * and would add a third to the time that a request takes longer with quiesce [measured].
 *
 * @returns stops it, when all servers that asked for it have stopped; to be called once
 */
export function endWithResponses(): () => void {
  if (subscribers++ === 0) subscribe(RESPONSE_FINISH, onFinish)
  return () => {
    if (--subscribers === 0) unsubscribe(RESPONSE_FINISH, onFinish)
  }
}

/**
 * Has the end of an exchange noticed by its own response, unless {@link endWithResponses} is
 * certain to see it.
 */
export function endWithItsResponse(exchange: WireExchange, response: ServerResponse): void {
  if (wasHeard && isBeingSentByNode(response, exchange.request)) return
  const end = (): void => exchange.end()
  response.on('finish', end)
  response.on('close', end)
  // What waits behind a response that was destroyed before its turn would wait for ever [Node 24
  // and 26].
  response.on('socket', (socket) => {
    if (response.destroyed) socket.destroy()
  })
}

/**
 * Whether node has made the response for this request, and sends it now: then it is published when
 * it has been sent, and otherwise ends with its connection. The channel covers only responses that
 * node made, and one that waits behind another can be destroyed alone [Node 24 and 26].
 */
function isBeingSentByNode(response: ServerResponse, request: IncomingMessage): boolean {
  return response.socket === request.socket && isMadeByNode(response, request)
}

function onFinish(message: unknown): void {
  wasHeard = true
  const { request, socket } = message as { readonly request: IncomingMessage; readonly socket?: Socket }
  const exchange = wireExchangeOf(request)
  if (exchange) exchange.end()
  // Node answers some by itself, such as a false `Expect`.
  else if (socket) http1WireOf(socket)?.answered()
}
