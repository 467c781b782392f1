// By their modules: the bundled types have one ServerOptions, ours.

import type * as http from 'node:http'
import type * as http2 from 'node:http2'
import type * as https from 'node:https'
import { ownFields } from '../../base/own-fields.ts'
import { isFieldsOnly } from '../../base/records.ts'
import { defaultsByFront } from '../../platforms/fronts.ts'
import { FIRST_PASSED } from '../../platforms/passed-sockets.ts'
import { composeOptions, defineOptions, type Needs, option, resolveOptions } from '../kit/define.ts'
import { duration, fieldsNeeding, host, integer, listOf, onOff, port, socketPath, value } from '../kit/kinds.ts'
import type { Wrong } from '../kit/wrong.ts'
import { ADDRESS_OPTIONS, LOOPBACK } from './address.ts'
import { type ResolvedTls, type TlsOptions, tls } from './tls.ts'
import { isWebSocketOption, type WebSocketOption } from './web-socket.ts'

const tlsRow = () => option(tls(), { defaultWords: 'none: without TLS', meaning: 'Certificates, with which it is HTTPS' })

/** The need of what HTTP/1.1 has no use for. */
const needsHttp2: Needs = {
  anyOf: ['http2', 'tls', 'listeners'],
  otherwise: 'without effect',
  because: 'no listener speaks HTTP/2',
  isMet: ({ http2, tls: certificates, listeners }) =>
    [{ http2, tls: certificates }, ...(Array.isArray(listeners) ? (listeners as readonly ListenerAddress[]) : [])].some(speaksHttp2),
}
const speaksHttp2 = ({ http2, tls: certificates }: { readonly http2?: unknown; readonly tls?: unknown }): boolean =>
  http2 === true || (certificates !== undefined && http2 !== false)

const http2Row = () =>
  option(onOff(), {
    flag: 'http2',
    defaultWords: 'true with tls, else false',
    meaning: 'Whether HTTP/2 is served: with TLS beside HTTP/1.1, as the client chooses; without TLS instead of it',
    upstream: 'DisableHTTP2',
  })

/** The protocols of a listener; the same for every kind of address. */
const PROTOCOL_OPTIONS = defineOptions({ tls: tlsRow(), http2: http2Row() })

/** Where a listener of the server listens. */
export type ListenerPlace =
  | { readonly port: number; readonly host?: string }
  | { readonly path: string; readonly mode?: number }
  | { readonly fd: number | string }

/** The address of a listener and its protocols. */
export type ListenerAddress = (
  | { readonly port: number | string; readonly host?: string | undefined }
  | {
      /** Unix socket; one that a killed process has left there is removed. */
      readonly path: string
      /** Its permissions, such as `0o660`. Default: what the umask of the process leaves. */
      readonly mode?: number | undefined
    }
  | {
      /**
       * A listening socket that the process was passed: its name with the service manager
       * (`FileDescriptorName=` of a systemd socket unit), or its descriptor, from 3 on. It is
       * closed like others, but its queue is kept for the next process when the manager keeps it.
       */
      readonly fd: number | string
    }
) & {
  /** Certificates, with which it is HTTPS. Default: none, without TLS. */
  readonly tls?: TlsOptions | 'self-signed' | undefined
  /**
   * Whether HTTP/2 is served: with TLS beside HTTP/1.1, without TLS instead of it. Default: with
   * `tls`.
   */
  readonly http2?: boolean | undefined
}

export type ResolvedListener = ListenerPlace & {
  /** Where its address was given: `listeners[1]`; undefined for `port` and `host`. */
  readonly option?: string | undefined
  readonly tls: ResolvedTls | undefined
  readonly http2: boolean
}

const LISTENER = fieldsNeeding(composeOptions(ADDRESS_OPTIONS, PROTOCOL_OPTIONS), ['port'], { allowed: '{ port, host?, tls?, http2? }' })

const MODE_MAX = 0o777
/** Permissions of a Unix socket. */
const mode = () =>
  option(integer(0, MODE_MAX, 'permissions from 0 to 0o777'), {
    defaultWords: 'what the umask of the process leaves',
    meaning: 'Its permissions',
  })

const UNIX_SOCKET = fieldsNeeding(
  composeOptions(
    defineOptions({
      path: option(socketPath(), { defaultWords: 'none: it has to be given', meaning: 'Unix socket to listen on' }),
      mode: mode(),
    }),
    PROTOCOL_OPTIONS,
  ),
  ['path'],
  { allowed: '{ path, mode?, tls?, http2? }' },
)

