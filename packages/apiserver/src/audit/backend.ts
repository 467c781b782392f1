import { type AuditBackend, type AuditCounts, QuiesceError, toError } from '../engine.ts'
import type { AuditEvent } from './event.ts'

/** A backend that takes events of requests. All of ours count what becomes of them. */
export interface EventBackend extends AuditBackend {
  /**
   * False, or a promise of it, when they could not be stored. Keeps no hold of the list.
   */
  processEvents(events: readonly AuditEvent[]): boolean | Promise<boolean>
  counts(): AuditCounts
}

/**
 * Reports events that a plugin could not store; none when it has stored them in spite of a trouble.
 * @see kubernetes/apiserver pkg/audit/metrics.go HandlePluginError
 */
export type PluginFailed = (plugin: string, error: Error, events: number) => void

/** Ignores a verdict that nothing waits for; the backend has counted what it could not store. */
export function forget(verdict: boolean | Promise<boolean>): void {
  if (typeof verdict !== 'boolean') verdict.catch((thrown: unknown) => void toError(thrown))
}

/**
 * The error for events that come after the end: requests that nothing waits for, such as probes.
 * They count as lost, and are no failure of the backend.
 */
export const afterShutdown = (): QuiesceError => new QuiesceError('ERR_TOO_LATE', 'audit backend shut down')
export const isAfterShutdown = (error: Error): boolean => error instanceof QuiesceError && error.code === 'ERR_TOO_LATE'

export const sumOf = (all: readonly AuditCounts[]): AuditCounts => ({
  delivered: all.reduce((sum, { delivered }) => sum + delivered, 0),
  lost: all.reduce((sum, { lost }) => sum + lost, 0),
  pending: all.reduce((sum, { pending }) => sum + pending, 0),
})

/**
 * What became of the events that a backend was given; plain fields, because every event bumps them.
 */
export class AuditCounter {
  accepted = 0
  delivered = 0
  lost = 0

  counts(): AuditCounts {
    const { accepted, delivered, lost } = this
    return { delivered, lost, pending: accepted - delivered - lost }
  }

  /** Counts events that were accepted before, and have been stored or not. */
  settle(events: number, isStored: boolean): boolean {
    if (isStored) this.delivered += events
    else this.lost += events
    return isStored
  }
}

/** Goes on after a verdict, now or when it is there; waits only for one that is a promise. */
export const after = <T>(verdict: boolean | Promise<boolean>, then: (isStored: boolean) => T): T | Promise<T> =>
  typeof verdict === 'boolean' ? then(verdict) : verdict.then(then)
