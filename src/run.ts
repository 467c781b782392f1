import { isMainThread } from 'node:worker_threads'
import { onStopSignal } from './actors/os-signals.ts'
import { QuiesceError } from './errors.ts'
import { errorRecord } from './events.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Report } from './report.ts'

/** A process that is still alive this long after the end of its life is told on and ended. */
const EXIT_GRACE_MS = 1_000

/**
 * Runs a life as the main job of the process: OS signals, crashes, the IPC message `shutdown` and the option `signal` stop it,
 * and the process ends with the report's exit code. See `Lifecycle.run` for the contract.
 */
export async function runLifecycle(life: Lifecycle): Promise<Report> {
  if (!isMainThread) {
    throw new QuiesceError(
      'ERR_WORKER_THREAD',
      'run() owns the process and works in the main thread only; use start() and stop() in a worker',
    )
  }
  life.begin()
  const owned = [ownSignals(life), ownCrashes(life), ownIpc(life), ownAbortSignal(life)]
  let isForced = false
  const watching = life.events$.subscribe((event) => {
    if (event.type === 'forced') isForced = true
  })
  try {
    // A failed start ends the life like every other failure does, and stands in its report.
    await life.start().catch(() => {})
    const report = await life.ended
    endProcess(life, report, isForced)
    return report
  } finally {
    watching.unsubscribe()
    for (const disposable of owned) disposable[Symbol.dispose]()
  }
}

const ownSignals = (life: Lifecycle): Disposable => onStopSignal(life.host.process, (signal) => life.signalled(signal))

/** Installed only where nobody else decides about crashes: two deciders would both end the process. */
function ownCrashes(life: Lifecycle): Disposable {
  const { process } = life.host
  const owned = (['uncaughtException', 'unhandledRejection'] as const).map((event) => {
    if (process.listenerCount(event) > 0) {
      life.record({ type: 'warning', message: `${event} has a listener already: crashes are left to it and do not stop the server` })
      return () => {}
    }
    const onCrash = (error: unknown): void => life.send({ type: 'process.crashed', origin: event, error: errorRecord(error) })
    process.on(event, onCrash)
    return () => process.off(event, onCrash)
  })
  return {
    [Symbol.dispose]: () => {
      for (const disown of owned) disown()
    },
  }
}

/** Process managers on Windows, and PM2 with `shutdown_with_message`, have no SIGTERM to send. */
function ownIpc(life: Lifecycle): Disposable {
  const { process } = life.host
  const onMessage = (message: unknown): void => {
    if (message === 'shutdown') life.requestStop({ kind: 'ipc' })
  }
  if (process.send) process.on('message', onMessage)
  return { [Symbol.dispose]: () => void process.off('message', onMessage) }
}

function ownAbortSignal(life: Lifecycle): Disposable {
  const { signal } = life.options
  const onAbort = (): void => life.requestStop({ kind: 'abort-signal', reason: String(signal?.reason) })
  if (signal?.aborted) onAbort()
  else signal?.addEventListener('abort', onAbort, { once: true })
  return { [Symbol.dispose]: () => signal?.removeEventListener('abort', onAbort) }
}

/**
 * The process ends by itself when nothing keeps it alive. What still does is named on stderr after a second and overruled;
 * a forced end does not wait for it.
 */
function endProcess(life: Lifecycle, { exitCode }: Report, isForced: boolean): void {
  const { process, clock } = life.host
  process.exitCode ??= exitCode
  if (isForced) {
    process.exit(exitCode)
    return
  }
  if (life.options.exit === 'natural') return
  const timer = clock.setTimeout(() => {
    const resources = process.getActiveResourcesInfo().filter((name) => name !== 'Timeout')
    process.stderr.write(
      `quiesce: ended, but still alive after ${EXIT_GRACE_MS} ms because of: ${resources.join(', ') || 'a timer'}; exiting\n`,
    )
    process.exit(process.exitCode as number)
  }, EXIT_GRACE_MS)
  // The only timer that must not keep the process alive: it is there to end it.
  ;(timer as { unref?: () => void }).unref?.()
}
