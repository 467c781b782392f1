import type { FastifyInstance } from 'fastify'
import { type AttachedLife, attachLifecycle } from '../attach.ts'
import type { LifecycleOptions } from '../options/options.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The life of this server. */
    readonly life: AttachedLife
  }
}

/**
 * A Fastify plugin: `app.life` is a life around the app's server, with health endpoints unless the
 * option `health` says otherwise. It runs once the app listens, and ends with the app's `onClose`
 * hooks. The options are those of `attachLifecycle`.
 *
 * @throws QuiesceError as `attachLifecycle`, which Fastify's `ready()` and `listen()` reject with
 * @example
 * await app.register(quiesce, { deadline: '25s' })
 * app.life.addPreShutdownHook('leave', () => registry.leave())
 * await app.listen({ port: 3000 })
 */
export const quiesce = Object.assign(
  async (app: FastifyInstance, options: LifecycleOptions): Promise<void> => {
    const life = attachLifecycle(app.server as Parameters<typeof attachLifecycle>[0], { health: true, ...options })
    life.addDestroy('fastify', () => app.close())
    app.decorate('life', life)
    // Not before: what only calls inject(), as tests do, has no process to end.
    app.addHook('onListen', async () => void life.run())
  },
  // What fastify-plugin does: the decoration is there for the whole app.
  { [Symbol.for('skip-override')]: true, [Symbol.for('fastify.display-name')]: 'quiesce' },
)
