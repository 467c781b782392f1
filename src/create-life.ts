import { type Host, systemHost } from './actors/host.ts'
import { observationOf } from './inspector/observation.ts'
import type { Life } from './lifecycle/life.ts'
import { Lifecycle } from './lifecycle/lifecycle.ts'
import { type LifecycleOptions, resolveLifeOptions } from './options/options.ts'
import { processFacts } from './platforms/platforms.ts'
import { keepAliveUntil } from './process/keep-alive.ts'

/**
 * Creates a life that serves nothing: a queue worker, a scheduled job. It has the same hooks,
 * holds, signals, deadline and report as a server's, and lasts from `run()` to a stop, whatever
 * else keeps the process. Work joins the drain by `hold()`. Health and metrics are answered on the
 * listener of the option `admin`, when there is one. No shutdown delay by default: there are no
 * clients to move elsewhere.
 *
 * @throws QuiesceError ERR_OPTION_INVALID with one line for every option that cannot be used
 * @example
 * const life = createLife({ admin: { port: 9090 } })
 * queue.onJob((job) => life.hold(job.name, ({ signal }) => job.work(signal)))
 * await life.run()
 */
export function createLife(options: LifecycleOptions = {}): Life {
  return createLifeOn(systemHost, options)
}

/** `createLife` in a given world; the test kit has its own. */
export function createLifeOn(host: Host, options: LifecycleOptions): Lifecycle {
  const resolved = resolveLifeOptions(options, { facts: processFacts(host.process) })
  const life = new Lifecycle({
    options: resolved,
    servesNothing: true,
    host,
    openListeners: () => Promise.resolve([]),
    log: { isForAll: false },
    observe: observationOf,
  })
  life.signal('Serving').addEventListener('abort', () => keepAliveUntil(life.signal('StopRequested')), { once: true })
  return life
}
