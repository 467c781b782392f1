import type { IncomingMessage, ServerResponse } from 'node:http'
import { constants, gzip } from 'node:zlib'
import { type EncodedAnswer, respond } from '../engine.ts'
import { firstHeader } from '../first-header.ts'

/** Bytes up to which an answer costs less to send than to compress. */
export const GZIP_THRESHOLD = 128 * 1024

/**
 * Whether gzip is taken; qualities are not read. @see kubernetes/apiserver
 * pkg/endpoints/handlers/responsewriters/writers.go negotiateContentEncoding
 */
const takesGzip = (request: IncomingMessage): boolean =>
  firstHeader(request, 'accept-encoding')
    .split(',')
    .some((token) => token.trim() === 'gzip')

/**
 * Sends an answer, compressed where it is long and its client takes that: as quickly as can be, and
 * beside the event loop.
 * @param threshold bytes up to which it is sent as it is
 * @returns while it is compressed, a promise of its end: what a handler returns keeps the seat of
 *   its request, also when the client has left, so that clients cannot pile up work
 * @see kubernetes/apiserver pkg/endpoints/handlers/responsewriters/writers.go SerializeObject
 */
export function respondCompressed(
  request: IncomingMessage,
  response: ServerResponse,
  answer: EncodedAnswer,
  threshold: number = GZIP_THRESHOLD,
): void | Promise<void> {
  const { body } = answer
  if (Buffer.byteLength(body) <= threshold || !takesGzip(request)) return respond(response, answer)
  return new Promise((resolve) => {
    gzip(body, { level: constants.Z_BEST_SPEED }, (error, compressed) => {
      respond(response, error === null ? { ...answer, headers: compressedHeaders(answer.headers), body: compressed } : answer)
      resolve()
    })
  })
}

function compressedHeaders({ Vary: of = '', ...headers }: EncodedAnswer['headers']): EncodedAnswer['headers'] {
  const vary = of.includes('Accept-Encoding') ? of : [of, 'Accept-Encoding'].filter((each) => each !== '').join(', ')
  return { ...headers, 'Content-Encoding': 'gzip', Vary: vary }
}
