import { checkArguments } from '../../base/arguments.ts'
import { QuiesceError } from '../../base/errors.ts'
import { checkFields } from '../../base/fields.ts'
import type { MemorySocket } from './memory-socket.ts'
import { ResponseReader, type TestResponse } from './response-reader.ts'

/** What to ask for; a text is the path of a GET. */
export interface TestRequestOptions {
  /** Default `GET`. */
  readonly method?: string
  readonly path: string
  /** The headers beside `Host`, and the `Content-Length` of a body. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const OPTIONS = ['method', 'path', 'headers', 'body'] as const satisfies readonly (keyof TestRequestOptions)[]

/** @throws QuiesceError ERR_OPTION_INVALID for a field that is none: it would not be sent */
export function requestOptions(given: string | TestRequestOptions): TestRequestOptions {
  const options = typeof given === 'string' ? { path: given } : checkFields('request(options)', given, OPTIONS)
  checkArguments('request({ path })', [options.path, 'a text'])
  return options
}

/** `ended`: the server closed in order. `reset`: it did not. `left`: we closed. */
export type ConnectionState = 'open' | 'ended' | 'reset' | 'left'

/** A request that was sent, and what came back of its response so far. */
export class TestRequest {
  /** `GET /path`. */
  readonly name: string
  /**
   * The whole response. Rejects with ERR_ABORTED when the connection closes before all of it is
   * there.
   */
  readonly response: Promise<TestResponse>
  /** Status and headers, as soon as they are there; rejects as `response`. */
  readonly head: Promise<TestResponse>
  readonly #reader: ResponseReader
  #isOver = false
  #resolve: (response: TestResponse) => void = () => {}
  #resolveHead: (response: TestResponse) => void = () => {}
  #reject: (error: Error) => void = () => {}

  constructor(method: string, path: string) {
    this.name = `${method} ${path}`
    this.#reader = new ResponseReader(method)
    let rejectHead: (error: Error) => void = () => {}
    let rejectResponse: (error: Error) => void = () => {}
    this.head = new Promise((resolve, reject) => {
      this.#resolveHead = resolve
      rejectHead = reject
    })
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve
      rejectResponse = reject
    })
    this.#reject = (error) => {
      rejectHead(error)
      rejectResponse(error)
    }
    // Who looks at `received` instead awaits neither.
    for (const promise of [this.head, this.response]) promise.catch(() => {})
  }

  /** What has arrived of the response; undefined before its head has. */
  get received(): TestResponse | undefined {
    return this.#reader.response
  }

  /** Whether the response has arrived as a whole, or never will. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Takes from the connection what belongs to this response and returns the rest. */
  read(bytes: Buffer): Buffer {
    const rest = this.#reader.read(bytes)
    const { response } = this.#reader
    if (response) this.#resolveHead(response)
    if (response?.isComplete) this.#finish(response)
    return rest
  }

  /** Ends with the connection, which is closed. */
  end(how: Exclude<ConnectionState, 'open'>): void {
    if (how === 'ended') this.#reader.end()
    const { response } = this.#reader
    if (response?.isComplete) {
      this.#finish(response)
      return
    }
    this.#isOver = true
    const answered = response ? `after ${response.body.length} characters of its response` : 'before it was answered'
    this.#reject(new QuiesceError('ERR_ABORTED', `${this.name}: the connection was closed (${how}) ${answered}`, { how }))
  }

  #finish(response: TestResponse): void {
    this.#isOver = true
    this.#resolve(response)
  }
}

/**
 * A client's connection that speaks HTTP/1.1 and never helps: it does not retry, does not open
 * another connection, and stays open until it is told or the server closes it. Requests that are
 * sent before earlier ones are answered are pipelined.
 */
export class TestConnection {
  readonly socket: MemorySocket
  /** Settles with how the connection ended. */
  readonly closed: Promise<Exclude<ConnectionState, 'open'>>
  readonly #outstanding: TestRequest[] = []
  #state: ConnectionState = 'open'
  #bytes = Buffer.alloc(0)
  #wasNotified = false
  #resolveClosed: (how: Exclude<ConnectionState, 'open'>) => void = () => {}

  constructor(socket: MemorySocket) {
    this.socket = socket
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve
    })
    socket.on('data', (bytes: Buffer) => this.#received(bytes))
    socket.on('end', () => this.#close('ended'))
    socket.on('error', () => this.#close('reset'))
    socket.on('close', () => this.#close('reset'))
  }

  get state(): ConnectionState {
    return this.#state
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  /** Whether a response has said `Connection: close`. */
  get wasNotified(): boolean {
    return this.#wasNotified
  }

  /** Requests that are not answered yet, oldest first. */
  get outstanding(): readonly TestRequest[] {
    return this.#outstanding
  }

  /** Bytes that belong to no response: what an upgraded protocol says. */
  get unread(): Buffer {
    return this.#bytes
  }

  /**
   * Sends a request.
   * @throws QuiesceError ERR_ABORTED when the connection is closed
   */
  request(options: string | TestRequestOptions): TestRequest {
    const { method = 'GET', path, headers = {}, body } = requestOptions(options)
    const lines = Object.entries({
      Host: 'test',
      ...(body !== undefined && { 'Content-Length': String(Buffer.byteLength(body)) }),
      ...headers,
    }).map(([name, value]) => `${name}: ${value}\r\n`)
    this.send(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`)
    return this.expect(method, path)
  }

  /** Sends a GET and waits for the whole response. */
  get(path: string): Promise<TestResponse> {
    return this.request(path).response
  }

  /**
   * Sends bytes as they are, such as half a request. What answers them is read by {@link expect}.
   * @throws QuiesceError ERR_ABORTED when the connection is closed
   */
  send(bytes: string | Buffer): void {
    if (!this.isOpen) throw new QuiesceError('ERR_ABORTED', `the connection is closed (${this.#state}): nothing can be sent`)
    this.socket.write(bytes)
  }

  /** Reads the next response as the answer to a request that was, or will be, sent by hand. */
  expect(method: string, path: string): TestRequest {
    const request = new TestRequest(method, path)
    this.#outstanding.push(request)
    return request
  }

  /**
   * Ends our side, and with it the connection once the server has ended its own. A second call does
   * nothing.
   */
  end(): void {
    this.socket.end()
  }

  /** Leaves at once; what was not answered never is. A second call does nothing. */
  destroy(): void {
    this.#close('left')
    this.socket.destroy()
  }

  #received(bytes: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes])
    while (this.#bytes.length > 0) {
      const [request] = this.#outstanding
      if (!request) return
      const before = this.#bytes.length
      this.#bytes = Buffer.from(request.read(this.#bytes))
      this.#wasNotified ||= request.received?.hasClose === true
      if (request.isOver) this.#outstanding.shift()
      else if (this.#bytes.length === before) return
    }
  }

  #close(how: Exclude<ConnectionState, 'open'>): void {
    if (this.#state !== 'open') return
    this.#state = how
    for (const request of this.#outstanding.splice(0)) request.end(how)
    // A client that was told the end goes too; `end` from our side first is no business of the
    // server's any more.
    if (how === 'ended') this.socket.end()
    this.#resolveClosed(how)
  }
}
