import type { Http2ServerResponse, IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { isHead } from '../../base/node-internals.ts'

/**
 * A request of HTTP/2 for steps and rules, which see it before node has made an object of it for
 * its handler, or where it makes none: the core API hands over the stream.
 */
export class Http2Request {
  readonly httpVersion = '2.0'
  readonly httpVersionMajor = 2
  readonly httpVersionMinor = 0
  readonly headers: IncomingHttpHeaders
  /**
   * The headers as they were sent; undefined where other code than node's has handed the stream
   * over.
   */
  readonly rawHeaders: readonly string[] | undefined
  readonly stream: ServerHttp2Stream
  // Looked up once: several steps read them, and node's headers are slow to look into.
  readonly method: string
  /** The URL; of a CONNECT without a path, where it leads, as in HTTP/1.1. */
  readonly url: string

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: readonly string[] | undefined) {
    this.stream = stream
    this.headers = headers
    this.rawHeaders = rawHeaders
    this.method = headers[':method'] ?? 'GET'
    this.url = headers[':path'] ?? headers[':authority'] ?? ''
  }

  /** Undefined once its session is over. */
  get socket(): Socket | undefined {
    return this.stream.session?.socket as Socket | undefined
  }

  /** Whether all of its body was received. */
  get complete(): boolean {
    return this.stream.readableEnded || this.stream.endAfterHeaders
  }
}

/**
 * Its response, for steps that answer. What one of them has set goes into the head of the handler's
 * answer.
 */
export class Http2Response {
  readonly stream: ServerHttp2Stream
  /** Node's own, which the handler got; undefined where it got the stream. */
  ofHandler: Http2ServerResponse | undefined = undefined
  /** Whether a listener was given the stream alone, beside what node makes objects for. */
  hasStreamListener = false
  /** The head is that of node's own object, in which what steps have set is already. */
  isHeadOfObject = false
  /** The head of its answer said so. */
  isEventStream = false
  statusCode = 200
  #headers: OutgoingHttpHeaders | undefined

  constructor(stream: ServerHttp2Stream) {
    this.stream = stream
  }

  get headersSent(): boolean {
    return this.stream.headersSent
  }

  /** What was set by a step; undefined when nothing was. */
  get headers(): OutgoingHttpHeaders | undefined {
    return this.#headers
  }

  getHeader(name: string): number | string | string[] | undefined {
    return this.#headers?.[name.toLowerCase()]
  }

  getHeaders(): OutgoingHttpHeaders {
    return { ...this.#headers }
  }

  hasHeader(name: string): boolean {
    return this.getHeader(name) !== undefined
  }

  setHeader(name: string, value: number | string | string[]): this {
    this.#headers ??= {}
    this.#headers[name.toLowerCase()] = value
    return this
  }

  removeHeader(name: string): void {
    if (this.#headers) delete this.#headers[name.toLowerCase()]
  }

  end(body?: string): this {
    answerOn(this.stream, this.statusCode, this.#headers ?? {}, body)
    return this
  }
}

/** Sends a whole answer on a stream that has none. Does nothing on one that is closed. */
export function answerOn(stream: ServerHttp2Stream, status: number, headers: OutgoingHttpHeaders, body?: string): void {
  if (stream.destroyed || stream.closed || stream.headersSent) return
  // The stream has no other listener when no handler gets it, and its client may break it off.
  stream.on('error', ignore)
  stream.respond({ ...headers, ':status': status }, { endStream: body === undefined && !isHead(stream) })
  // That of a HEAD request has ended already.
  if (body !== undefined && !isHead(stream)) stream.end(body)
}

export const ignore = (): void => undefined

/** What an object is given a method of its own in front of. */
export const prototypeOf = <T extends object>(object: T): T => Object.getPrototypeOf(object) as T
