import { type EventEmitter, errorMonitor } from 'node:events'
import type { Server } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { isBeforeClose } from '../actors/before-close.ts'
import { type AttachedLife, attachLifecycle } from '../attach.ts'
import { checkArguments, withFields } from '../base/arguments.ts'
import { endpointsOf } from '../endpoints/of-life.ts'
import { isThenable } from '../http/emit-gate.ts'
import { exchangeOf } from '../http/traffic/exchange.ts'
import type { Logger } from '../log/logger.ts'
import type { LifecycleOptions } from '../options/options.ts'
import { whenUnhandled } from '../process/unhandled.ts'
import { takeOverFromFastifyCli } from './fastify-cli.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The life of this server; there once `register(quiesce)` was awaited. */
    readonly life: AttachedLife
  }
}

/**
 * A Fastify plugin: `app.life` is a life around the app's server, with health endpoints unless the
 * option `health` says otherwise, and with the app's logger, when it has one, unless the option
 * `logger` does. It runs once the app listens, and ends with the app's `onClose` hooks. The app's
 * `close()` is a stop like any other: requests are answered until the drain is over, and `preClose`
 * and `onClose` hooks come after it. The options are those of `attachLifecycle`.
 *
 * A handler that goes on after `reply.send()` is waited for before anything is destroyed, when its
 * route was added after the plugin.
 *
 * Fastify loads plugins later than `register()` returns: await it before you use `app.life`.
 *
 * @throws QuiesceError as `attachLifecycle`, which Fastify's `ready()` and `listen()` reject with
 * @example
 * await app.register(quiesce, { deadline: '25s' })
 * app.life.addPreShutdownHook('leave', () => registry.leave())
 * await app.listen({ port: 3000 })
 */
export const quiesce = Object.assign(
  async (app: FastifyInstance, options: LifecycleOptions): Promise<void> => {
    checkArguments(
      'quiesce(app, options)',
      [app, withFields('a Fastify app: app.register(quiesce, options)', 'server', 'addHook')],
      [options, 'an object of options'],
    )
    const logger = options.logger ?? loggerOf(app)
    const life = attachLifecycle(app.server as Parameters<typeof attachLifecycle>[0], {
      health: true,
      ...options,
      ...(logger !== undefined && { logger }),
    })
    endpointsOf('life', life).servedBy(app)
    seeHandlers(app)
    life.addDestroy('fastify', () => app.close())
    app.decorate('life', life)
    endWhenUnableToListen(app, life)
    // Not before: what only calls inject(), as tests do, has no process to end.
    app.addHook('onListen', async () => {
      joinFurtherServers(app)
      closeServerFirst(app)
      const taken = takeOverFromFastifyCli(options.signals)
      if (taken.length > 0)
        app.log.info(
          `quiesce: ${taken.join(', ')} taken over from fastify-cli: the deadline holds, and its --close-grace-delay (-g) does not`,
        )
      void life.run()
    })
  },
  // What fastify-plugin does: the decoration is there for the whole app.
  { [Symbol.for('skip-override')]: true, [Symbol.for('fastify.display-name')]: 'quiesce' },
)

/** The plugin as Fastify's plugins are imported. @alias quiesce */
export default quiesce

/** A logger that is off, or silent, does the same for every level. */
const loggerOf = ({ log }: FastifyInstance): Logger | undefined => (log.info === log.fatal ? undefined : log)

/** Fastify keeps the promise of a handler to itself: here it says that the handler still runs. */
function seeHandlers(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const { handler } = route
    route.handler = function (request, reply) {
      const answer: unknown = handler.call(this, request, reply)
      // A reply is thenable, and says no more than the response does.
      if (!isThenable(answer) || (answer as unknown) === reply) return answer as ReturnType<typeof handler>
      // One promise for Fastify and for us: a query that begins when it is waited for would begin
      // twice.
      const handling = Promise.resolve(answer)
      // What it fails with is Fastify's to answer.
      exchangeOf(request.raw)?.returned(handling.then(undefined, () => undefined))
      return handling as ReturnType<typeof handler>
    }
  })
}

/**
 * An error of `listen()` that the program does not handle is the end of a life that could not
 * start. Fastify rejects with it, or calls back, and a program that handles that may listen
 * elsewhere. An error is only looked at: what nothing listens to is thrown, as without the plugin.
 */
function endWhenUnableToListen(app: FastifyInstance, life: AttachedLife): void {
  const server: EventEmitter = app.server
  let waiting: Disposable | undefined
  const onError = (error: Error): void => {
    waiting?.[Symbol.dispose]()
    waiting = whenUnhandled(process, error, () => void life.run())
  }
  const end = (): void => {
    server.off(errorMonitor, onError)
    server.off('listening', end)
    waiting?.[Symbol.dispose]()
  }
  server.on(errorMonitor, onError)
  server.on('listening', end)
  app.addHook('onClose', async () => end())
}

/**
 * The key under which Fastify keeps the servers that it has beside `app.server`; nothing public
 * does.
 */
const FURTHER_SERVERS = 'fastify.serverBindings'

/**
 * Joins the servers that Fastify has on its default host for each further address of `localhost`,
 * of the same handlers. What connects there becomes a connection of `app.server`, which node
 * allows, and so one of the life; and they stop listening when that does.
 */
function joinFurtherServers(app: FastifyInstance): void {
  const further = furtherServersOf(app)
  if (app.addresses().length > 1 + further.length)
    app.log.warn('quiesce: Fastify listens with several servers, of which only app.server is drained: give listen() one host')
  for (const server of further) {
    server.removeAllListeners('connection')
    server.on('connection', (socket) => app.server.emit('connection', socket))
    app.life.signal('HTTPServerStoppedListening').addEventListener('abort', () => server.close(), { once: true })
  }
}

/** A nested instance has those of its root by inheritance. */
function furtherServersOf(app: object): readonly Server[] {
  for (let at: object | null = app; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    const key = Object.getOwnPropertySymbols(at).find(({ description }) => description === FURTHER_SERVERS)
    if (key !== undefined) return (at as Record<symbol, readonly Server[]>)[key] ?? []
  }
  return []
}

/**
 * Fastify's own closing makes it answer 503 at once, and closes the server, which is a stop that
 * drains. The last that is registered is the first that is closed: the server is, and Fastify finds
 * it closed. Its types do not have this function; `addHook` is refused once the app has started.
 */
function closeServerFirst(app: FastifyInstance): void {
  const { onClose } = app as { readonly onClose?: (close: (instance: unknown, done: () => void) => void) => unknown }
  onClose?.call(app, (_, done) => {
    // The stop waits for the hook; the close that follows warns of it.
    if (isBeforeClose()) done()
    else app.server.close(() => done())
  })
}
