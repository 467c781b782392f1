import { type AnyActor, type AnyActorScope, type AnyMachineSnapshot, createActor } from 'xstate'
import type { Clock } from '../base/clock.ts'
import type { LifecycleMachine } from '../machines/lifecycle.ts'
import type { LifecycleInput } from '../machines/vocabulary.ts'

/** Between two steps of the first rehearsal, in ms: traffic comes first. */
const PAUSE_MS = 20
/** Of the later ones: they take most of a minute together, and less than 1 % of a processor. */
const LATER_PAUSE_MS = 150
/**
 * An end without hooks and phases of the user's takes eighteen, and everything has run once by
 * then.
 */
const STEPS_MAX = 24
/**
 * The first brings most. What runs this often is compiled by V8's optimizing compiler, in threads
 * whose time counts: after so many times it has been, before the end and not in it [measured].
 */
const TIMES = 18

/** Machines are shared by lives of equal plans. */
const rehearsed = new WeakSet<LifecycleMachine>()

/**
 * Rehearses the end of a life while the server serves: on the very machine that runs, step by step
 * and with pauses, as pure functions, so that no effect runs and no timer is set. Code that runs
 * for the first time costs many times what it costs later, and nearly all that the end of a life
 * runs would run for the first time, when others wait for it (docs/decisions/0016).
 *
 * Calls `setTimeout` of the clock for each step and keeps no process alive. Stops when `signal` is
 * aborted. A second call with the same machine does nothing.
 */
export function rehearseEnd(machine: LifecycleMachine, input: LifecycleInput, clock: Clock, signal: AbortSignal): void {
  if (rehearsed.has(machine)) return
  rehearsed.add(machine)
  const pauses = rehearsals(machine, input)
  const next = (): void => {
    const pauseMs = signal.aborted ? undefined : step(pauses)
    if (pauseMs === undefined) return
    const timer = clock.setTimeout(next, pauseMs)
    ;(timer as { unref?: () => void }).unref?.()
  }
  next()
}

/** Undefined after the last. */
function step(pauses: Generator<number, undefined>): number | undefined {
  try {
    return pauses.next().value
  } catch {
    // Nothing depends on it; the life itself would say what is wrong with its machine.
    return undefined
  }
}

/** The pause before each step, in ms. */
function* rehearsals(machine: LifecycleMachine, input: LifecycleInput): Generator<number, undefined> {
  // Not in the step of the start.
  yield PAUSE_MS
  yield* rehearsal(machine, input, PAUSE_MS)
  for (let time = 1; time < TIMES; time++) yield* rehearsal(machine, input, LATER_PAUSE_MS)
}

function* rehearsal(machine: LifecycleMachine, input: LifecycleInput, pauseMs: number): Generator<number, undefined> {
  const self = createActor(machine, { input })
  const scope = inertScope(self)
  let snapshot: AnyMachineSnapshot = self.getSnapshot()
  const ways = [{ type: 'start' }, { type: 'process.signalled', signal: 'SIGTERM', interactive: false }]
  for (let i = 0; i < STEPS_MAX && snapshot.status === 'active'; i++) {
    yield pauseMs
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
