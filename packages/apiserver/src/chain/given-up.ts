import type { ApiExchange } from '../api-exchange.ts'
import { exchangeOf } from '../engine.ts'
import { sendStatus } from '../status.ts'
import { shuttingDown } from '../status-errors.ts'

/**
 * Answers a request that a drain has given up while a filter asked about it. What the filter has
 * heard then says nothing of the client: its credentials may be good, and it may be allowed.
 * @returns whether it was given up
 */
export function refuseGivenUp(exchange: ApiExchange): boolean {
  if (!exchangeOf(exchange.view.request)?.wasAskedToEnd) return false
  sendStatus(exchange, shuttingDown().failure)
  return true
}
