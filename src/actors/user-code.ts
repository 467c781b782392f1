import { fromPromise, type NonReducibleUnknown } from 'xstate'
import { errorRecord, type LifecycleFact } from '../events.ts'
import type { Clock } from './clock.ts'

/** What user code is called with: its name, and a signal that is aborted when nobody waits for it any more. */
export interface UserCodeContext {
  readonly name: string
  readonly signal: AbortSignal
}

/** A function of the user's: it may return anything, throw anything, never return, or answer when nobody listens any more. */
export type UserCode = (context: UserCodeContext) => unknown

export interface UserCodeWorld {
  readonly host: { readonly clock: Clock }
  readonly record: (fact: LifecycleFact) => void
  /** Runs the function where the caller of `start()` stood, so that its AsyncLocalStorage values are visible. */
  readonly inContext: <R>(fn: () => R) => R
}

/**
 * An actor that runs one piece of user code. When its machine leaves it, the code's signal is aborted with `reason`, and
 * whatever it answers afterwards is reported as late and changes nothing else.
 */
export function userCode<I extends NonReducibleUnknown>(
  world: UserCodeWorld,
  choose: (input: I) => { readonly name: string; readonly what: string; readonly run: UserCode | undefined; readonly reason: Error },
) {
  return fromPromise<void, I>(async ({ input, signal }) => {
    const { name, what, run, reason } = choose(input)
    if (!run) return
    const controller = new AbortController()
    let leftAt: number | undefined
    signal.addEventListener('abort', () => {
      leftAt = world.host.clock.now()
      controller.abort(reason)
    })
    const late = (answer: 'resolved' | 'rejected', thrown?: unknown): void => {
      if (leftAt === undefined) return
      const lateMs = world.host.clock.now() - leftAt
      world.record({ type: 'late', what, answer, lateMs, ...(answer === 'rejected' && { error: errorRecord(thrown) }) })
    }
    // xstate starts the children of an actor before the actor's own first actions: a turn later, the hook's start has been told.
    await Promise.resolve()
    try {
      await world.inContext(() => run({ name, signal: controller.signal }))
      late('resolved')
    } catch (thrown) {
      late('rejected', thrown)
      throw thrown
    }
  })
}
