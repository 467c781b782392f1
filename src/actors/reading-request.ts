import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { override } from './override.ts'

/**
 * Those of the sockets on which node is reading a request, however little of its head has come.
 *
 * Node knows, and tells nobody; counting the bytes of every socket at every response instead would cost every request. But its
 * `closeIdleConnections()` destroys exactly those sockets of a server on which nothing has begun since the last response, so it
 * is called here with sockets that only take note of that [measured on Node 20 to 26]. Sockets that are none of `sockets` it does
 * close: ask when idle ones have to go.
 *
 * @param sockets all that these servers have and that must not be closed now, and no others
 */
export function readingRequest(servers: Iterable<Server>, sockets: ReadonlySet<Socket>): Set<Socket> {
  const reading = new Set(sockets)
  const noteIdle = function (this: Socket): Socket {
    reading.delete(this)
    return this
  }
  const takeBack = Array.from(reading, (socket) => override(socket, 'destroy', noteIdle))
  for (const server of servers) server.closeIdleConnections()
  for (const give of takeBack) give()
  return reading
}
