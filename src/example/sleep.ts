import type { Clock } from '../base/clock.ts'

/**
 * Waits for a time of the clock, or until one of the signals aborts; resolves in both cases and
 * leaves nothing behind.
 */
export function sleep(clock: Clock, ms: number, ...signals: readonly AbortSignal[]): Promise<void> {
  if (signals.some((signal) => signal.aborted)) return Promise.resolve()
  return new Promise((resolve) => {
    const wake = (): void => {
      clock.clearTimeout(timer)
      for (const signal of signals) signal.removeEventListener('abort', wake)
      resolve()
    }
    const timer = clock.setTimeout(wake, ms)
    for (const signal of signals) signal.addEventListener('abort', wake)
  })
}
