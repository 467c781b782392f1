import { type AnyActor, type AnyActorScope, type AnyMachineSnapshot, createActor } from 'xstate'
import type { Clock } from '../base/clock.ts'
import type { LifecycleMachine } from '../machines/lifecycle.ts'
import type { LifecycleInput } from '../machines/vocabulary.ts'

/** Between two steps of a rehearsal: traffic comes first. */
const PAUSE_MS = 20
/**
 * An end without hooks and phases of the user's takes eighteen, and everything has run once by
 * then.
 */
const STEPS_MAX = 24

/**
 * Rehearses the end of a life while the server serves: on the very machine that
 * runs, step by step and with pauses, as pure functions, so that no effect runs and no timer is
 * set. Code that runs for the first time costs many times what it costs later, and nearly all that
 * the end of a life runs would run for the first time, when others wait for it
 * (docs/decisions/0016).
 *
 * Calls `setTimeout` of the clock for each step and keeps no process alive. Stops when `signal` is
 * aborted.
 */
export function rehearseEnd(machine: LifecycleMachine, input: LifecycleInput, clock: Clock, signal: AbortSignal): void {
  const steps = rehearsal(machine, input)
  const next = (): void => {
    if (!signal.aborted && goesOn(steps)) wait()
  }
  const wait = (): void => {
    const timer = clock.setTimeout(next, PAUSE_MS)
    ;(timer as { unref?: () => void }).unref?.()
  }
  wait()
}

function goesOn(steps: Generator): boolean {
  try {
    return !steps.next().done
  } catch {
    // Nothing depends on it; the life itself would say what is wrong with its machine.
    return false
  }
}

function* rehearsal(machine: LifecycleMachine, input: LifecycleInput): Generator<undefined, void> {
  const self = createActor(machine, { input })
  const scope = inertScope(self)
  let snapshot: AnyMachineSnapshot = self.getSnapshot()
  const ways = [{ type: 'start' }, { type: 'process.signalled', signal: 'SIGTERM', interactive: false }]
  for (let i = 0; i < STEPS_MAX && snapshot.status === 'active'; i++) {
    yield
    const [child] = Object.keys(snapshot.children)
    // Whatever has begun ends well; then the next thing that the outside says.
    const event = child === undefined ? ways.shift() : { type: `xstate.done.actor.${child}`, actorId: child, output: { outcome: 'ok' } }
    if (!event) return
    const before = snapshot
    snapshot = machine.transition(snapshot as never, event as never, scope as never)
    if (snapshot === before) return
  }
}

/**
 * What xstate's own `transition()` makes anew for each step, and with it the first state of the
 * whole machine, which is four fifths of the work of a rehearsal.
 */
function inertScope(self: AnyActor): AnyActorScope {
  const nothing = (): void => undefined
  const { id, sessionId, system } = self
  return { self, id, sessionId, system, logger: nothing, defer: nothing, stopChild: nothing, emit: nothing, actionExecutor: nothing }
}
