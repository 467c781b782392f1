import type { Clock } from '../base/clock.ts'
import { errorRecord, type LifecycleFact } from '../base/events.ts'
import { muxEvent } from '../machines/region.ts'
import type { LifecycleInEvent } from '../machines/vocabulary.ts'

/** Who hears how a mux-complete signal ended. */
export interface MuxListener {
  readonly clock: Clock
  /** StopRequested: from then on it is no longer waited for. */
  readonly stop: AbortSignal
  readonly record: (fact: LifecycleFact) => void
  readonly send: (event: LifecycleInEvent) => void
}

/**
 * Tells the machine when a mux-complete signal is there, or fails. What it answers once a stop is
 * requested is late, and changes nothing.
 */
export function awaitMux(name: string, complete: AbortSignal | PromiseLike<unknown>, { clock, stop, record, send }: MuxListener): void {
  const fire = (): void => send({ type: muxEvent(name) })
  if (complete instanceof AbortSignal) {
    if (complete.aborted) fire()
    else complete.addEventListener('abort', fire, { once: true })
    return
  }
  let leftAt = stop.aborted ? clock.now() : undefined
  const leave = (): void => {
    leftAt = clock.now()
  }
  stop.addEventListener('abort', leave, { once: true })
  const what = `mux-complete signal ${name}`
  Promise.resolve(complete).then(
    () => {
      if (leftAt === undefined) fire()
      else record({ type: 'late', what, answer: 'resolved', lateMs: clock.now() - leftAt })
    },
    (thrown: unknown) => {
      const error = errorRecord(thrown)
      if (leftAt === undefined) {
        record({ type: 'error', where: what, error })
        send({ type: 'mux-signal.failed' })
      } else record({ type: 'late', what, answer: 'rejected', lateMs: clock.now() - leftAt, error })
    },
  )
}
