import type { ServerOptions as HttpOptions } from 'node:http'
import type { Settings } from 'node:http2'
import type { ResolvedServerOptions } from '../options/options.ts'

type Options = Pick<
  ResolvedServerOptions,
  'keepAliveTimeoutMs' | 'headersTimeoutMs' | 'maxHeaderSize' | 'maxConcurrentStreams' | 'streamBuffer' | 'serverOptions'
>

// What a server that quiesce creates allows one client, as node has it.
// @see kubernetes/apiserver pkg/server/secure_serving.go Serve

/** How often node looks for requests whose head takes too long. */
const HEADERS_CHECK_MS = 1_000
/** Node's own default. */
const REQUEST_TIMEOUT_MS = 5 * 60_000

export interface Http1Limits {
  readonly keepAliveTimeout: number
  readonly headersTimeout: number
  readonly requestTimeout: number
  readonly connectionsCheckingInterval: number
  /** Undefined: node's own. */
  readonly maxHeaderSize: number | undefined
}

/** The limits of HTTP/1.1, also those of connections of HTTP/2 that have one of the same name. */
export function http1Limits(options: Options): Http1Limits {
  const { keepAliveTimeoutMs, headersTimeoutMs, maxHeaderSize, serverOptions } = options
  const given = serverOptions as Partial<Http1Limits>
  const { requestTimeout = Math.max(REQUEST_TIMEOUT_MS, headersTimeoutMs) } = serverOptions as HttpOptions
  return {
    keepAliveTimeout: given.keepAliveTimeout ?? keepAliveTimeoutMs,
    // Node refuses a head that may take longer than its request.
    headersTimeout: given.headersTimeout ?? (requestTimeout > 0 ? Math.min(headersTimeoutMs, requestTimeout) : headersTimeoutMs),
    requestTimeout,
    connectionsCheckingInterval: given.connectionsCheckingInterval ?? HEADERS_CHECK_MS,
    maxHeaderSize: given.maxHeaderSize ?? maxHeaderSize,
  }
}

/** Upstream's, for both protocols; that of HTTP/1.1 is node's here. */
const HTTP2_HEADER_BYTES = 2 ** 20

/**
 * Headers of one request of HTTP/2, where node's own default is 128, which a user of many groups
 * has. As many as HTTP2_HEADER_BYTES has room for, each with the 32 bytes that are counted for it.
 * @see RFC 9113 section 6.5.2
 */
export const HTTP2_HEADERS_MAX = 2 ** 15

interface Http2Settings extends Settings {
  readonly maxConcurrentStreams: number
  readonly initialWindowSize: number
}

/** What a client of HTTP/2 is told when it connects. */
export function http2Settings(options: Options): Http2Settings {
  const { settings: given = {} } = options.serverOptions as { readonly settings?: Settings }
  const { maxConcurrentStreams = options.maxConcurrentStreams, initialWindowSize = options.streamBuffer } = given
  const { maxFrameSize = options.streamBuffer, maxHeaderListSize = http1Limits(options).maxHeaderSize ?? HTTP2_HEADER_BYTES } = given
  return { ...given, maxConcurrentStreams, initialWindowSize, maxFrameSize, maxHeaderListSize }
}

/** @see RFC 9113 section 6.9.1 */
const WINDOW_MAX = 2 ** 31 - 1
/** What every connection begins with, and clients count on. */
const WINDOW_MIN = 2 ** 16 - 1

/** What all streams of a connection may be sent before it is read. */
export const connectionWindow = ({ initialWindowSize, maxConcurrentStreams }: Http2Settings): number =>
  Math.min(WINDOW_MAX, Math.max(WINDOW_MIN, initialWindowSize * maxConcurrentStreams))
