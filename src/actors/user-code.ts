import { type AnyActorRef, fromPromise, type NonReducibleUnknown } from 'xstate'
import { isOwnAbort } from '../base/abort-error.ts'
import type { Clock } from '../base/clock.ts'
import { errorRecord, type LifecycleFact, type StopCause } from '../base/events.ts'

/** What user code is called with. */
export interface UserCodeContext {
  /** The name under which it was registered. */
  readonly name: string
  /** Aborted when it is no longer waited for. */
  readonly signal: AbortSignal
  /**
   * Why the life ends: `kind`, and with it the OS signal, the reason given to `stop()`, or the
   * Error itself. undefined until a stop is requested.
   */
  readonly reason: StopCause | undefined
}

/** What user code is called with that runs at the end of a life only. */
export interface StopCodeContext extends UserCodeContext {
  readonly reason: StopCause
}

/**
 * A function of the user's: it may return anything, throw anything, never return, or answer too
 * late.
 */
export type UserCode = (context: UserCodeContext) => unknown

/** The same, of a pre-shutdown hook or a destroy function. */
export type StopCode = (context: StopCodeContext) => unknown

export interface UserCodeWorld {
  readonly host: { readonly clock: Clock }
  readonly record: (fact: LifecycleFact) => void
  /**
   * Runs the function where the caller of `start()` stood, so that its AsyncLocalStorage values are
   * visible.
   */
  readonly inContext: <R>(fn: () => R) => R
  readonly causes: { readonly cause: StopCause | undefined; keep(what: string, thrown: unknown): void }
}

/** All actors of one life, and of no other. */
export type ActorSystem = AnyActorRef['system']

/**
 * An actor that runs one piece of user code. When its machine leaves it, the code's signal is
 * aborted with `reason`, and whatever it answers afterwards is reported as late and changes nothing
 * else.
 */
export function userCode<W extends UserCodeWorld, I extends NonReducibleUnknown>(
  worldOf: (system: ActorSystem) => W,
  choose: (
    world: W,
    input: I,
  ) => {
    readonly name: string
    readonly what: string
    readonly run: UserCode | undefined
    readonly reason: Error
    /**
     * The controller of its signal, for a caller that aborts it also when the code has returned.
     * Default: one of its own.
     */
    readonly controller?: AbortController | undefined
  },
) {
  return fromPromise<void, I>(async ({ input, signal, system }) => {
    const world = worldOf(system)
    const { name, what, run, reason, controller = new AbortController() } = choose(world, input)
    if (!run) return
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
    // xstate starts the children of an actor before the actor's own first actions: a turn later,
    // the hook's start has been recorded.
    await Promise.resolve()
    // What meant "now" came in the same step: nothing begins any more.
    if (signal.aborted) return
    try {
      await world.inContext(() => run({ name, signal: controller.signal, reason: world.causes.cause }))
      late('resolved')
    } catch (thrown) {
      if (isOwnAbort(thrown, controller.signal)) return late('resolved')
      world.causes.keep(what, thrown)
      late('rejected', thrown)
      throw thrown
    }
  })
}
