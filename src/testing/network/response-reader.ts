/** One HTTP/1.1 response, as far as it has arrived. */
export interface TestResponse {
  readonly status: number
  /** The headers by lower-case name; several values of one name are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  /** What has arrived of it, decoded. */
  readonly body: string
  /** False for one that broke off. */
  readonly isComplete: boolean
  /** Whether it carries `Connection: close`: nothing more is answered on its connection. */
  readonly hasClose: boolean
}

type Framing =
  | { readonly kind: 'length'; left: number }
  | { readonly kind: 'chunked'; left: number | undefined }
  | { readonly kind: 'close' }

const HEAD_END = '\r\n\r\n'
const LINE_END = '\r\n'

/**
 * Reads one response out of the bytes of a connection. Nothing is forgiven: what a strict client
 * could not use is an error.
 * @see RFC 9112 section 6.3 for where a body ends
 */
export class ResponseReader {
  readonly #method: string
  #head: Pick<TestResponse, 'status' | 'headers' | 'hasClose'> | undefined
  #framing: Framing | undefined
  #body: Buffer[] = []
  #isComplete = false

  /** @param method of the request: the answer to HEAD has no body, whatever its length says */
  constructor(method: string) {
    this.#method = method
  }

  /** Undefined until the head is there. */
  get response(): TestResponse | undefined {
    return this.#head && { ...this.#head, body: Buffer.concat(this.#body).toString(), isComplete: this.#isComplete }
  }

  get isComplete(): boolean {
    return this.#isComplete
  }

  /** Takes what belongs to this response and returns the rest. */
  read(bytes: Buffer): Buffer {
    let rest = bytes
    while (!this.#isComplete) {
      const before = rest.length
      rest = this.#head ? this.#readBody(rest) : this.#readHead(rest)
      if (rest.length === before) break
    }
    return rest
  }

  /** The connection has ended: a body without framing is whole then, and only then. */
  end(): void {
    if (this.#framing?.kind === 'close') this.#isComplete = true
  }

  #readHead(bytes: Buffer): Buffer {
    const end = bytes.indexOf(HEAD_END)
    if (end < 0) return bytes
    const rest = bytes.subarray(end + HEAD_END.length)
    const [statusLine = '', ...lines] = bytes.subarray(0, end).toString('latin1').split(LINE_END)
    const status = Number(/^HTTP\/1\.1 (\d{3})(?: |$)/.exec(statusLine)?.[1])
    if (!status) throw new Error(`not the status line of a response: ${JSON.stringify(statusLine)}`)
    // 100 Continue and its like announce the response and are not it.
    if (status < 200 && status !== 101) return rest
    const headers = parseHeaders(lines)
    this.#head = { status, headers, hasClose: /(?:^|,)\s*close\s*(?:,|$)/i.test(headers['connection'] ?? '') }
    this.#framing = this.#framingOf(status, headers)
    this.#isComplete = this.#framing?.kind === 'length' && this.#framing.left === 0
    return rest
  }

  #framingOf(status: number, headers: Readonly<Record<string, string>>): Framing {
    if (this.#method === 'HEAD' || status === 101 || status === 204 || status === 304) return { kind: 'length', left: 0 }
    if (headers['transfer-encoding'] === 'chunked') return { kind: 'chunked', left: undefined }
    const length = headers['content-length']
    if (length === undefined) return { kind: 'close' }
    if (!/^\d+$/.test(length)) throw new Error(`Content-Length: ${length}`)
    return { kind: 'length', left: Number(length) }
  }

  #readBody(bytes: Buffer): Buffer {
    const framing = this.#framing as Framing
    if (framing.kind === 'close') return this.#take(bytes, bytes.length)
    if (framing.kind === 'chunked') return this.#readChunk(bytes, framing)
    const rest = this.#take(bytes, framing.left)
    framing.left -= bytes.length - rest.length
    this.#isComplete = framing.left === 0
    return rest
  }

  /** One chunk, as soon as all of it is there. Trailers are not expected. */
  #readChunk(bytes: Buffer, framing: { left: number | undefined }): Buffer {
    if (framing.left === undefined) {
      const lineEnd = bytes.indexOf(LINE_END)
      if (lineEnd < 0) return bytes
      const size = bytes.subarray(0, lineEnd).toString('latin1')
      if (!/^[0-9a-f]+$/i.test(size)) throw new Error(`not the size of a chunk: ${JSON.stringify(size)}`)
      framing.left = Number.parseInt(size, 16)
      return bytes.subarray(lineEnd + LINE_END.length)
    }
    if (bytes.length < framing.left + LINE_END.length) return bytes
    const rest = this.#take(bytes, framing.left)
    if (rest.toString('latin1', 0, LINE_END.length) !== LINE_END) throw new Error('a chunk is longer than its size')
    this.#isComplete = framing.left === 0
    framing.left = undefined
    return rest.subarray(LINE_END.length)
  }

  #take(bytes: Buffer, count: number): Buffer {
    if (count > 0) this.#body.push(bytes.subarray(0, count))
    return bytes.subarray(Math.min(count, bytes.length))
  }
}

function parseHeaders(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const [, name, value] = /^([^\s:]+):\s*(.*?)\s*$/.exec(line) ?? []
    if (name === undefined || value === undefined) throw new Error(`not a header: ${JSON.stringify(line)}`)
    const key = name.toLowerCase()
    headers[key] = key in headers ? `${headers[key]}, ${value}` : value
  }
  return headers
}
