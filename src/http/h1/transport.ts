import type { Server } from 'node:http'
import type { Server as NetServer } from 'node:net'
import { Older } from '../older.ts'
import type { Handshakes } from '../tls/handshake.ts'
import type { Gate, TrafficPort, Transport } from '../transport.ts'
import { openHttp1Gate } from './gate.ts'
import { endWithResponses } from './response-end.ts'

/**
 * Opens a gate in front of a server's requests of HTTP/1.1.
 * @param handshakes of a server that speaks another protocol, too
 */
export function openHttp1(server: NetServer, traffic: TrafficPort, handshakes?: Handshakes): Gate {
  const gate = openHttp1Gate(server as Server, traffic, handshakes)
  const noMoreEnds = endWithResponses()
  return { giveBack: () => gate[Symbol.dispose](), connectionsGone: noMoreEnds }
}

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
  open: (server, traffic) => openHttp1(server, traffic),
  older: (server, clock) => new Older(server, clock),
}