const PASSED_ALLOWED = `a descriptor from ${FIRST_PASSED} on, or the name of a socket that the process is passed`
const isPassed = (given: unknown): boolean =>
  typeof given === 'string' ? given !== '' && !given.includes(':') : Number.isInteger(given) && (given as number) >= FIRST_PASSED
const PASSED_SOCKET = fieldsNeeding(
  composeOptions(
    defineOptions({
      fd: option(value<number | string>(PASSED_ALLOWED, isPassed), {
        defaultWords: 'none: it has to be given',
        meaning: 'Socket that the process is passed',
      }),
    }),
    PROTOCOL_OPTIONS,
  ),
  ['fd'],
  { allowed: '{ fd, tls?, http2? }' },
)

const LISTENERS_ALLOWED =
  'a list of { port, host?, tls?, http2? }, { path, mode?, tls?, http2? } and { fd, tls?, http2? }, not together with port, host, tls or http2'

function wrongAddress(address: unknown): Wrong | undefined {
  const given = isFieldsOnly(address) ? ownFields(address) : address
  const kind = isFieldsOnly(given) && 'path' in given ? UNIX_SOCKET : isFieldsOnly(given) && 'fd' in given ? PASSED_SOCKET : LISTENER
  const wrong = kind.wrong?.(given)
  return wrong?.path === '' ? { ...wrong, allowed: '{ port, host? }, { path, mode? } or { fd }' } : wrong
}

/** A listener as code reads it; without a host node listens on all addresses, IPv6 and IPv4. */
export function resolveListener(address: ListenerAddress): ResolvedListener {
  const given = ownFields(address)
  const { tls: certificates, http2 = certificates !== undefined } = resolveOptions(PROTOCOL_OPTIONS, { tls: given.tls, http2: given.http2 })
  const protocols = { tls: certificates, http2 }
  if ('fd' in given) return { fd: given.fd, ...protocols }
  if ('path' in given) return { path: given.path, ...(given.mode !== undefined && { mode: given.mode }), ...protocols }
  const { port: number, host: name } = given
  return { port: Number(number), ...(name !== undefined && { host: name }), ...protocols }
}

const KIB = 1024
const INT32_MAX = 2 ** 31 - 1
/** @see RFC 9113 section 6.5.2 */
const HTTP2_FRAME_MAX = 2 ** 24 - 1

/**
 * Options that only `createServer` has; `attachLifecycle` is given a server that has them already.
 */
