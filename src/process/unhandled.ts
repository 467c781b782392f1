import { setImmediate } from 'node:timers'
import { sharedByCopies } from '../base/shared-by-copies.ts'
import { SharedListeners } from '../base/shared-listeners.ts'

/** Emitted before each uncaught exception; listening to it changes nothing. */
const MONITOR = 'uncaughtExceptionMonitor'

type Listener = (thrown: unknown) => void

/** Where it is heard that nothing in the program handles an error: the process. */
export interface UnhandledSource {
  on(event: typeof MONITOR, listener: Listener): unknown
  prependListener(event: 'uncaughtException' | 'unhandledRejection', listener: Listener): unknown
  off(event: typeof MONITOR | 'uncaughtException' | 'unhandledRejection', listener: Listener): unknown
  listenerCount(event: 'unhandledRejection'): number
}

const exceptions = sharedByCopies(
  'uncaught',
  () =>
    new SharedListeners<UnhandledSource, [thrown: unknown]>((source, notify) => {
      source.on(MONITOR, notify)
      return () => void source.off(MONITOR, notify)
    }),
)

/**
 * Calls back once, instead of the process ending, when nothing in the program handles this very
 * error: it is thrown, or a promise rejects with it, however late. Whatever else the program throws
 * or rejects with is treated as if this were not there, until disposed and after it.
 */
export function whenUnhandled(source: UnhandledSource, error: unknown, unhandled: () => void): Disposable {
  const disposables: Disposable[] = []
  const dispose = (): void => {
    for (const one of disposables.splice(0)) one[Symbol.dispose]()
  }
  const take = (): void => {
    dispose()
    unhandled()
  }
  // It is there for this exception alone, which is emitted in the step of the monitor's event; a
  // capture callback may take it before that.
  const monitor = exceptions.listen(source, (thrown) => {
    if (thrown !== error) return
    source.prependListener('uncaughtException', take)
    const giveBack = (): void => void source.off('uncaughtException', take)
    disposables.push({ [Symbol.dispose]: giveBack })
    process.nextTick(giveBack)
  })
  disposables.push(monitor)
  // A listener of the program's keeps a rejection from becoming an exception, and one more beside
  // it changes nothing. Only the rejection that comes with the error is heard so: of a later one
  // nothing says whether the others still listen.
  if (source.listenerCount('unhandledRejection') > 0) disposables.push(besideOthers(source, error, take))
  return { [Symbol.dispose]: dispose }
}

function besideOthers(source: UnhandledSource, error: unknown, take: () => void): Disposable {
  const onRejection = (reason: unknown): void => {
    if (reason === error) {
      take()
      return
    }
    // Called before the others, which hear it too.
    if (source.listenerCount('unhandledRejection') > 1) return
    // The others have gone meanwhile. Rejected once more, it is treated as by a process without
    // them.
    stop()
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- as given
    void Promise.reject(reason)
  }
  const stop = (): void => void source.off('unhandledRejection', onRejection)
  source.prependListener('unhandledRejection', onRejection)
  setImmediate(stop)
  return { [Symbol.dispose]: stop }
}
