import type { Clock } from '../../base/clock.ts'

/**
 * Longer than any backlog that node asks for, which is 511: a queue that never empties is being
 * flooded.
 */
const POLLS_MAX = 1_000
/**
 * Nor is a queue that handlers, slower than their clients, never let run empty emptied for longer
 * than this.
 */
const LIMIT_MS = 1_000
/** So many polls there are in any case: a loop that was blocked has had no time to look. */
const POLLS_MIN = 100
/**
 * A loop that is busy without end is not waited for longer than this, once a poll has found
 * nothing.
 */
const PATIENCE_MS = 500
/**
 * The loop looks at the listening socket once in a turn. What it did after that, in a longer turn,
 * was time for more to come.
 */
const SHORT_TURN_MS = 0.1
const REST_MS = 1
/**
 * A queue that has not run empty after so long, or so many polls, is filled faster than it is
 * emptied.
 */
const FLOOD_MS = 100
const FLOOD_POLLS = 400

/** What keeps more connections from coming between the last look and the close. */
export interface QueueSeal {
  /**
   * In one step of the loop: true when nothing can be reset by a close in the same step, or when it
   * is no use to go on trying.
   */
  attempt(): Promise<boolean>
  /** Lets nothing more in for as long as something is in the queue. */
  shut(): void
}

/** How the queue is emptied. */
export interface Emptying {
  readonly clock: Clock
  /** How many connections there have been so far. */
  readonly accepted: () => number
  readonly close: () => void
  /**
   * Undefined where there is none: what comes between the last look and the close is reset then.
   */
  readonly seal: QueueSeal | undefined
  /** Called after every turn of the loop, with the time since the beginning. */
  readonly turned: (sinceMs: number) => void
}

/**
 * Lets the event loop accept what the kernel has accepted already: node takes one connection per
 * poll, and the kernel resets the rest when the listener closes. When a short turn has brought
 * none, and the queue is sealed where it can be, it closes the listener in the same step: a step
 * later one more may have come.
 */
export async function emptyAcceptQueue({ clock, accepted, close, seal, turned }: Emptying): Promise<void> {
  const begun = clock.now()
  // An immediate that is set while the loop handles what it has polled runs before it polls again.
  await nextTurn()
  let polls = 0
  const mayGoOn = (): boolean => polls < POLLS_MIN || (polls < POLLS_MAX && clock.now() - begun < LIMIT_MS)
  let isShut = false
  for (let isEmpty = false, hasRested = false; mayGoOn(); polls++) {
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
    if (isEmpty && hasRested) {
      if (!seal || (await seal.attempt())) break
      // What was in the queue by then is accepted first.
      isEmpty = hasRested = false
    } else if (!isShut && (now - begun >= FLOOD_MS || polls >= FLOOD_POLLS)) {
      isShut = true
      seal?.shut()
    }
  }
  close()
}

/**
 * A process that has polled without a pause is interrupted soon, most of all on a busy machine: not
 * between the last look and the close.
 */
function rest(): void {
  Atomics.wait(REST, 0, 0, REST_MS)
}

const REST = new Int32Array(new SharedArrayBuffer(4))

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
