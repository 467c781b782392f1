import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { exchangeOf } from '../engine.ts'

/**
 * The socket that a request came by. Of a request of HTTP/2 node shows none once its session is
 * over, which may be while the request is still decided about, or answered already.
 */
export const clientSocketOf = (request: IncomingMessage): Socket | undefined =>
  exchangeOf(request)?.connection?.wire.socket ?? (request.socket as Socket | undefined)
