import type { OutgoingHttpHeader, OutgoingHttpHeaders } from 'node:http'
import { ServerResponse } from '../../base/node-http.ts'
import type { Wire, WireConnection, WireExchange } from '../ports.ts'

/** The response's own `writeHead`, once ours stands in front of it. */
const WRITE_HEAD: unique symbol = Symbol('quiesce.writeHead')
/** The exchange of such a response: its `req` is the handler's, who may have taken it away. */
const ANSWERED: unique symbol = Symbol('quiesce.answered')

/** A wire whose clients are told in the heads of answers. */
interface NotifiesByHead extends Wire {
  readonly connection: WireConnection
  /**
   * An answer could not notify its client, because its head was sent too early; the next one does
   * for certain.
   */
  isOverdue: boolean
  /** Has its socket linger when node would close it at once after a last response. */
  closeGently(): void
}

type Armed = ServerResponse & { [WRITE_HEAD]?: ServerResponse['writeHead']; [ANSWERED]?: WireExchange }

/**
 * How a client of HTTP/1.1 is told to leave: by `Connection: close` in the head of a response.
 *
 * Whether to tell is decided when the head is written, not when its request arrives: requests that
 * were under way at the beginning take part, and only then is it known whether another request
 * waits behind this one. Told on an earlier response, that request would be lost. One whose head is
 * out already cannot tell any more: the next one on its connection does.
 */
export function notifyBy(exchange: WireExchange, wire: NotifiesByHead): void {
  const { response } = exchange
  if (!response) return
  wire.closeGently()
  if (response.headersSent) wire.isOverdue = true
  else standBeforeHead(response, exchange)
}

/** {@link Wire.awaitHead} */
export function awaitHead(exchange: WireExchange): void {
  const { response } = exchange
  if (response?.headersSent) exchange.headWritten()
  else if (response) standBeforeHead(response, exchange)
}

/** A second call does nothing. */
function standBeforeHead(response: Armed, exchange: WireExchange): void {
  if (response[WRITE_HEAD]) return
  response[ANSWERED] = exchange
  response[WRITE_HEAD] = response.writeHead
  response.writeHead = ourWriteHead
}

/**
 * An answer that has to tell tells when nothing is behind it, because what is behind it could not
 * be answered.
 */
const shouldNotifyNow = (exchange: WireExchange, { connection, isOverdue }: NotifiesByHead): boolean =>
  connection.outstanding.newest === exchange && exchange.shouldNotify(isOverdue)

/**
 * One function for all responses, so that arming one costs three assignments. `shouldKeepAlive =
 * false` is not enough: a `Connection: keep-alive` of the handler's own, as proxies and event
 * streams send it, takes precedence over it [measured].
 */
const ourWriteHead = function writeHead(this: Armed, ...args: WriteHeadArgs): ServerResponse {
  const exchange = this[ANSWERED]
  // An object of the handler's own, to which this function was copied, has neither.
  const original = (this[WRITE_HEAD] ?? ServerResponse.prototype.writeHead) as (...args: WriteHeadArgs) => ServerResponse
  const [status] = args
  // A status below 200 is not the response yet. One without a client has no connection to tell of.
  if (!exchange || exchange.isOver || this.headersSent || !(status >= 200)) return original.apply(this, args)
  const wire = exchange.connection.wire as NotifiesByHead
  const notifies = shouldNotifyNow(exchange, wire)
  const result = original.apply(this, notifies ? withClose(this, args) : args)
  if (notifies) wire.connection.noteNotified()
  // Not in the middle of a `write`, after which a handler may end its response in the same step.
  if (exchange.isSignalTaken) queueMicrotask(() => exchange.headWritten())
  return result
} as ServerResponse['writeHead']

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[] | readonly (readonly [string, OutgoingHttpHeader])[]
type WriteHeadArgs = [status: number, reasonOrHeaders?: string | Headers | null, headers?: Headers | null]

/**
 * The same arguments with `Connection: close` where node looks for it: in the given headers, else
 * on the response. A `Keep-Alive` of the handler's own goes: it is about a connection that stays.
 */
function withClose(response: ServerResponse, [status, second, third]: WriteHeadArgs): WriteHeadArgs {
  const headers = typeof second === 'string' ? third : (third ?? second)
  const given = headers ? entriesOf(headers as Headers) : []
  const own = given.filter(([name]) => isNamed(name, CONNECTION))
  const close = closing(own.length > 0 ? own.map(([, value]) => value).join() : response.getHeader(CONNECTION))
  response.removeHeader(KEEP_ALIVE)
  if (!headers || typeof headers === 'string') {
    response.setHeader('Connection', close)
    return typeof second === 'string' ? [status, second] : [status]
  }
  const rest = given.filter(([name]) => !isNamed(name, CONNECTION) && !isNamed(name, KEEP_ALIVE))
  const notified = Array.isArray(headers) ? [...rest.flat(), 'Connection', close] : { ...Object.fromEntries(rest), Connection: close }
  return typeof second === 'string' ? [status, second, notified as Headers] : [status, notified as Headers]
}

/** Headers come as an object, as a flat list of names and values, or as a list of pairs. */
function entriesOf(headers: Headers): [string, unknown][] {
  if (!Array.isArray(headers)) return Object.entries(headers)
  if (Array.isArray(headers[0])) return headers as [string, unknown][]
  const pairs: [string, unknown][] = []
  for (let index = 0; index < headers.length; index += 2) pairs.push([headers[index] as string, headers[index + 1]])
  return pairs
}

const CONNECTION = 'connection'
const KEEP_ALIVE = 'keep-alive'
/** @param known in lower case */
const isNamed = (name: string, known: string): boolean => name.length === known.length && name.toLowerCase() === known

/**
 * A `Connection` value with its `keep-alive` replaced by `close`; what else it says, such as
 * `Upgrade`, stays.
 */
function closing(given: unknown): string {
  const options = String(given ?? '').split(',')
  const others = options.map((option) => option.trim()).filter((option) => option && !/^(?:keep-alive|close)$/i.test(option))
  return [...others, 'close'].join(', ')
}
