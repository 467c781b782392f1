import type { Server } from 'node:http'
import type { Transport } from '../wire.ts'
import { openGate } from './gate.ts'
import { OlderConnections } from './older-connections.ts'
import { endWithResponses } from './response-end.ts'

/** HTTP/1.1, plain or over TLS. */
export const http1: Transport = {
  // A server of node:net has no idle connections to close; one of node:http2 may have them, and has
  // settings.
  serves: (server) =>
    typeof server === 'object' &&
    server !== null &&
    typeof (server as Partial<Server>).listen === 'function' &&
    typeof (server as Partial<Server>).closeIdleConnections === 'function' &&
    !('updateSettings' in server),
  open: (server, keeper) => {
    const gate = openGate(server as Server, keeper)
    const noMoreEnds = endWithResponses()
    return { giveBack: () => gate[Symbol.dispose](), connectionsGone: noMoreEnds }
  },
  older: (server, clock) => new OlderConnections(server as Server, clock),
}
