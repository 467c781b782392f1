import type { Clock } from '../../base/clock.ts'
import type { LifecycleFact } from '../../base/events.ts'
import { lineASecond } from '../../base/line-a-second.ts'
import type { Connection } from './connection.ts'
import type { Exchange } from './exchange.ts'

const SENT_AWAY = 'clients were disconnected because of what they send'

/** A client that a transport has disconnected because of what it sends. */
export interface SentAway {
  readonly connection: Connection<Exchange>
  readonly why: string
}

/** Has such clients recorded, in one line a second at most. */
export const sentAway = (clock: Clock, record: (fact: LifecycleFact) => void): ((client: SentAway) => void) =>
  lineASecond(clock, ({ connection, why }: SentAway, clients) => {
    const { name } = connection.straggler(clock.now())
    const details = { client: name, ...connection.connectionProtocol, why, clients }
    record({ type: 'warning', message: SENT_AWAY, details })
  })
