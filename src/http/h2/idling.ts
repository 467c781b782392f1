import type { Clock } from '../../base/clock.ts'
import type { WireConnection } from '../ports.ts'

/**
 * Has a connection told to leave on which nothing has been outstanding for a time: node closes none
 * of HTTP/2 for that. Pings keep it no longer, as upstream has it. One timer, which is not set anew
 * by each answer: it looks when it fires.
 */
export class Idling {
  readonly #connection: WireConnection
  readonly #clock: Clock
  readonly #idleMs: number
  /** `clock.now()` */
  #since: number
  #timer: unknown

  constructor(connection: WireConnection, clock: Clock, idleMs: number) {
    this.#connection = connection
    this.#clock = clock
    this.#idleMs = idleMs
    this.#since = clock.now()
    this.#lookIn(idleMs)
  }

  /** Begins when nothing is outstanding any more. */
  begin(): void {
    this.#since = this.#clock.now()
  }

  /** The connection is closed, or about to be. */
  cancel(): void {
    this.#clock.clearTimeout(this.#timer)
  }

  #look(): void {
    const { wasNotified, isEnding, isIdle, wire } = this.#connection
    if (wasNotified || isEnding) return
    const rest = isIdle ? this.#since + this.#idleMs - this.#clock.now() : this.#idleMs
    if (rest > 0) this.#lookIn(rest)
    else wire.notify()
  }

  #lookIn(ms: number): void {
    this.#timer = this.#clock.setTimeout(() => this.#look(), ms)
  }
}
