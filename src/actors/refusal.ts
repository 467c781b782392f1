import type { Connection } from './connection.ts'
import type { Exchange } from './exchange.ts'

/** What a refused request is answered with. */
export interface Refusal {
  readonly kind: RefusalKind
  readonly status: number
  readonly reasonPhrase: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** `retry-after`: 429 of that mode. `not-accepting`: 503 for a request, `watch`: 503 for a watch. */
export type RefusalKind = 'retry-after' | 'not-accepting' | 'watch'

const refusal = (
  kind: RefusalKind,
  status: number,
  reasonPhrase: string,
  retryAfterSeconds: number,
  contentType: string,
  body: string,
): Refusal => ({
  kind,
  status,
  reasonPhrase,
  headers: {
    'Retry-After': String(retryAfterSeconds),
    'Content-Type': contentType,
    'X-Content-Type-Options': 'nosniff',
    'Content-Length': String(Buffer.byteLength(body)),
  },
  body,
})

/** @see kubernetes/apiserver pkg/server/filters/with_retry_after.go */
export const RETRY_AFTER = refusal(
  'retry-after',
  429,
  'Too Many Requests',
  5,
  'text/plain; charset=utf-8',
  'The apiserver is shutting down, please try again later.\n',
)

/** Two newlines: upstream's encoder writes one and its printer another. */
const STATUS = `${JSON.stringify({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'apiserver is shutting down',
  reason: 'ServiceUnavailable',
  code: 503,
})}\n\n`

/** @see kubernetes/apiserver pkg/server/filters/waitgroup.go */
export const NOT_ACCEPTING = refusal('not-accepting', 503, 'Service Unavailable', 1, 'application/json', STATUS)

/** @see kubernetes/apiserver pkg/server/filters/watch_termination.go */
export const WATCH_NOT_ACCEPTING: Refusal = { ...NOT_ACCEPTING, kind: 'watch' }

/**
 * Answers with `refusal` and has the connection closed after it, as soon as the rest of the request has been read (V16).
 * With another request behind this one on the connection, that one carries the close.
 */
export function refuse(exchange: Exchange, { status, reasonPhrase, headers, body }: Refusal): void {
  const { response, connection } = exchange
  if (response) {
    exchange.mustTell = true
    response.writeHead(status, headers)
    response.end(body)
  } else {
    answerUpgrade(connection, `HTTP/1.1 ${status} ${reasonPhrase}\r\n${headerLines(headers)}Connection: close\r\n\r\n${body}`)
  }
}

/**
 * Answers in place of an upgrade's handler, and ends the connection. Node has taken its hands off the socket before the
 * upgrade event: nobody reads it, so its end would go unnoticed, and an error on it would be uncaught.
 */
export function answerUpgrade(connection: Connection, answer: string): void {
  const { socket } = connection
  socket.on('error', () => undefined)
  socket.resume()
  socket.write(answer)
  connection.wasTold = true
  connection.linger()
}

const headerLines = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
