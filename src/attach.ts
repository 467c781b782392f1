import type { Server as HttpServer } from 'node:http'
import type { Http2SecureServer, Http2Server } from 'node:http2'
import type { Server as HttpsServer } from 'node:https'
import { type Host, systemHost } from './actors/host.ts'
import { Listener } from './actors/listener.ts'
import { onProcessIdle } from './actors/process-idle.ts'
import { allOrNone } from './base/disposables.ts'
import { optionError } from './base/errors.ts'
import { olderOf } from './http/older.ts'
import { transportOf } from './http/transports.ts'
import { observationOf } from './inspector/observation.ts'
import type { Life } from './lifecycle/life.ts'
import { Lifecycle } from './lifecycle/lifecycle.ts'
import type { DefaultLog } from './lifecycle/output.ts'
import { type LifecycleOptions, resolveLifecycleOptions } from './options/options.ts'
import { processFacts } from './platforms/platforms.ts'

/** A server that a lifecycle can be put around. */
export type AttachableServer = HttpServer | HttpsServer | Http2Server | Http2SecureServer

/** A lifecycle around servers of your own. */
export interface AttachedLife extends Life, Disposable {
  /**
   * Gives every server back as it was: its own listeners, its own `close()`. The life goes on until
   * `stop()`, which then leaves them alone. A second call does nothing. After the end of the life a
   * server is its owner's by itself when it listens again.
   */
  dispose(): void
}

/**
 * Puts a lifecycle around a server of `node:http`, `node:https` or `node:http2` of your own,
 * however it was made: plain node, Express, Fastify, Koa; with `allowHTTP1`, each connection is
 * what its handshake has chosen. The server may listen already, or as late as you like: start-up
 * waits for that, and fails when it cannot (ERR_LISTEN) or when the process has nothing left to do
 * (ERR_NOTHING_TO_SERVE). One that never listens, because it is given its sockets by
 * `server.emit('connection', socket)`, or its requests by `emit('request', request, response)`,
 * serves from the first of them on.
 * Requests are counted from here on; those that were under way are waited for with the last
 * connections, and cannot be named. An idle connection from before is known at once when it speaks
 * HTTP/1.1 without TLS, or has not begun its handshake; any other is known from its next request
 * on. One that sends none and stays open costs the end its time, and exit code 5.
 *
 * Once it serves, its `close()` becomes a stop of this life: its address is free in the step of the
 * call, as with node, and the callback comes when the last connection has been drained. What the
 * kernel has accepted by then and the process has not read is reset, as with node; `life.stop()`
 * and a signal accept it first, also when `close()` is called after them.
 *
 * With TLS a connection is known from its accept on; a handshake that is not over at the end has a
 * second from its accept, and the report names it when it was not enough. Clients of HTTP/2 are
 * told to leave by a GOAWAY frame: what they have asked is answered, what they ask later they may
 * ask elsewhere. Of their sessions that are older than the life, only those that send something are
 * told.
 *
 * Several servers are one unit: the life serves once all of them listen, or one is given a socket
 * or a request, what is in flight on any is waited for by all, they stop accepting together, and
 * the `close()` of one is a stop of all.
 *
 * @throws QuiesceError ERR_ALREADY_ATTACHED for a server that has a lifecycle, none of the others
 * has one then; ERR_OPTION_INVALID with one line for every bad option
 * @example
 * const server = http.createServer(app.callback())
 * const life = attachLifecycle(server, { health: true })
 * server.listen(8080)
 * await life.run()
 */
export function attachLifecycle(server: AttachableServer | readonly AttachableServer[], options: LifecycleOptions = {}): AttachedLife {
  return attachLifecycleOn(systemHost, server, options)
}

/** `attachLifecycle` in a given world, which may be the test kit's, or a command's. */
export function attachLifecycleOn(
  host: Host,
  given: AttachableServer | readonly AttachableServer[],
  options: LifecycleOptions,
  log: DefaultLog = { isForAll: false },
): AttachedLife {
  const servers = serversOf(given)
  const listening = servers.filter((server) => server.listening)
  const resolved = resolveLifecycleOptions(options, { ...log.wording, facts: processFacts(host.process) })
  const listeners = servers.map((server) => new Listener(server, undefined))
  const older = olderOf(listening.map((server) => transportOf(server).older(server, host.clock)))
  const life = new Lifecycle({
    options: resolved,
    host,
    openListeners: () => Promise.resolve(listeners),
    applications: () => servers.flatMap((server) => server.listeners('request')),
    adopted: listeners,
    older,
    log,
    observe: observationOf,
  })
  const gates = allOrNone(servers, (server) => life.takeOver(server))
  for (const listener of listeners) {
    // What gives sockets to one of them may give them to the others much later.
    listener.onGiven(() => {
      for (const other of listeners) other.serveGiven()
    })
    // Of a life that is not started it would be unheard, and is thrown as node would have.
    listener.onFailure((error) => {
      const throwUnheard = (): void => {
        if (!life.root.hasBegun && listener.failure === error) throw error
      }
      onProcessIdle(host.process, throwUnheard)
      ;(host.clock.setTimeout(throwUnheard, PATIENCE_MS) as { unref?: () => void }).unref?.()
    })
  }
  const dispose = (): void => {
    // What a listener has put in front of a gate goes first.
    for (const listener of listeners) listener.release()
    gates[Symbol.dispose]()
    older?.release()
  }
  // A server that listens again, or gets another life, is an ordinary one.
  void life.ended.then(() => {
    gates[Symbol.dispose]()
    for (const listener of listeners) listener.retire()
  })
  const asyncDispose = async (): Promise<void> => {
    await life.stop('disposed')
    dispose()
  }
  return Object.assign(life, { dispose, [Symbol.dispose]: dispose, [Symbol.asyncDispose]: asyncDispose })
}

/**
 * How long a life has to begin after an error of its server's `listen()`, which it reports then.
 */
const PATIENCE_MS = 10_000

/** @throws QuiesceError ERR_OPTION_INVALID for what is no server, or none at all */
function serversOf(given: AttachableServer | readonly AttachableServer[]): readonly AttachableServer[] {
  if (!isList(given)) {
    transportOf(given)
    return [given]
  }
  if (given.length === 0) throw optionError('server', given, 'a server, or a list of one or more')
  for (const [at, server] of given.entries()) transportOf(server, `server[${at}]`)
  return given
}

const isList = (given: AttachableServer | readonly AttachableServer[]): given is readonly AttachableServer[] => Array.isArray(given)
