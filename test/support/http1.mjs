// @ts-check

/**
 * One HTTP/1.1 response as it came over the wire.
 * @typedef {object} RawResponse
 * @property {number} status
 * @property {Readonly<Record<string, string>>} headers by lower-case name; several values of one name are joined by a comma
 * @property {string} body
 * @property {'none' | 'length' | 'chunked' | 'close'} framing How its end was known. `close`: from the end of the connection alone, so that
 *   no client can tell whether it is whole.
 */

/**
 * @typedef {object} Parsed
 * @property {RawResponse} response
 * @property {Buffer} rest what came after it
 */

/**
 * @typedef {object} ParseContext
 * @property {string} method of the request: the answer to HEAD has no body, whatever its length says
 * @property {boolean} hasEnded whether the server has ended the connection: then, and only then, a body without framing is over
 */

const HEAD_END = '\r\n\r\n'

/**
 * Reads the first response of `bytes`; undefined while it is not complete. Nothing is forgiven: what a strict client could
 * not use is an error. In JavaScript, because the clients of the loss ledger run without a compiler, too.
 * @param {Buffer} bytes
 * @param {ParseContext} context
 * @returns {Parsed | undefined}
 */
export function parseResponse(bytes, { method, hasEnded }) {
  const headEnd = bytes.indexOf(HEAD_END)
  if (headEnd < 0) return undefined
  const [statusLine = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3})(?: |$)/.exec(statusLine)?.[1])
  if (!status) throw new Error(`not the status line of a response: ${JSON.stringify(statusLine)}`)
  /** @type {Record<string, string>} */
  const headers = {}
  for (const line of lines) {
    const [, name, value] = /^([^\s:]+):\s*(.*?)\s*$/.exec(line) ?? []
    if (name === undefined || value === undefined) throw new Error(`not a header: ${JSON.stringify(line)}`)
    const key = name.toLowerCase()
    headers[key] = key in headers ? `${headers[key]}, ${value}` : value
  }
  const after = bytes.subarray(headEnd + HEAD_END.length)
  const of = (/** @type {Buffer} */ body, /** @type {RawResponse['framing']} */ framing, /** @type {Buffer} */ rest) => ({
    response: { status, headers, body: body.toString(), framing },
    rest,
  })

  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return of(Buffer.alloc(0), 'none', after)
  if (headers['transfer-encoding'] === 'chunked') {
    const chunks = parseChunks(after)
    return chunks && of(chunks.body, 'chunked', chunks.rest)
  }
  const length = headers['content-length']
  if (length === undefined) return hasEnded ? of(after, 'close', Buffer.alloc(0)) : undefined
  if (!/^\d+$/.test(length)) throw new Error(`Content-Length: ${length}`)
  return after.length >= Number(length) ? of(after.subarray(0, Number(length)), 'length', after.subarray(Number(length))) : undefined
}

/**
 * A chunked body up to its last chunk; undefined while that is not there. Trailers are not expected.
 * @param {Buffer} bytes
 */
function parseChunks(bytes) {
  /** @type {Buffer[]} */
  const body = []
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const size = bytes.subarray(at, lineEnd).toString('latin1')
    if (!/^[0-9a-f]+$/i.test(size)) throw new Error(`not the size of a chunk: ${JSON.stringify(size)}`)
    const begin = lineEnd + 2
    const end = begin + Number.parseInt(size, 16)
    if (bytes.length < end + 2) return undefined
    if (bytes.toString('latin1', end, end + 2) !== '\r\n') throw new Error('a chunk is longer than its size')
    if (end === begin) return { body: Buffer.concat(body), rest: bytes.subarray(end + 2) }
    body.push(bytes.subarray(begin, end))
    at = end + 2
  }
}
