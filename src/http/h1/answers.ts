import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { WireAnswer, WireConnection, WireExchange } from '../ports.ts'
import { answerOfUpgrade } from '../upgrade-answer.ts'

/** The part of a wire that an answer to an upgrade needs, which is written as bytes. */
interface AnswersUpgrades {
  readonly socket: Socket
  readonly connection: WireConnection
  /** Whether some of an answer is written. */
  hasBegun(exchange: WireExchange): boolean
}

/**
 * Answers in place of a handler that has done nothing yet. An upgrade has no response, unless a
 * step has made it one: its answer is written as bytes, and the connection is closed after it.
 */
export function refuseHttp1(exchange: WireExchange, answer: WireAnswer, wire: AnswersUpgrades): void {
  const response = exchange.response ?? answerOfUpgrade(exchange)
  if (response) {
    response.writeHead(answer.status, answer.headers)
    response.end(answer.body)
  } else answerUpgrade(answer, wire)
}

/** Answers in place of a handler that has failed, or breaks off what it has sent a part of. */
export function fail(exchange: WireExchange, answer: WireAnswer | undefined, wire: AnswersUpgrades): void {
  const response = exchange.response ?? answerOfUpgrade(exchange)
  if (!response) failUpgrade(exchange, answer, wire)
  else if (response.writableEnded) return
  else if (response.headersSent || !answer) response.destroy()
  else answerAnew(response, answer)
}

function answerAnew(response: ServerResponse, { status, headers, body }: WireAnswer): void {
  // What the handler had prepared describes another body: its length, its type, its caching.
  for (const name of response.getHeaderNames()) response.removeHeader(name)
  response.statusMessage = ''
  try {
    response.writeHead(status, headers)
    response.end(body)
  } catch {
    // A wrapper around `writeHead` or `end` may be what threw in the first place.
    response.destroy()
  }
}

function failUpgrade(exchange: WireExchange, answer: WireAnswer | undefined, wire: AnswersUpgrades): void {
  const { socket } = wire
  if (answer && !wire.hasBegun(exchange) && socket.writable) answerUpgrade(answer, wire)
  else socket.destroy()
}

/**
 * Node has taken its hands off the socket before the upgrade event: it has no reader, so its end
 * would go unnoticed.
 */
function answerUpgrade({ status, reasonPhrase, headers, body }: WireAnswer, { socket, connection }: AnswersUpgrades): void {
  socket.resume()
  socket.write(`HTTP/1.1 ${status} ${reasonPhrase}\r\n${headerLines(headers)}Connection: close\r\n\r\n${body}`)
  connection.noteNotified()
  connection.linger()
}

const headerLines = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
