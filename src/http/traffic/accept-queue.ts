import { setImmediate } from 'node:timers'
import { type Clock, systemClock } from '../../base/clock.ts'

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
/**
 * The number of polls before time counts: a loop that is blocked, or whose turns are long, has had
 * no time to look.
 */
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
 * A queue that has not run empty after so long and {@link POLLS_MIN}, or after so many polls, is
 * filled faster than it is emptied. So long the handlers of new requests wait as well: to accept is
 * quick, and a handler that takes milliseconds would let its client, and others, fill the queue
 * again. On a loop with long turns they wait for half of the time that there is at most.
 */
const FLOOD_MS = 100
const FLOOD_POLLS = 400

/**
 * How long a queue stays open that was reopened, and how often it is. A client that lost its first
 * bytes sends them again after 200 ms and a round trip.
 */
const REOPENED_MS = 300
const REOPENED_MAX = 2

/**
 * `sealed`: a close in the same step resets nothing that was accepted, or it is no use to go on
 * trying. `others`: there is something in the queue. `reopened`: it was sealed, and something was
 * dropped since it was last open, perhaps the last packet of a handshake, whose client believes
 * that it is connected; what it sends next brings its connection into an open queue.
 */
export type Attempt = 'sealed' | 'others' | 'reopened'

/** What keeps more connections from coming between the last look and the close. */
export interface QueueSeal {
  /**
   * Tries in one step of the loop.
   * @param mayReopen whether there is time to wait for what was dropped
   */
  attempt(mayReopen: boolean): Promise<Attempt>
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
  /** `clock.now()` by which the listener has to close: no queue is reopened for longer. */
  readonly closesBy: number
  /** The signal is aborted when nothing is left to be emptied. */
  readonly signal: AbortSignal
  /** Lets handlers go on before the queue is empty. Every call after the first does nothing. */
  readonly goOn: () => void
}

/**
 * Lets the event loop accept what the kernel has accepted already: node takes one connection per
 * poll, and the kernel resets the rest when the listener closes. When a short turn has brought
 * none, and the queue is sealed where it can be, it closes the listener in the same step: a step
 * later one more may have come.
 */
export async function emptyAcceptQueue(emptying: Emptying): Promise<void> {
  const { clock, accepted, close, seal, goOn, signal } = emptying
  const begun = clock.now()
  const handlersWaitMs = Math.max(FLOOD_MS, (emptying.closesBy - begun) / 2)
  // An immediate that is set while the loop handles what it has polled runs before it polls again.
  await nextTurn()
  let polls = 0
  let reopened = 0
  let reopenedMs = 0
  const spentMs = (): number => clock.now() - begun - reopenedMs
  const mayGoOn = (): boolean => !signal.aborted && (polls < POLLS_MIN || (polls < POLLS_MAX && spentMs() < LIMIT_MS))
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
    const isFlooded = polls >= POLLS_MIN && spentMs() >= FLOOD_MS
    if (isFlooded || now - begun >= handlersWaitMs) goOn()
    const isPatient = spentMs() < PATIENCE_MS
    isEmpty = accepted() === before && (now - turnBegun <= SHORT_TURN_MS || !isPatient)
    hasRested &&= isEmpty
    if (isEmpty && hasRested) {
      const mayReopen = reopened < REOPENED_MAX && clock.now() + REOPENED_MS < emptying.closesBy
      const found = seal ? await seal.attempt(mayReopen) : 'sealed'
      if (found === 'sealed') break
      // What was in the queue by then is accepted first.
      isEmpty = hasRested = false
      if (found === 'reopened') {
        reopened++
        const since = clock.now()
        // What is there already has nothing to wait for now.
        goOn()
        await stayOpen(signal)
        reopenedMs += clock.now() - since
      }
    } else if (!isShut && (isFlooded || polls >= FLOOD_POLLS)) {
      isShut = true
      seal?.shut()
    }
  }
  close()
}

/**
 * Waits until a client has sent again what was dropped: by the kernel's time, whatever the clock of
 * the life says.
 */
function stayOpen(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      signal.removeEventListener('abort', end)
      systemClock.clearTimeout(timer)
      resolve()
    }
    const timer = systemClock.setTimeout(end, REOPENED_MS)
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
  })
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
