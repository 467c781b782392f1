import { Observable } from 'rxjs/internal/Observable'
import type { Clock } from '../engine.ts'

/** Gives one value after a time, and completes. Unsubscribed from, it leaves no timer behind. */
export const afterTime = (clock: Clock, ms: number): Observable<void> =>
  new Observable((subscriber) => {
    const timer = clock.setTimeout(() => {
      subscriber.next()
      subscriber.complete()
    }, ms)
    return () => clock.clearTimeout(timer)
  })

/** Gives one value once a signal is aborted, and completes. */
export const aborted = (signal: AbortSignal): Observable<void> =>
  new Observable((subscriber) => {
    const end = (): void => {
      subscriber.next()
      subscriber.complete()
    }
    if (signal.aborted) return end()
    signal.addEventListener('abort', end)
    return () => signal.removeEventListener('abort', end)
  })
