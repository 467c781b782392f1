import { ServerResponse } from '../base/node-http.ts'
import type { WireExchange } from './ports.ts'

/** The answers to upgrades whose sockets nothing has taken; few requests are any. */
const ANSWERS = new WeakMap<WireExchange, ServerResponse>()

/**
 * A response for an upgrade, which node gives none: for steps that set headers and refuse like for
 * any other request, until {@link takeSocket}. What it sends ends the connection. To be called
 * once.
 */
export function responseOfUpgrade(exchange: WireExchange): ServerResponse {
  const { request, connection } = exchange
  const { socket } = connection.wire
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.on('finish', () => {
    response.detachSocket(socket)
    // Node has taken its hands off it: without a reader, its end would go unnoticed.
    socket.resume()
    connection.noteNotified()
    connection.linger()
  })
  ANSWERS.set(exchange, response)
  return response
}

/** The one that was made and may still answer. */
export const answerOfUpgrade = (exchange: WireExchange): ServerResponse | undefined => ANSWERS.get(exchange)

/** The socket is its handler's from now on. */
export function takeSocket(exchange: WireExchange): void {
  ANSWERS.get(exchange)?.detachSocket(exchange.connection.wire.socket)
  ANSWERS.delete(exchange)
}
