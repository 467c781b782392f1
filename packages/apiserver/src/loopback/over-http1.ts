import { type IncomingMessage, request as requestHttp } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import type { OwnPair } from '../engine.ts'
import { fetchResponse } from './answer.ts'
import type { LoopbackRequest, LoopbackTarget } from './target.ts'

/** Asks over a connection of its own, which trusts nothing but the server's own certificate. */
export async function askOverHttp1(
  { isTls, host, port, socketPath }: LoopbackTarget,
  { path, method, headers, body, signal }: LoopbackRequest,
  pair: OwnPair | undefined,
): Promise<Response> {
  const place = socketPath === undefined ? { host, port } : { socketPath }
  const secured = isTls && pair ? { ca: pair.cert, cert: pair.cert, key: pair.key, servername: pair.name } : {}
  const ask = isTls ? (await import('node:https')).request : requestHttp
  // Node does not frame the body of a DELETE by itself: the server would take it for a second
  // request.
  const framed = body === null || 'content-length' in headers ? headers : { ...headers, 'transfer-encoding': 'chunked' }
  const request = ask({ ...place, ...secured, path, method, headers: framed, signal, agent: false })
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve)
    // Also after the answer, when it is the reader of the body who hears of it.
    request.on('error', reject)
  })
  if (body === null) request.end()
  // A server may answer before it has read all of it, and read no more.
  else pipeline(Readable.fromWeb(body as ReadableStream), request).catch((error: Error) => request.destroy(error))
  const message = await answered
  try {
    return fetchResponse(method, message.statusCode as number, message.rawHeaders, message, message.statusMessage)
  } catch (error) {
    // A status that no Response can have: the connection is not left to wait for a reader.
    message.destroy()
    throw error
  }
}
