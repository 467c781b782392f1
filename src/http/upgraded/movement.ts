import type { Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import { untakenBytes } from '../../base/node-internals.ts'
import { carriedBy } from '../carried.ts'

/**
 * A transfer that moves no byte for so long is over, or stands still. It is what TCP waits for
 * before it sends again what was lost on a new connection, so that one lost packet looks like no
 * end; on one that has measured its round trips it is several times that.
 * @see RFC 6298 section 2.1
 */
const STILL_MS = 1_000

/** How often it is looked: so much later than it is, a transfer is seen to stand still. */
const LOOK_MS = 250

interface MovementOptions {
  /** A number that changes with every byte, in either direction. */
  readonly moved: () => number
  /** Learns, once, that nothing has moved for long enough. */
  readonly still: () => void
  /** The most time that there is: of a short one, a half has to do. Default: there is. */
  readonly withinMs?: number | undefined
}

/**
 * Whether bytes move where nothing else is known of what is sent: the one place that says so. It
 * begins to look when a stop has come, and costs nothing before.
 */
export class Movement {
  readonly #clock: Clock
  readonly #moved: () => number
  readonly #still: () => void
  readonly #stillMs: number
  #last: number
  /** `clock.now()` at which it was last seen to move, or else begun to be looked at. */
  #since: number
  #hasMoved = false
  #timer: unknown

  constructor(clock: Clock, { moved, still, withinMs = 0 }: MovementOptions) {
    this.#clock = clock
    this.#moved = moved
    this.#still = still
    this.#stillMs = withinMs > 0 ? Math.min(STILL_MS, withinMs / 2) : STILL_MS
    this.#last = moved()
    this.#since = clock.now()
    this.#arm()
  }

  /** Whether it was seen to move, and not that it stands still since. */
  get isMoving(): boolean {
    this.#look()
    return this.#hasMoved && !this.#isStill
  }

  /** Stops looking. A second call does nothing. */
  cancel(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  get #isStill(): boolean {
    return this.#clock.now() - this.#since >= this.#stillMs
  }

  #look(): void {
    const moved = this.#moved()
    if (moved === this.#last) return
    this.#last = moved
    this.#since = this.#clock.now()
    this.#hasMoved = true
  }

  #arm(): void {
    this.#timer = this.#clock.setTimeout(
      () => {
        this.#timer = undefined
        this.#look()
        if (this.#isStill) this.#still()
        else this.#arm()
      },
      Math.min(LOOK_MS, this.#stillMs),
    )
  }
}

/**
 * Changes with every byte that a socket has read, was given to write, or has sent of that: of a
 * file that is written in one piece nothing else moves for a long time.
 */
export function movedOn(socket: Socket): number {
  const { bytesRead, bytesWritten, taken = -untakenBytes(socket) } = carriedBy(socket)
  return bytesRead + 2 * bytesWritten + taken
}
