import type { Clock } from '../../base/clock.ts'

/**
 * What one client of HTTP/2 may do on a connection before it is sent away with ENHANCE_YOUR_CALM:
 * so many at once, and so many more each second. All of it is allowed by the protocol, costs its
 * sender next to nothing, and the server work. Node has bounds for frames that are invalid, and for
 * streams that were reset: 1000 at once and 33 a second, and then an INTERNAL_ERROR.
 */
export const FLOOD_LIMITS = {
  /** Streams that the client has opened and reset before they were answered ("rapid reset"). */
  resets: { atOnce: 200, perSecond: 20 },
  /** PING frames, each of which has to be answered. */
  pings: { atOnce: 200, perSecond: 20 },
  /** SETTINGS frames, each of which has to be answered, and may change every stream. */
  settings: { atOnce: 50, perSecond: 5 },
} as const satisfies Record<string, Rate>

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
    this.#used[demand] = Math.max(0, this.#used[demand] - forgiven) + 1
    return this.#used[demand] <= atOnce
  }
}
