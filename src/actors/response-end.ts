import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Exchange, exchangeOf } from './exchange.ts'

/** Node publishes here when a response has been sent whole. */
const RESPONSE_FINISH = 'http.server.response.finish'

let subscribers = 0
/** The channel is documented, but experimental: it is relied upon once something was heard on it. */
let wasHeard = false

/**
 * Ends each exchange when node has sent its response whole, for all servers of the process. One that breaks off ends with its connection.
 * A `close` listener on every response would say both, and would add a third to what quiesce costs a request [measured].
 *
 * @returns stops it, when everybody who asked for it has stopped; to be called once
 */
export function endWithResponses(): () => void {
  if (subscribers++ === 0) subscribe(RESPONSE_FINISH, onFinish)
  return () => {
    if (--subscribers === 0) unsubscribe(RESPONSE_FINISH, onFinish)
  }
}

/** Has the end of an exchange noticed by its own response, unless {@link endWithResponses} is certain to see it. */
export function endWithItsResponse(exchange: Exchange, response: ServerResponse): void {
  if (!wasHeard || !exchange.connection.isAccepted) response.on('close', onClose)
}

function onFinish(message: unknown): void {
  wasHeard = true
  exchangeOf((message as { readonly request: IncomingMessage }).request)?.end()
}

function onClose(this: ServerResponse): void {
  exchangeOf(this.req)?.end()
}
