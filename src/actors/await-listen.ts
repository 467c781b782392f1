import type { LifecycleFact } from '../base/events.ts'
import type { Host } from './host.ts'
import type { BoundAddress } from './listen-target.ts'
import type { Listener } from './listener.ts'
import { onProcessIdle } from './process-idle.ts'

interface Waiting {
  readonly host: Host
  readonly record: (fact: LifecycleFact) => void
}

/** The time in milliseconds after which the log says what is waited for. */
const PATIENCE_MS = 10_000

/**
 * Waits for the owner of a server to call its `listen()`, as long as it takes: what comes before
 * that, a database say, is the owner's. Only when the process has nothing left to do, nothing can
 * call it any more.
 * @throws QuiesceError ERR_NOTHING_TO_SERVE then, and when aborted; ERR_LISTEN with the system's
 * error as cause
 */
export async function awaitListen({ host, record }: Waiting, listener: Listener, signal: AbortSignal): Promise<BoundAddress> {
  // One controller for both, and no AbortSignal.any(): what that returns is kept for ever when it
  // has a listener [Node 20].
  const waiting = new AbortController()
  const giveUp = (): void => waiting.abort(signal.reason)
  signal.addEventListener('abort', giveUp, { once: true })
  if (signal.aborted) giveUp()
  const watching = onProcessIdle(host.process, () => waiting.abort())
  const timer = host.clock.setTimeout(
    () =>
      record({
        type: 'warning',
        message: 'the attached server does not listen yet: start-up waits for its listen()',
      }),
    PATIENCE_MS,
  )
  // A reminder is nothing to do.
  ;(timer as { unref?: () => void }).unref?.()
  try {
    return await listener.bind(waiting.signal)
  } finally {
    host.clock.clearTimeout(timer)
    signal.removeEventListener('abort', giveUp)
    watching[Symbol.dispose]()
  }
}