export const LISTEN_OPTIONS = defineOptions({
  /**
   * 0 is any free port. Text of digits is one, too, as `process.env.PORT` has it.
   * @default 8080
   */
  port: option(port(), { flag: 'port', default: 8080, meaning: 'Port to listen on', upstream: '--secure-port' }),
  /** @default all addresses */
  host: option(host(), {
    flag: 'bind-address',
    defaultWords: 'all addresses',
    cliDefault: LOOPBACK,
    meaning: 'Address to listen on',
    upstream: '--bind-address',
  }),
  /**
   * Certificates, with which the server is HTTPS: texts, or files that are watched.
   * @default none: without TLS
   */
  tls: tlsRow(),
  /**
   * Whether HTTP/2 is served: with TLS beside HTTP/1.1, as the client chooses; without TLS instead
   * of it.
   * @default true with tls, else false
   */
  http2: http2Row(),
  /**
   * Several addresses, Unix sockets (`{ path, mode: 0o660 }`) or sockets that the process is passed
   * (`{ fd: 'http' }`) instead of `port`, `host`, `tls` and `http2`; all are bound, or none is.
   * @default the one of port and host
   */
  listeners: option(listOf<ListenerAddress>(LISTENERS_ALLOWED, wrongAddress, 1), {
    defaultWords: 'the one of port and host',
    meaning: 'Several addresses, Unix sockets or sockets that the process is passed; all are bound, or none is',
  }),
  /**
   * Time after which an idle connection is closed: longer than the idle time of the usual load
   * balancers, which must not lose the race. A client of HTTP/2 is told by GOAWAY before; pings do
   * not count. 0 closes none.
   * @default 75s, or longer than what is in front (behind) keeps it
   */
  keepAliveTimeout: option(duration(), {
    default: '75s',
    on: defaultsByFront('keepAliveTimeout'),
    defaultWords: (usual) => `${usual}, or longer than what is in front (behind) keeps it`,
    meaning: 'Time after which an idle connection is closed; longer than the idle time of the usual load balancers',
    upstream: 'http.Server IdleTimeout (90s)',
  }),
  /**
   * A server of the package `ws`, `{ server: new WebSocketServer({ noServer: true }) }`, as
   * @hono/node-server has it: a fetch handler accepts WebSockets with `upgradeWebSocket` of that
   * package, and with `{ listener }` all of them are accepted. Every other upgrade is answered 400.
   * In the watch drain each is closed with 1001.
   * @default none: a request to upgrade is answered like any other
   */
  websocket: option(value<WebSocketOption>('{ server: new WebSocketServer({ noServer: true }) }', isWebSocketOption), {
    defaultWords: 'none: a request to upgrade is answered like any other',
    meaning: 'A server of the package ws, for upgradeWebSocket of @hono/node-server, or for all WebSockets with { listener }',
  }),
  /**
   * Longest time of a TLS handshake, and then of the head of a request, each; a connection that
   * takes longer is closed. Above 0.
   * @default 32s
   */
  headersTimeout: option(duration('1ms'), {
    default: '32s',
    meaning: 'Longest time of a TLS handshake, and then of the head of a request; a connection that takes longer is closed',
    upstream: 'http.Server ReadHeaderTimeout',
  }),
  /**
   * Bytes of the head of a request, with the names and values of all its headers: 4 KiB to 16 MiB.
   * A larger one is refused: 431 over HTTP/1.1, over HTTP/2 its stream is reset with
   * ENHANCE_YOUR_CALM. Over HTTP/2 node takes 8 CONTINUATION frames of a head, so that clients
   * whose frames have 16 KiB are disconnected for more than 144 KiB.
   * @default 16 KiB over HTTP/1.1, 1 MiB over HTTP/2
   */
  maxHeaderSize: option(integer(4 * KIB, 16 * 1024 * KIB, 'a number of bytes from 4096 to 16777216'), {
    flag: 'max-header-size',
    defaultWords: '16 KiB over HTTP/1.1, 1 MiB over HTTP/2',
    meaning: 'Bytes of the head of a request; a larger one is refused',
    upstream: 'http.Server MaxHeaderBytes (1 MiB)',
  }),
  /**
   * How many requests a client of HTTP/2 may have under way on one connection, watches included: 1
   * to 2147483647. A client is told so; the next one is refused with REFUSED_STREAM, so that it may
   * send it later.
   * @default 100
   * @see kubernetes/apiserver pkg/server/secure_serving.go Serve
   */
  maxConcurrentStreams: option(integer(1, INT32_MAX), {
    flag: 'http2-max-streams-per-connection',
    default: 100,
    meaning: 'How many requests a client of HTTP/2 may have under way on one connection, watches included',
    needs: needsHttp2,
    upstream: '--http2-max-streams-per-connection',
  }),
  /**
   * Bytes that a client of HTTP/2 may send on a stream before your handler has read them, and in
   * one frame: 16 KiB to 16777215. A whole connection has `maxConcurrentStreams` times as much, 2
   * GiB at most: 25 MiB by default.
   * @default 262144
   * @see kubernetes/apiserver pkg/server/secure_serving.go Serve
   */
  streamBuffer: option(integer(16 * KIB, HTTP2_FRAME_MAX, `a number of bytes from 16384 to ${HTTP2_FRAME_MAX}`), {
    default: 256 * KIB,
    meaning: 'Bytes that a client of HTTP/2 may send on a stream before they are read, and in one frame',
    needs: needsHttp2,
    upstream: 'http2.Server MaxUploadBufferPerStream, MaxReadFrameSize',
  }),
  /**
   * Options for `node:http`, `node:https` or `node:http2` as they are: what they say takes
   * precedence over the options above, also of `settings` each by itself.
   * @default {}
   */
  serverOptions: option(
    value<http.ServerOptions | https.ServerOptions | http2.SecureServerOptions>(
      'an object: the options of createServer of node:http',
      isFieldsOnly,
    ),
    {
      default: {},
      meaning: 'Given to node:http, node:https or node:http2 as it is',
    },
  ),
})
