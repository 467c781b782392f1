import type { ConnectionsLost } from '../machines/phases/close-connections.ts'
import type { ListenerClose } from '../machines/phases/close-listener.ts'
import { AcceptSeal } from './accept-seal.ts'
import { closeAll, type Listener } from './listener.ts'
import type { World } from './world.ts'

// How listeners and connections end, step by step.

const OLDER =
  'connections were open before attachLifecycle(): their requests cannot be counted, so the stop waits for the connections to close. Attach before the server listens'

/** Waits for connections to end; a cut records nothing, because `destroyConnections` does. */
export async function lingerConnections(world: World, signal: AbortSignal): Promise<void> {
  world.traffic.endUpgraded()
  await world.traffic.connectionsClosed()
  await world.older?.gone(signal, (count) => world.record({ type: 'warning', message: OLDER, details: { count } }))
  if (!signal.aborted) recordConnections(world)
}

/** Destroys what is left in one step; the last look comes a step later. */
export async function destroyConnections(world: World): Promise<ConnectionsLost> {
  const { lost } = world.traffic.destroyConnections()
  const older = world.older?.destroy()
  recordConnections(world)
  return { lost: lost + ((await older) ?? 0) }
}

const UNFINISHED = 'connections were closed before their TLS handshake had ended'
/** A warning names so many. */
const UNFINISHED_NAMED_MAX = 10

function recordConnections({ traffic, record }: World): void {
  const unfinished = traffic.snapshot.unfinishedConnections()
  if (unfinished.length > 0) {
    const details = { count: unfinished.length, clients: unfinished.slice(0, UNFINISHED_NAMED_MAX).map(({ name }) => name) }
    record({ type: 'warning', message: UNFINISHED, details })
  }
  const { lastRequestMs } = traffic
  record({ type: 'connections', ...traffic.snapshot.connectionFates(), ...(lastRequestMs !== undefined && { lastRequestMs }) })
}

/** Cut, it finds the listeners closed already. */
export async function acceptThenClose(world: World, { lastCallMs }: ListenerClose, signal: AbortSignal): Promise<void> {
  const listeners = publicListeners(world)
  const close = (): void => closed(world, closeAll(listeners))
  if (lastCallMs === 0) return close()
  const seal = AcceptSeal.of(listeners.map(({ server }) => server))
  try {
    await world.traffic.lastCall.acceptQueued(close, signal, seal)
  } finally {
    seal?.[Symbol.dispose]()
  }
}

/** The same without a look at what the kernel has accepted. */
export function closeListeners(world: World): void {
  closed(world, closeAll(publicListeners(world)))
}

/** The public listeners in reverse, as everything that is taken back. */
const publicListeners = ({ opened }: World): Listener[] => [...opened()].filter(({ admin }) => !admin).reverse()

function closed({ record, traffic }: World, urls: readonly string[]): void {
  traffic.listenersClosed()
  for (const url of urls) record({ type: 'stopped-listening', url })
}

export async function closeIdleConnections({ traffic, record }: World): Promise<void> {
  await traffic.lastCall.closeIdleConnections()
  const { came } = traffic.lastCall
  if (came) record({ type: 'last-call', ...came })
}

export function closeAdmin({ opened, traffic }: World): void {
  for (const listener of opened()) if (listener.kind === 'admin') listener.close()
  traffic.destroyAdminConnections()
}
