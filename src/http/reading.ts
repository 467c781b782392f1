import type { Server as HttpServer } from 'node:http'
import type { Server } from 'node:net'
import { hostOfTarget, isHost } from '../base/request-target.ts'
import type { ExchangeView } from './chain.ts'
import { isTooLong } from './header-bounds.ts'
import { plainAnswer } from './plain-answer.ts'
import type { WireAnswer } from './ports.ts'
import type { Reading } from './transport.ts'

type Request = ExchangeView['request']

const refusal = (status: number, title: string, why: string): WireAnswer => plainAnswer(status, title, `${status} ${title}: ${why}\n`)

const malformed = (why: string): WireAnswer => refusal(400, 'Bad Request', why)
const tooLarge = (why: string): WireAnswer => refusal(431, 'Request Header Fields Too Large', why)

const BAD_HOST = malformed('malformed Host header')
const TWO_HOSTS = malformed('too many Host headers')
const BAD_TARGET = malformed('malformed request target')
const TOO_LONG = tooLarge('a header is too long')
const CUT_OFF = tooLarge('too many headers')

const SLASH = 47

/**
 * The reading of a server that quiesce creates: it has one host, as net/http of Go and RFC 9112
 * section 3.2 want it, a target in one of the forms of that section, and headers no longer than
 * they are read.
 *
 * A target with a host of its own (the absolute form of HTTP/1.1, `:authority` of HTTP/2) wins over
 * a Host header, which has that host from then on.
 * @see Go's net/http readRequest, httpguts.ValidHostHeader
 */
export const strictReading: Reading = (request) => {
  const { headers, rawHeaders, url = '/' } = request
  // A stream of HTTP/2 that other code than node's has handed over may come without them.
  const count = (rawHeaders as readonly string[] | undefined)?.length ?? 0
  let hosts = 0
  for (let at = 0; at < count; at += 2) {
    const name = rawHeaders[at] as string
    if (name.length === 4 && isHostName(name)) hosts++
    if (isTooLong(name, rawHeaders[at + 1] as string)) return TOO_LONG
  }
  if (hosts > 1) return TWO_HOSTS
  const authority = headers[':authority'] as string | undefined
  if (authority !== undefined && !isHost(authority)) return BAD_HOST
  const { host } = headers
  if (host !== undefined && !isHost(host)) return BAD_HOST
  if (authority !== undefined && host !== undefined && host !== authority) replaceHost(request, authority)
  return url.charCodeAt(0) === SLASH ? undefined : withoutPath(request, url)
}

const isHostName = (name: string): boolean => name === 'Host' || name === 'host' || name.toLowerCase() === 'host'

/** A target in another form than nearly all have. */
function withoutPath(request: Request, url: string): WireAnswer | undefined {
  const { method } = request
  if (method === 'CONNECT') return isHost(url) ? undefined : BAD_HOST
  if (url === '*') return method === 'OPTIONS' ? undefined : BAD_TARGET
  const own = hostOfTarget(url)
  if (own === undefined) return BAD_TARGET
  if (!isHost(own)) return BAD_HOST
  if (request.headers.host !== own) replaceHost(request, own)
  return undefined
}

/** Replaces the host in each form in which it may be looked for. */
function replaceHost({ headers, rawHeaders }: Request, host: string): void {
  headers.host = host
  const at = rawHeaders?.findIndex((name, index) => index % 2 === 0 && isHostName(name)) ?? -1
  if (at >= 0) rawHeaders[at + 1] = host
}

/** Where node stops collecting the headers of a request of HTTP/1.1 if it was told nothing. */
const HEADERS_MAX = 1_000

/**
 * The reading of a server of its owner's, whose rules for hosts and targets are the owner's: a head
 * is whole. Node 20 leaves out what comes behind the limit (`maxHeadersCount`) without a word; a
 * request whose last header is the limit's is refused as well, because nothing tells it from one
 * that had more.
 */
const wholeReading =
  (server: Server): Reading =>
  ({ rawHeaders, httpVersionMajor }) => {
    if (httpVersionMajor !== 1) return undefined
    const max = (server as HttpServer).maxHeadersCount ?? HEADERS_MAX
    return max > 0 && rawHeaders.length >= 2 * max ? CUT_OFF : undefined
  }

/**
 * How requests of a server are read. Of one that is ours node collects all headers: their bytes are
 * bounded in any case, by `maxHeaderSize`.
 */
export function readingOf(server: Server, isOwn: boolean): Reading {
  if (!isOwn) return wholeReading(server)
  collectAllHeaders(server)
  return strictReading
}

export function collectAllHeaders(server: Server): void {
  ;(server as HttpServer).maxHeadersCount = 0
}
