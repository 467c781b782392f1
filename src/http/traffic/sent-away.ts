import type { Clock } from '../../base/clock.ts'
import type { LifecycleFact } from '../../base/events.ts'
import type { Connection } from './connection.ts'
import type { Exchange } from './exchange.ts'

const SENT_AWAY = 'clients were disconnected because of what they send'
const EVERY_MS = 1000

/**
 * Clients that a transport has disconnected because of what they send, in one line a second at
 * most: a flood of connections is no reason for one of lines.
 */
export class SentAway {
  readonly #clock: Clock
  readonly #record: (fact: LifecycleFact) => void
  #count = 0
  #recordedAt = Number.NEGATIVE_INFINITY

  constructor(clock: Clock, record: (fact: LifecycleFact) => void) {
    this.#clock = clock
    this.#record = record
  }

  note(connection: Connection<Exchange>, why: string): void {
    const now = this.#clock.now()
    this.#count++
    if (now - this.#recordedAt < EVERY_MS) return
    this.#recordedAt = now
    const { name } = connection.straggler(now)
    this.#record({
      type: 'warning',
      message: SENT_AWAY,
      details: { client: name, ...connection.connectionProtocol, why, clients: this.#count },
    })
    this.#count = 0
  }
}
