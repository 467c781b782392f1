import type { Http2ServerResponse, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { wireExchangeOf } from '../exchange-of.ts'
import type { WireExchange } from '../ports.ts'
import { type Http2Response, prototypeOf } from './exchange-objects.ts'

/**
 * Headers that are about a connection have no place in HTTP/2, where many answers share one. Node
 * throws when an answer has one, in the middle of the framework that has set it as it does for
 * HTTP/1.1: a `transfer-encoding` of Hono's `streamSSE` ends the process. So they are left out, and
 * `Connection: close`, the word for "this client shall leave", is done instead of said: a GOAWAY
 * follows the head.
 * @see RFC 9113 section 8.2.2
 */
const OF_CONNECTION = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'http2-settings'])

type Head = OutgoingHttpHeaders | readonly unknown[]

/** Stands in front of what sends the head of an answer; node's own objects come to it, too. */
export function watchHead(stream: ServerHttp2Stream): void {
  stream.respond = respond
  stream.respondWithFile = respondWithFile
  stream.respondWithFD = respondWithFD
}

/** The same for the object that node makes for a handler, which drops `Connection` itself. */
export function watchResponse(response: Http2ServerResponse): void {
  response.setHeader = setHeader
  response.appendHeader = appendHeader
  response.writeHead = writeHead
}

// One function for all answers each, so that an answer costs a few assignments.

let prototypeOfStreams: ServerHttp2Stream | undefined

const respond: ServerHttp2Stream['respond'] = function (this: ServerHttp2Stream, headers, options) {
  // That of every stream: V8 answers the question by a call into its runtime.
  prototypeOfStreams ??= prototypeOf(this)
  const exchange = wireExchangeOf(this)
  const response = exchange?.response as unknown as Http2Response | undefined
  let head = headers
  // An object that node made for a handler has what steps have set already.
  if (response && !response.isHeadOfObject) head = withHeadersOfSteps(response, head)
  if (exchange && response && head) noteEvents(exchange, response, head)
  try {
    prototypeOfStreams.respond.call(this, head, options)
  } catch (thrown) {
    // Node looks at each header anyway, before it does anything: a look of our own at each answer
    // would be what our share of a stream costs most for.
    const allowed = exchange && head && isAboutConnection(thrown) ? without(isOfConnection, head, exchange) : head
    if (allowed === head) throw thrown
    prototypeOfStreams.respond.call(this, allowed, options)
  }
  if (exchange) notifyBehindHead(exchange)
}

function notifyBehindHead(exchange: WireExchange): void {
  if (!exchange.isOver && (exchange.mustNotify || exchange.connection.isDue)) exchange.connection.wire.notifySoon(exchange.mustNotify)
}

const respondWithFile: ServerHttp2Stream['respondWithFile'] = function (this: ServerHttp2Stream, path, headers, options) {
  prototypeOf(this).respondWithFile.call(this, path, headOfFile(this, headers), options)
}

const respondWithFD: ServerHttp2Stream['respondWithFD'] = function (this: ServerHttp2Stream, fd, headers, options) {
  prototypeOf(this).respondWithFD.call(this, fd, headOfFile(this, headers), options)
}

/**
 * Node sends it by itself, perhaps when it has opened the file, and gives up the stream then for
 * what does not belong there. Its client is told when the answer is over.
 */
function headOfFile(stream: ServerHttp2Stream, headers: OutgoingHttpHeaders | undefined): OutgoingHttpHeaders | undefined {
  const exchange = wireExchangeOf(stream)
  const response = exchange?.response as unknown as Http2Response | undefined
  if (!exchange || !response) return headers
  const head = withHeadersOfSteps(response, headers)
  if (!head) return head
  noteEvents(exchange, response, head)
  return without(isOfConnection, head, exchange)
}

/** Adds those that the head has not itself. A list stays as it is: its handler may use it again. */
function withHeadersOfSteps<T extends Head>({ headers }: Http2Response, head: T | undefined): T | OutgoingHttpHeaders | undefined {
  if (!headers) return head
  const isList = Array.isArray(head)
  const given: readonly unknown[] = isList ? head.filter((_, index) => index % 2 === 0) : Object.keys(head ?? {})
  const names = new Set(given.map((name) => String(name).toLowerCase()))
  const added = Object.entries(headers).filter(([name]) => !names.has(name))
  if (!isList) return { ...Object.fromEntries(added), ...(head as OutgoingHttpHeaders | undefined) }
  const pairs = added.flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).flatMap((one) => [name, String(one)]))
  return [...head, ...pairs] as readonly unknown[] as T
}

