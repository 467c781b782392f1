import type { ServerHttp2Stream } from 'node:http2'
import { isHead } from '../../base/node-internals.ts'
import { override } from '../../base/override.ts'
import { loseBy, wireExchangeOf } from '../exchange-of.ts'
import type { WireExchange } from '../ports.ts'
import { isGivenUp } from './broken-off.ts'
import { NO_ERROR } from './error-codes.ts'
import type { Http2Request, Http2Response } from './exchange-objects.ts'

export const streamOf = ({ request }: WireExchange): ServerHttp2Stream => (request as unknown as Http2Request).stream

export const responseOf = ({ response }: WireExchange): Http2Response | undefined => response as unknown as Http2Response | undefined

/**
 * Whether its handler has ended the answer: by the response, or by the stream, which a handler that
 * was given a response has, too.
 */
export function isEnded(exchange: WireExchange): boolean {
  const stream = streamOf(exchange)
  const given = responseOf(exchange)?.ofHandler
  if (given?.writableEnded) return true
  // Node ends our side itself: of a HEAD request when it arrives, of any when it is broken off.
  return stream.writableEnded && (stream.headersSent || !isHead(stream)) && !(given && stream.aborted)
}

/**
 * Whether its handler may still end the response. Excluded are: the stream that the handler gets
 * with the core API, which has ended when its client has left; one that was piped, because what is
 * piped into a closed response never ends it; one that the handler has broken off, which is how it
 * gives up; and one of which nothing was broken off before its end.
 */
export function mayStillEnd(exchange: WireExchange): boolean {
  const given = responseOf(exchange)?.ofHandler
  const stream = streamOf(exchange)
  return (
    given !== undefined &&
    !isEnded(exchange) &&
    (stream.rstCode !== NO_ERROR || stream.aborted) &&
    !isGivenUp(stream) &&
    given.listenerCount('unpipe') === 0
  )
}

/**
 * Node emits nothing for it: the `end` of the response, and that of the stream, are given another
 * one in front.
 */
export function onLateEnd(exchange: WireExchange, ended: () => void): void {
  for (const ending of [responseOf(exchange)?.ofHandler, streamOf(exchange)]) {
    if (!ending) continue
    const end = ending.end as (...args: unknown[]) => unknown
    override(ending as { end: typeof end }, 'end', (...args) => {
      ended()
      return end.apply(ending, args)
    })
  }
}

/**
 * V8 keeps a stream, and what hangs on it, until its next major collection [measured on Node 20 and
 * 24]. A handler that is over, and was given a request and a response, is found by these alone.
 */
export function letGoOfExchange(stream: ServerHttp2Stream): void {
  const exchange = wireExchangeOf(stream)
  const response = exchange && responseOf(exchange)
  if (response?.ofHandler?.writableEnded && !response.hasStreamListener && exchange?.handlersRunning === 0) loseBy(stream)
}
