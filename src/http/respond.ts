/** A complete, small answer that quiesce gives by itself. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** An answer whose body may be bytes: what is compressed is no text. */
export interface EncodedAnswer extends Omit<Answer, 'body'> {
  readonly body: string | Uint8Array
}

/**
 * Headers of an answer in plain text, as upstream's http.Error sets them: what is not sniffed stays
 * text, whatever a path, a name or a reason in it looks like.
 */
export const PLAIN_TEXT = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' }

/** The same, to be put over headers as node has them, whose names are in lower case. */
export const PLAIN_TEXT_OVER = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }

/** An answer in plain text with `text` as its only line. */
export const textAnswer = (status: number, text: string): Answer => ({ status, headers: PLAIN_TEXT, body: `${text}\n` })

/** The part of a node response that an answer needs; HTTP/1 and HTTP/2 responses both fit. */
export interface ResponseLike {
  statusCode: number
  readonly headersSent: boolean
  setHeader(name: string, value: string): unknown
  end(body: string | Uint8Array): unknown
}

/**
 * Sends `answer`, with its length, so that a HEAD request learns it too (node leaves out the body
 * by itself) and the connection can be reused. Headers that a filter has set stay. Does nothing
 * when other code has begun to answer.
 */
export function respond(response: ResponseLike, { status, headers, body }: EncodedAnswer): void {
  if (response.headersSent) return
  response.statusCode = status
  for (const name in headers) response.setHeader(name, headers[name] as string)
  response.setHeader('Content-Length', String(Buffer.byteLength(body)))
  response.end(body)
}

/**
 * Whether it looks like a Response: the adapter puts one of its own in the place of node's, and
 * handlers may bring another.
 */
export const isResponse = (answer: unknown): answer is Response =>
  typeof answer === 'object' && answer !== null && 'status' in answer && 'headers' in answer && 'body' in answer