const isAboutConnection = (thrown: unknown): boolean =>
  (thrown as { readonly code?: unknown } | undefined)?.code === 'ERR_HTTP2_INVALID_CONNECTION_HEADERS'

const setHeader: Http2ServerResponse['setHeader'] = function (this: Http2ServerResponse, name, value) {
  if (!isConnection(name)) return prototypeOf(this).setHeader.call(this, name, value)
  noteClose(this, value)
}

const appendHeader: Http2ServerResponse['appendHeader'] = function (this: Http2ServerResponse, name, value) {
  if (!isConnection(name)) return prototypeOf(this).appendHeader.call(this, name, value)
  noteClose(this, value)
}

const writeHead = function (this: Http2ServerResponse, status: number, ...rest: [(string | Head)?, Head?]): Http2ServerResponse {
  const own = prototypeOf(this).writeHead as (...args: readonly unknown[]) => Http2ServerResponse
  const exchange = wireExchangeOf(this.stream)
  const view = exchange?.response as unknown as Http2Response | undefined
  if (view) view.isHeadOfObject = true
  const head = typeof rest[0] === 'object' ? rest[0] : rest[1]
  if (!exchange || !head) return own.call(this, status, ...rest)
  // The others are left out when it is sent.
  const allowed = without(isConnection, head, exchange)
  return typeof rest[0] === 'string' ? own.call(this, status, rest[0], allowed) : own.call(this, status, allowed)
} as Http2ServerResponse['writeHead']

const isConnection = (name: unknown): boolean => typeof name === 'string' && name.length === 10 && name.toLowerCase() === 'connection'

const isOfConnection = (name: unknown): boolean => typeof name === 'string' && OF_CONNECTION.has(name.toLowerCase())

function noteClose({ stream }: Http2ServerResponse, value: unknown): void {
  const exchange = wireExchangeOf(stream)
  if (exchange && saysClose(value)) exchange.mustNotify = true
}

const saysClose = (value: unknown): boolean => /\bclose\b/i.test(String(value))

type IsLeftOut = (name: unknown) => boolean

/** The same head when there is nothing to leave out, which is nearly always. */
function without<T extends Head>(isLeftOut: IsLeftOut, head: T, exchange: WireExchange): T {
  const rest = Array.isArray(head)
    ? listWithout(isLeftOut, head, exchange)
    : objectWithout(isLeftOut, head as OutgoingHttpHeaders, exchange)
  return rest as T
}

function objectWithout(isLeftOut: IsLeftOut, head: OutgoingHttpHeaders, exchange: WireExchange): OutgoingHttpHeaders {
  let rest: OutgoingHttpHeaders | undefined
  for (const name in head) {
    if (!isLeftOut(name)) continue
    note(exchange, name, head[name])
    rest ??= { ...head }
    delete rest[name]
  }
  return rest ?? head
}

/** Pairs, or names and values in turn. */
function listWithout(isLeftOut: IsLeftOut, head: readonly unknown[], exchange: WireExchange): readonly unknown[] {
  const rest: unknown[] = []
  const step = Array.isArray(head[0]) ? 1 : 2
  for (let index = 0; index < head.length; index += step) {
    const [name, value] = step === 1 ? (head[index] as unknown[]) : [head[index], head[index + 1]]
    if (isLeftOut(name)) note(exchange, name as string, value)
    else rest.push(...head.slice(index, index + step))
  }
  return rest
}

function note(exchange: WireExchange, name: string, value: unknown): void {
  if (isConnection(name) && saysClose(value)) exchange.mustNotify = true
}

const EVENT_STREAM = /^text\/event-stream[ \t]*(?:;|$)/i
/** Most types are shorter, and need no other look. */
const EVENT_STREAM_LENGTH = 'text/event-stream'.length

function noteEvents(exchange: WireExchange, response: Http2Response, head: Head): void {
  if (Array.isArray(head)) response.isEventStream = head.some((value, index) => isContentType(value) && saysEvents(head[index + 1]))
  else {
    const { 'content-type': type, 'Content-Type': other } = head as OutgoingHttpHeaders
    response.isEventStream = saysEvents(type ?? other)
  }
  // Not in the middle of a `write`, after which a handler may end its response in the same step.
  if (response.isEventStream && exchange.isSignalTaken) queueMicrotask(() => exchange.headWritten())
}

const isContentType = (name: unknown): boolean => typeof name === 'string' && name.toLowerCase() === 'content-type'
const saysEvents = (type: unknown): boolean => typeof type === 'string' && type.length >= EVENT_STREAM_LENGTH && EVENT_STREAM.test(type)
