import type { ApiExchange } from '../api-exchange.ts'
import { type Clock, type EventLog, lineASecond } from '../engine.ts'

/** The whole answer that a client gets: the error may quote what another server has said (V60). */
export const AUTHORIZER_FAILED = 'the authorizer failed; the log of the server says why'

/** Has the errors of an authorizer logged, but for those of requests that nothing waits for. */
export function authorizerFailures(clock: Clock, log: Pick<EventLog, 'error'>): (exchange: ApiExchange, error: Error) => void {
  const say = lineASecond(clock, (error: Error, times) =>
    log.error({ err: { message: error.message }, ...(times > 1 && { times }) }, 'Unable to authorize the request'),
  )
  return ({ waiting }, error) => {
    if (!waiting.signal.aborted) say(error)
  }
}
