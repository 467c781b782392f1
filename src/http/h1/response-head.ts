import type { ServerResponse } from 'node:http'
import { headTextOf, isHeadSent } from '../../base/node-internals.ts'

const EVENT_STREAM = /^content-type:[ \t]*text\/event-stream[ \t]*(?:;|$)/im

/**
 * Whether the head of this response is written, and says that events are streamed. What was given
 * to `writeHead` is known to no documented method afterwards (`getHeader` knows what was set before
 * [measured]), so the head itself is read.
 */
export function isEventStream(response: ServerResponse): boolean {
  if (!response.headersSent) return false
  return EVENT_STREAM.test(headTextOf(response) ?? `Content-Type: ${String(response.getHeader('content-type'))}`)
}

/**
 * Whether some of this response has been sent: not when its head is only written down, which
 * `headersSent` does not tell apart, nor when it waits behind another one on its connection, and so
 * has no socket yet.
 */
export function hasBegun(response: ServerResponse): boolean {
  return (isHeadSent(response) ?? response.headersSent) && response.socket !== null
}
