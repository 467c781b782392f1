import type { ServerResponse } from 'node:http'

/**
 * The head's text as it is sent, and whether it has been. Undocumented, and as old as node's http.
 */
interface Head {
  readonly _header?: unknown
  readonly _headerSent?: unknown
}

const EVENT_STREAM = /^content-type:[ \t]*text\/event-stream[ \t]*(?:;|$)/im

/**
 * Whether the head of this response is written, and says that events are streamed. What was given
 * to `writeHead` is known to no documented method afterwards (`getHeader` knows what was set before
 * [measured]), so the head itself is read.
 */
export function isEventStream(response: ServerResponse): boolean {
  if (!response.headersSent) return false
  const { _header: text } = response as Head
  return EVENT_STREAM.test(typeof text === 'string' ? text : `Content-Type: ${String(response.getHeader('content-type'))}`)
}

/**
 * Whether some of this response has been sent: not when its head is only written down, which
 * `headersSent` does not tell apart, nor when it waits behind another one on its connection, and so
 * has no socket yet.
 */
export function hasBegun(response: ServerResponse): boolean {
  const { _headerSent: isSent } = response as Head
  return (typeof isSent === 'boolean' ? isSent : response.headersSent) && response.socket !== null
}
