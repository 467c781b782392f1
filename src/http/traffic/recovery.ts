import type { ServerResponse } from 'node:http'
import { errorRecord, type LifecycleFact } from '../../base/events.ts'
import type { Exchange } from './exchange.ts'
import { answerUpgrade } from './refusal.ts'

const BODY = 'Internal Server Error\n'
const HEADERS = {
  'Content-Type': 'text/plain; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  'Content-Length': String(Buffer.byteLength(BODY)),
}
const RAW = `HTTP/1.1 500 Internal Server Error\r\n${Object.entries(HEADERS)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('')}Connection: close\r\n\r\n${BODY}`

/**
 * What becomes of an exchange whose handler threw or rejected (V13): a 500 while nothing has been sent; a broken connection
 * when a part has, so that the client does not take the part for the whole; nothing when all of it has. It is always
 * reported, except when a handler only passes on the abort by which it was asked to end. Never throws.
 *
 * Only what a listener itself throws comes here, in its time: frameworks answer for the handlers inside them, and what comes
 * after a cut is reported as late.
 * @see kubernetes/apiserver pkg/server/filters/wrap.go WithPanicRecovery
 */
export function recover(exchange: Exchange, thrown: unknown, record: (fact: LifecycleFact) => void): void {
  if (!exchange.wasAskedToEndWith(thrown)) record({ type: 'error', where: `handler ${exchange.name}`, error: errorRecord(thrown) })
  if (exchange.isOver) return
  const { response } = exchange
  if (!response) recoverUpgrade(exchange)
  else if (response.writableEnded) return
  else if (response.headersSent) response.destroy()
  else answer(response)
}

function answer(response: ServerResponse): void {
  // What the handler had prepared describes another body: its length, its type, its caching.
  for (const name of response.getHeaderNames()) response.removeHeader(name)
  response.statusMessage = ''
  try {
    response.writeHead(500, HEADERS)
    response.end(BODY)
  } catch {
    // A wrapper around `writeHead` or `end` may be what threw in the first place.
    response.destroy()
  }
}

function recoverUpgrade({ connection, bytesWrittenBefore }: Exchange): void {
  if (connection.socket.bytesWritten === bytesWrittenBefore && connection.socket.writable) answerUpgrade(connection, RAW)
  else connection.socket.destroy()
}
