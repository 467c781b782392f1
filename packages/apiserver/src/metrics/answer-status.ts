import type { ApiExchange } from '../api-exchange.ts'
import { ABORT_HANDLER, PANIC_OF } from '../chain/panic-recovery.ts'
import { TIME_IS_OVER } from '../chain/timeout.ts'
import { TAKEN_OVER } from '../request/upgrade.ts'

/**
 * The status that the client of a request was told: 101 when its socket was taken over, 0 when it
 * has left without any.
 */
export function statusOfAnswer(exchange: ApiExchange): number {
  if (TAKEN_OVER.of(exchange)) return 101
  if (TIME_IS_OVER.of(exchange)) return 504
  const { response } = exchange
  if (response.headersSent) return response.statusCode
  const panic = PANIC_OF.of(exchange)
  return panic === undefined || panic.thrown === ABORT_HANDLER ? 0 : 500
}
