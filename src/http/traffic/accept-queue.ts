import type { Clock } from '../../base/clock.ts'

/** Longer than any backlog that node asks for, which is 511: a queue that never empties is being flooded. */
const POLLS_MAX = 1_000
/** Nor is a queue that handlers, slower than their clients, never let run empty emptied for longer than this. */
const LIMIT_MS = 1_000
/** So many polls there are in any case: a loop that was blocked has had no time to look. */
const POLLS_MIN = 100
/** A loop that is busy without end is not waited for longer than this, once a poll has found nothing. */
const PATIENCE_MS = 500
/** The loop looks at the listening socket once in a turn. What it did after that, in a longer turn, was time for more to come. */
const SHORT_TURN_MS = 0.1
const REST_MS = 1

/** How the queue is emptied. */
export interface Emptying {
  readonly clock: Clock
  /** How many connections there have been so far. */
  readonly accepted: () => number
  readonly close: () => void
  /** Called after every turn of the loop, with the time since the beginning. */
  readonly turned: (sinceMs: number) => void
}

/**
 * Lets the event loop accept what the kernel has accepted already: node takes one connection per poll, and the kernel resets the rest
 * when the listener closes. When a short turn has brought none, it closes the listener in the same step: a step later one more may have come.
 */
export async function emptyAcceptQueue({ clock, accepted, close, turned }: Emptying): Promise<void> {
  const begun = clock.now()
  // An immediate that is set while the loop handles what it has polled runs before it polls again.
  await nextTurn()
  let polls = 0
  const mayGoOn = (): boolean => polls < POLLS_MIN || (polls < POLLS_MAX && clock.now() - begun < LIMIT_MS)
  for (let isEmpty = false, hasRested = false; !(isEmpty && hasRested) && mayGoOn(); polls++) {
    if (isEmpty) {
      rest()
      hasRested = true
    }
    const before = accepted()
    const turnBegun = clock.now()
    await nextTurn()
    const now = clock.now()
    turned(now - begun)
    const isPatient = now - begun < PATIENCE_MS
    isEmpty = accepted() === before && (now - turnBegun <= SHORT_TURN_MS || !isPatient)
    hasRested &&= isEmpty
  }
  close()
}

/** A process that has polled without a pause is interrupted soon, most of all on a busy machine: not between the last look and the close. */
function rest(): void {
  Atomics.wait(REST, 0, 0, REST_MS)
}

const REST = new Int32Array(new SharedArrayBuffer(4))

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
