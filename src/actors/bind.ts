import { errorRecord } from '../base/events.ts'
import { awaitListen } from './await-listen.ts'
import type { Listener } from './listener.ts'
import type { World } from './world.ts'

const CLOSED_BY_HOOK =
  'a hook or phase has called close() of the server, which closes only after it, so it must not wait for that: close frameworks in addDestroy()'

/**
 * All listeners or none: the first that fails ends start-up, and the stop that follows closes those
 * before it.
 */
export async function bind(world: World, signal: AbortSignal): Promise<void> {
  const listeners = await world.listeners()
  // Owners listen when they like, and in any order.
  const awaited = listeners.filter(({ awaitsListen }) => awaitsListen)
  const over = new AbortController()
  const giveUp = (): void => over.abort(signal.reason)
  signal.addEventListener('abort', giveUp, { once: true })
  if (signal.aborted) giveUp()
  try {
    await Promise.all(awaited.map((listener) => bindOne(world, listener, over.signal)))
  } catch (error) {
    over.abort(error)
    throw error
  }
  for (const listener of listeners) if (!awaited.includes(listener)) await bindOne(world, listener, signal)
}

async function bindOne(world: World, listener: Listener, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const { awaitsListen } = listener
  const bound = await (awaitsListen ? awaitListen(world, listener, signal) : listener.bind(signal)).catch((error: unknown) => {
    // The wait is over; the report should say more than that the time was over. An owner who was
    // still to call listen() is not at fault.
    if (signal.aborted && !awaitsListen) world.record({ type: 'error', where: 'bind', error: errorRecord(error) })
    throw error
  })
  // The life does not depend on the page that shows it.
  if (listener.kind !== 'inspector')
    listener.onDeath(
      (death) => {
        const error = death.kind === 'error' ? death.error : undefined
        if (error) world.record({ type: 'stopped-listening', url: bound.url, error: errorRecord(error) })
        world.listenerDied(bound.url, error)
        if (!error) closedByOwner(world, listener)
      },
      () => world.record({ type: 'warning', message: CLOSED_BY_HOOK }),
    )
  world.record({ type: 'listening', ...bound, admin: listener.admin, ...(listener.kind === 'inspector' && { inspector: true }) })
}

/**
 * An end of a listener by its owner, as node does it: the address is free in the step in which its
 * owner calls `close()`, and what the kernel has accepted and node has not is reset. A stop that
 * came first empties its accept queue.
 */
function closedByOwner({ endsByItself, record }: World, listener: Listener): void {
  if (endsByItself() || !listener.server.listening) return
  const url = listener.close()
  if (url !== undefined) record({ type: 'stopped-listening', url })
}
