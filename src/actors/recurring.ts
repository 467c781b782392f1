import { AsyncResource } from 'node:async_hooks'
import { isOwnAbort } from '../base/abort-error.ts'
import type { Clock } from '../base/clock.ts'
import type { HoldContext } from '../http/traffic/holds.ts'

/** What recurring work needs of its life. */
export interface RecurringWorld {
  readonly clock: Clock
  /**
   * Makes one run part of the request drain; calls nothing when the drain waits for nothing else.
   */
  readonly hold: (name: string, work: (context: HoldContext) => unknown) => Promise<unknown>
  /** Aborted when the life serves: nothing runs before that. */
  readonly serving: AbortSignal
  /** Aborted when nothing may begin any more. */
  readonly over: AbortSignal
  readonly failed: (thrown: unknown) => void
}

/**
 * Runs `work` every `periodMs` from serving until that is over. Runs never overlap: what falls into
 * a run that is still under way is left out, and the rhythm stays. A run that fails is reported,
 * and the next one comes all the same.
 *
 * @returns what ends it; a run that is under way goes on
 */
export function recur(name: string, periodMs: number, work: (context: HoldContext) => unknown, world: RecurringWorld): Disposable {
  const { clock, serving, over } = world
  // Timers are set in steps of the machine; the work belongs to its caller's context.
  const run = AsyncResource.bind(work)
  let timer: unknown
  let isOver = false

  const end = (): void => {
    isOver = true
    clock.clearTimeout(timer)
    serving.removeEventListener('abort', begin)
    over.removeEventListener('abort', end)
  }
  const waitUntil = (due: number): void => {
    if (!isOver) timer = clock.setTimeout(() => void tick(due), Math.max(0, due - clock.now()))
  }
  const tick = async (due: number): Promise<void> => {
    let given: AbortSignal | undefined
    try {
      await world.hold(name, (context) => {
        given = context.signal
        return run(context)
      })
    } catch (thrown) {
      if (!given || !isOwnAbort(thrown, given)) world.failed(thrown)
    }
    waitUntil(nextDue(due, periodMs, clock.now()))
  }
  const begin = (): void => waitUntil(clock.now() + periodMs)

  over.addEventListener('abort', end, { once: true })
  if (serving.aborted) begin()
  else serving.addEventListener('abort', begin, { once: true })
  return { [Symbol.dispose]: end }
}

/** The next beat after `now` of a rhythm that has one at `due`. */
const nextDue = (due: number, periodMs: number, now: number): number => due + periodMs * (Math.floor(Math.max(0, now - due) / periodMs) + 1)
