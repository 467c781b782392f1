import type { Check } from './health-check.ts'

/** Passes as long as the process answers at all. */
export const ping: Check = () => undefined

/** A log that has not been flushed for this long is stuck. */
export const LOG_FLUSH_AGE_MS_MAX = 2 * 60_000

/**
 * Fails while the log is stuck.
 * @param lastFlushAgeMs milliseconds since the last completed flush of the log
 */
export function logFlushed(lastFlushAgeMs: () => number): Check {
  return () => {
    if (lastFlushAgeMs() >= LOG_FLUSH_AGE_MS_MAX) throw new Error('logging blocked')
  }
}

/** Fails until the start is over: whatever answers by then is not the server that was meant. */
export function started(isStarting: () => boolean): Check {
  return () => {
    if (isStarting()) throw new Error('the server is starting')
  }
}

/** Fails from the beginning of the shutdown on, so that load balancers look elsewhere. */
export function notShuttingDown(isShuttingDown: () => boolean): Check {
  return () => {
    if (isShuttingDown()) throw new Error('process is shutting down')
  }
}

/** Fails while the program itself says that it is not ready, with its reason. */
export function readyByHand(reason: () => string | undefined): Check {
  return () => {
    const why = reason()
    if (why !== undefined) throw new Error(why)
  }
}

/** Fails until a post-start hook has returned. */
export function hookFinished(hasFinished: () => boolean): Check {
  return () => {
    if (!hasFinished()) throw new Error('not finished')
  }
}

/** Something that fills a local copy of remote data before the server is of any use. */
export interface SyncedInformer {
  /** What it holds, for the reason of a failure. */
  readonly type: string
  hasSynced(): boolean
}

/**
 * Fails until every informer has its first complete copy; upstream's name for it is
 * `informer-sync`, on `/readyz`.
 * @see kubernetes/apiserver pkg/server/healthz/healthz.go NewInformerSyncHealthz
 */
export function informersSynced(informers: Iterable<SyncedInformer>): Check {
  return () => {
    const waiting = [...informers].filter((informer) => !informer.hasSynced()).map(({ type }) => type)
    if (waiting.length > 0) throw new Error(`${waiting.length} informers not started yet: [${waiting.join(' ')}]`)
  }
}
