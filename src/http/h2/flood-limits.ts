import type { Clock } from '../../base/clock.ts'

/**
 * What one client of HTTP/2 may do on a connection before it is sent away with ENHANCE_YOUR_CALM:
 * so many at once, and so many more each second. All of it is allowed by the protocol, costs its
 * sender next to nothing, and the server work. Node has bounds for frames that are invalid, and for
 * streams that were reset: 1000 at once and 33 a second, and then an INTERNAL_ERROR. A proxy that
 * passes on what its clients cancel has to come as far as that, one that only resets does not.
 */
export const FLOOD_LIMITS = {
  /**
   * Streams that the client has reset soon after it had opened them, before they were answered
   * ("rapid reset"). Each answer on the connection allows another one, in advance up to
   * {@link ANSWERED_IN_ADVANCE}.
   */
  resets: { atOnce: 200, perSecond: 33 },
  /** PING frames for which there is no reason, each of which has to be answered. */
  pings: { atOnce: 200, perSecond: 20 },
  /** SETTINGS frames, each of which has to be answered, and may change every stream. */
  settings: { atOnce: 50, perSecond: 5 },
} as const satisfies Record<string, Rate>

/** What a stream lasts at most that costs its client nothing to open and reset. */
export const SOON_MS = 1000

/** Together with what is allowed at once as many as node allows. */
export const ANSWERED_IN_ADVANCE = 800

export type Demand = keyof typeof FLOOD_LIMITS

interface Rate {
  readonly atOnce: number
  readonly perSecond: number
}

/** How much of its patience a session has used, of each kind. */
export class FloodLimits {
  readonly #clock: Clock
  readonly #used: Record<Demand, number> = { resets: 0, pings: 0, settings: 0 }
  readonly #at: Record<Demand, number>

  constructor(clock: Clock) {
    this.#clock = clock
    const now = clock.now()
    this.#at = { resets: now, pings: now, settings: now }
  }

  /** Notes one more; false when it is one too many. */
  allows(demand: Demand): boolean {
    const { atOnce, perSecond } = FLOOD_LIMITS[demand]
    const now = this.#clock.now()
    const forgiven = ((now - this.#at[demand]) / 1000) * perSecond
    this.#at[demand] = now
    // What answers have allowed in advance stays.
    const used = this.#used[demand]
    this.#used[demand] = Math.min(used, Math.max(0, used - forgiven)) + 1
    return this.#used[demand] <= atOnce
  }

  /** Notes a stream that came to its end in order. */
  answered(): void {
    this.#used.resets = Math.max(-ANSWERED_IN_ADVANCE, this.#used.resets - 1)
  }
}
