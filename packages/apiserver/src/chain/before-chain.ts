import type { IncomingMessage, ServerResponse } from 'node:http'
import { pathAsSent, type WireAnswer } from '../engine.ts'

/** `%` that escapes nothing. */
const NO_ESCAPE = /%(?![\da-f]{2})/i

const ABOUT_THE_SERVER: WireAnswer = { status: 200, reasonPhrase: 'OK', headers: { 'content-length': '0' }, body: '' }

const MALFORMED: WireAnswer = {
  status: 400,
  reasonPhrase: 'Bad Request',
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: '400 Bad Request',
}

/**
 * What Go's server answers before any handler, and so any filter, sees a request: nothing is said
 * of it to anyone but its client. Undefined for a request that goes on.
 * @see Go's net/http readRequest, serverHandler.ServeHTTP
 */
export function answerBeforeChain(
  { method, url = '/', httpVersionMajor }: IncomingMessage,
  response: ServerResponse | undefined,
): WireAnswer | undefined {
  if (url === '*') return method === 'OPTIONS' ? ABOUT_THE_SERVER : undefined
  if (!url.includes('%') || !NO_ESCAPE.test(pathAsSent(url))) return undefined
  if (httpVersionMajor > 1) return MALFORMED
  if (response) {
    // It ends with its connection, and has a head of two lines.
    response.sendDate = false
    response.removeHeader('Content-Length')
    response.removeHeader('Transfer-Encoding')
  }
  return { ...MALFORMED, headers: { ...MALFORMED.headers, connection: 'close' } }
}
