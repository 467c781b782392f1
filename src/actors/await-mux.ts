import { isAbortSignal } from '../base/checked.ts'
import { errorRecord } from '../base/events.ts'
import type { MuxAnswer } from '../machines/phases/mux-signal.ts'

/**
 * Says when what completes a mux-complete signal is there, or fails: of an AbortSignal in the step
 * of its abort, of a promise when it settles.
 * @returns what ends the wait
 */
export function awaitMux(complete: AbortSignal | PromiseLike<unknown>, answer: (said: MuxAnswer) => void): () => void {
  const isThere = (): void => answer({ type: 'complete' })
  if (!isAbortSignal(complete)) {
    Promise.resolve(complete).then(isThere, (thrown: unknown) => answer({ type: 'failed', error: errorRecord(thrown) }))
    return () => {}
  }
  // Not in the step that begins the wait: it may be a stop's, after which this is late.
  if (complete.aborted) queueMicrotask(isThere)
  else complete.addEventListener('abort', isThere, { once: true })
  return () => complete.removeEventListener('abort', isThere)
}
