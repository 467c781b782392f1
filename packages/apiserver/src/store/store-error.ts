import { checkArguments, QuiesceError } from '../engine.ts'

/**
 * - `compacted`: what was there at that revision is forgotten; `details.compacted` is the oldest
 *   revision that can be read
 * - `future`: that revision is yet to come; `details.current` is the newest
 * - `unavailable`: it cannot be done now, and nothing was changed; later it may be
 * - `unknown`: a write whose answer did not come: it may have been done, or may still be
 * - `invalid-key`: no store can keep that key, and nothing was changed
 * - `too-large`: the store takes no value of that size, and nothing was changed
 * - `damaged`: what is stored is not what was written; `details.place` says where
 * - `closed`: the store has ended, and nothing was changed
 */
export type StoreErrorReason = 'compacted' | 'future' | 'unavailable' | 'unknown' | 'invalid-key' | 'too-large' | 'damaged' | 'closed'

/** What a store says instead of doing what it was asked. */
export class StoreError extends QuiesceError {
  readonly reason: StoreErrorReason

  constructor(reason: StoreErrorReason, message: string, details: Record<string, unknown> = {}, cause?: unknown) {
    checkArguments('new StoreError(reason, message)', [reason, 'a text'], [message, 'a text'])
    super('ERR_STORE', message, { reason, ...details }, cause)
    this.reason = reason
  }
}

export const compactedError = (asked: number, compacted: number): StoreError =>
  new StoreError('compacted', `revision ${asked} has been removed: revisions before ${compacted} are gone`, { asked, compacted })

export const futureError = (asked: number, current: number): StoreError =>
  new StoreError('future', `revision ${asked} does not exist yet: the newest is ${current}`, { asked, current })

export const storeClosed = (): StoreError => new StoreError('closed', 'the store is closed, and nothing was changed')
