import type { Clock } from '../base/clock.ts'
import { show } from '../base/errors.ts'
import { errorRecord, type LifecycleFact } from '../base/events.ts'
import { muxEvent } from '../machines/region.ts'
import type { LifecycleInEvent } from '../machines/vocabulary.ts'

/** So long after the start a signal that is not there has a name in the log. */
const OVERDUE_MS = 5_000

/** Who hears how a mux-complete signal ended. */
export interface MuxListener {
  readonly clock: Clock
  /** Those that are not there yet. */
  readonly pending: Set<string>
  /** Whether the server serves: then something waits for them. */
  readonly isServing: () => boolean
  /** StopRequested: from then on it is no longer waited for. */
  readonly stop: AbortSignal
  readonly record: (fact: LifecycleFact) => void
  readonly send: (event: LifecycleInEvent) => void
}

/**
 * Tells the machine when a mux-complete signal is there, or fails. What it answers once a stop is
 * requested is late, and changes nothing.
 */
export function awaitMux(name: string, complete: AbortSignal | PromiseLike<unknown>, listener: MuxListener): void {
  const { clock, stop, record, send } = listener
  const over = nameIfOverdue(name, listener)
  const fire = (): void => {
    over()
    send({ type: muxEvent(name) })
  }
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
        over()
        record({ type: 'error', where: what, error })
        send({ type: 'mux-signal.failed' })
      } else record({ type: 'late', what, answer: 'rejected', lateMs: clock.now() - leftAt, error })
    },
  )
}

/**
 * Names a signal that is not there after a while, or when a server stops, once: what waits for it
 * cannot be seen otherwise.
 * @returns to be called when it is there, or has failed
 */
function nameIfOverdue(name: string, { clock, stop, record, pending, isServing }: MuxListener): () => void {
  pending.add(name)
  let isNamed = false
  const warn = (): void => {
    if (isNamed || !pending.has(name) || !isServing()) return
    isNamed = true
    record({
      type: 'warning',
      message: `mux-complete signal ${show(name)} is not there: until it is, MuxAndDiscoveryComplete is waited for, and unknown paths of an API server are answered 503`,
      details: { muxSignal: name },
    })
  }
  const timer = clock.setTimeout(warn, OVERDUE_MS)
  const stopped = (): void => {
    clock.clearTimeout(timer)
    warn()
  }
  stop.addEventListener('abort', stopped, { once: true })
  return () => {
    pending.delete(name)
    clock.clearTimeout(timer)
    stop.removeEventListener('abort', stopped)
  }
}
