import type { ApiExchange } from '../api-exchange.ts'
import { ABORT_HANDLER } from '../chain/panic-recovery.ts'

/**
 * The status that the client of a request was told: 101 when its socket was taken over, 0 when it
 * has left without any.
 */
export function statusOfAnswer({ response, isTimedOut, isTakenOver, panic }: ApiExchange): number {
  if (isTakenOver) return 101
  if (isTimedOut) return 504
  if (response.headersSent) return response.statusCode
  return panic === undefined || panic.thrown === ABORT_HANDLER ? 0 : 500
}
