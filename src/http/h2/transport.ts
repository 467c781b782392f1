import type { Http2Server } from 'node:http2'
import { Older } from '../older.ts'
import type { Transport } from '../transport.ts'
import { openHttp2Gate } from './gate.ts'

/**
 * HTTP/2, plain or over TLS; of a server with `allowHTTP1` also the connections whose handshake has
 * chosen HTTP/1.1.
 */
export const http2: Transport = {
  serves: (server) =>
    typeof server === 'object' &&
    server !== null &&
    typeof (server as Partial<Http2Server>).listen === 'function' &&
    typeof (server as Partial<Http2Server>).updateSettings === 'function',
  open: (server, traffic, idleMs) => openHttp2Gate(server as Http2Server, traffic, idleMs),
  older: (server, clock) => new Older(server, clock),
}
