import type { Server } from 'node:http'
import type { Clock } from '../../base/clock.ts'
import { plainAnswer } from '../plain-answer.ts'
import type { WireAnswer, WireConnection, WireExchange } from '../ports.ts'

const TIMED_OUT = plainAnswer(408, 'Request Timeout')

/** A wire of requests with bodies. */
interface TakesBodies {
  readonly clock: Clock
  /** Whose rule it is how long a request may take to arrive. */
  readonly server: Server
  readonly connection: WireConnection
  fail(exchange: WireExchange, answer: WireAnswer): void
}

/**
 * Ends a request whose body does not come within the `requestTimeout` of its server. Node does that
 * as long as the server listens: its `close()` ends node's check, and one slow client would take
 * the whole deadline.
 * @returns its timer; undefined when there is nothing to wait for
 */
export function boundBody(exchange: WireExchange, wire: TakesBodies): unknown {
  const { clock, server } = wire
  const { request, arrivedAt } = exchange
  const limitMs: unknown = server.requestTimeout
  if (request.complete || typeof limitMs !== 'number' || !(limitMs > 0)) return undefined
  return clock.setTimeout(
    () => {
      if (request.complete || exchange.isOver) return
      const { socket } = wire.connection.wire
      if (server.listenerCount('clientError') > 0) server.emit('clientError', timedOut(), socket)
      else {
        exchange.mustNotify = true
        wire.fail(exchange, TIMED_OUT)
      }
    },
    Math.max(0, arrivedAt + limitMs - clock.now()),
  )
}

/** What node has for a listener for it. */
const timedOut = (): Error => Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
