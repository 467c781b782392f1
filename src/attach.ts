import type { Server as HttpServer } from 'node:http'
import type { Http2SecureServer, Http2Server } from 'node:http2'
import type { Server as HttpsServer } from 'node:https'
import { type Host, systemHost } from './actors/host.ts'
import { Listener } from './actors/listener.ts'
import { transportOf } from './http/transports.ts'
import { observationOf } from './inspector/observation.ts'
import { openAdminListener } from './lifecycle/admin-listener.ts'
import type { Life } from './lifecycle/life.ts'
import { Lifecycle } from './lifecycle/lifecycle.ts'
import type { DefaultLog } from './lifecycle/output.ts'
import { type LifecycleOptions, resolveLifecycleOptions } from './options/options.ts'
import { processFacts } from './platforms/platforms.ts'

/** A server that a lifecycle can be put around. */
export type AttachableServer = HttpServer | HttpsServer | Http2Server | Http2SecureServer

/** A lifecycle around a server of your own. */
export interface AttachedLife extends Life, Disposable {
  /**
   * Gives the server back as it was: its own listeners, its own `close()`. The life goes on until
   * `stop()`, which then leaves the server alone. A second call does nothing. After the end of the
   * life the server is its owner's by itself when it listens again.
   */
  dispose(): void
}

/**
 * Puts a lifecycle around a server of `node:http`, `node:https` or `node:http2` of your own,
 * however it was made: plain node, Express, Fastify, Koa; with `allowHTTP1`, each connection is
 * what its handshake has chosen. The server may listen already, or as late as you like: start-up
 * waits for that, and fails only when the process has nothing left to do (ERR_NOTHING_TO_SERVE).
 * Requests are counted from here on; those that were under way are waited for with the last
 * connections, and cannot be named. Once it serves, its `close()` becomes a stop of this life.
 *
 * With TLS a connection is known from its accept on; a handshake that is not over at the end has a
 * second from its accept, and the report names it when it was not enough. Clients of HTTP/2 are
 * told to leave by a GOAWAY frame: what they have asked is answered, what they ask later they may
 * ask elsewhere. Of their sessions that are older than the life, only those that send something are
 * told.
 *
 * @throws QuiesceError ERR_ALREADY_ATTACHED for a server that has a lifecycle, ERR_OPTION_INVALID
 * with one line for every bad option
 * @example
 * const server = http.createServer(app.callback())
 * const life = attachLifecycle(server, { health: true })
 * server.listen(8080)
 * await life.run()
 */
export function attachLifecycle(server: AttachableServer, options: LifecycleOptions = {}): AttachedLife {
  return attachLifecycleOn(systemHost, server, options)
}

/** `attachLifecycle` in a given world, which may be the test kit's, or a command's. */
export function attachLifecycleOn(
  host: Host,
  server: AttachableServer,
  options: LifecycleOptions,
  log: DefaultLog = { isForAll: false },
): AttachedLife {
  const transport = transportOf(server)
  const resolved = resolveLifecycleOptions(options, { facts: processFacts(host.process) })
  const listener = new Listener(server, undefined)
  const older = server.listening ? transport.older(server, host.clock) : undefined
  const life = new Lifecycle({
    options: resolved,
    host,
    openListeners: async (traffic, answerMetrics) => [
      listener,
      ...(resolved.admin ? [await openAdminListener(host, traffic, resolved.admin, answerMetrics)] : []),
    ],
    adopted: [listener],
    older,
    log,
    observe: observationOf,
  })
  const gate = life.takeOver(server)
  const dispose = (): void => {
    gate[Symbol.dispose]()
    listener.release()
    older?.release()
  }
  // A server that listens again, or gets another life, is an ordinary one.
  void life.ended.then(() => {
    gate[Symbol.dispose]()
    listener.retire()
  })
  const asyncDispose = async (): Promise<void> => {
    await life.stop('disposed')
    dispose()
  }
  return Object.assign(life, { dispose, [Symbol.dispose]: dispose, [Symbol.asyncDispose]: asyncDispose })
}
