import type { ServerOptions as HttpOptions, RequestListener } from 'node:http'
import type { SecureServerOptions as Http2Options } from 'node:http2'
import type { Server } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import type { Host } from '../actors/host.ts'
import type { ListenTarget } from '../actors/listen-target.ts'
import { Listener } from '../actors/listener.ts'
import type { LifecycleFact } from '../base/events.ts'
import type { Traffic } from '../http/traffic/traffic.ts'
import type { ResolvedServerOptions } from '../options/options.ts'
import type { ListenerPlace, ResolvedListener } from '../options/rows/listeners.ts'
import { passedSocket } from '../platforms/passed-sockets.ts'
import type { Certificates } from '../tls/certificates.ts'
import type { FurtherCas } from '../tls/client-trust.ts'
import type { OwnPair } from '../tls/settings.ts'
import { connectionWindow, HTTP2_HEADERS_MAX, http1Limits, http2Settings } from './http-limits.ts'

/** What the listeners of one life are opened with. */
export interface Opening {
  readonly host: Host
  readonly options: ResolvedServerOptions
  readonly traffic: Traffic
  readonly record: (fact: LifecycleFact) => void
  readonly listener: RequestListener
  /** Is given each server before the gate is put in front of it. */
  readonly prepare: (server: Server) => void
  /** The certificate of the server's own client, for listeners with TLS. */
  readonly ownPair?: (() => Promise<OwnPair>) | undefined
  /** Further CAs of clients, for listeners with TLS. */
  readonly furtherCas?: FurtherCas | undefined
}

/** A listener, and the certificates that it has. */
export interface Opened {
  readonly listener: Listener
  readonly certificates: Certificates | undefined
}

/**
 * The listeners of a server that quiesce creates, each with its own server behind the traffic's
 * gate. None is bound yet.
 * @throws QuiesceError ERR_TLS for certificates that cannot be used, ERR_LISTEN for a socket that
 * the process was not passed
 */
export async function openPublicListeners(opening: Opening): Promise<Opened[]> {
  const opened: Opened[] = []
  for (const { tls, http2, ...target } of opening.options.listeners) {
    const certificates = tls && (await openCertificates(opening, tls, 'host' in target ? target.host : undefined))
    const server = await createServer(opening, certificates, http2)
    certificates?.serve(server)
    opening.prepare(server)
    opening.traffic.takeOverOwn(server, { idleMs: http1Limits(opening.options).keepAliveTimeout })
    opened.push({ listener: new Listener(server, targetOf(opening.host, target), 'public', certificates), certificates })
  }
  return opened
}

function targetOf({ process: { env, pid } }: Host, target: ListenerPlace & Pick<ListenTarget, 'option'>): ListenTarget {
  if (!('fd' in target)) return target
  const { fd, option } = target
  return { fd: typeof fd === 'number' ? fd : passedSocket(fd, { env, pid, ppid: process.ppid }), name: fd, option }
}

/** What a self-signed certificate is for, beside the host of its listener. */
const OWN_NAMES = ['localhost', '127.0.0.1', '::1'] as const
const ALL_ADDRESSES = ['0.0.0.0', '::']

async function openCertificates(
  { host: { clock }, options, record, ownPair, furtherCas }: Opening,
  tls: NonNullable<ResolvedListener['tls']>,
  listensOn: string | undefined,
): Promise<Certificates> {
  const { Certificates } = await import('../tls/certificates.ts')
  const names = new Set<string>([...OWN_NAMES, ...(listensOn === undefined || ALL_ADDRESSES.includes(listensOn) ? [] : [listensOn])])
  const world = { clock, record, own: await ownPair?.(), furtherCas }
  return Certificates.open(tls, options.serverOptions as SecureContextOptions, [...names] as [string, ...string[]], world)
}

/**
 * The time in milliseconds after which the system probes clients that have gone without a word and
 * are sent nothing.
 */
const TCP_KEEP_ALIVE_MS = 3 * 60_000

/**
 * Node leaves out a header of HTTP/2 whose value begins or ends with a space, and serves the rest:
 * a request that names a user to act as would act as its own. Node 20 does so in any case.
 */
const WHOLE_HEADS = { strictFieldWhitespaceValidation: false, maxHeaderListPairs: HTTP2_HEADERS_MAX }

/**
 * The server of one listener.
 * @see kubernetes/apiserver pkg/server/secure_serving.go Serve
 */
async function createServer(
  { host: { servers }, options, listener }: Opening,
  certificates: Certificates | undefined,
  http2: boolean,
): Promise<Server> {
  const limits = http1Limits(options)
  const given = { keepAlive: true, keepAliveInitialDelay: TCP_KEEP_ALIVE_MS, ...options.serverOptions, ...limits }
  const secure = certificates && { handshakeTimeout: options.headersTimeoutMs, ...given, ...certificates.options }
  if (!http2) return secure ? servers.https(secure, listener) : servers.http(given, listener)
  const settings = http2Settings(options)
  const server = secure
    ? // Of what holds for HTTP/1.1, node:http2 takes nothing from its options.
      Object.assign(await servers.http2Secure({ ...WHOLE_HEADS, ...secure, settings, allowHTTP1: true }, listener), {
        requireHostHeader: (options.serverOptions as HttpOptions).requireHostHeader ?? true,
        ...limits,
      })
    : await servers.http2({ ...WHOLE_HEADS, ...(given as Http2Options), settings }, listener)
  const window = connectionWindow(settings)
  server.on('session', (session) => session.setLocalWindowSize(window))
  return server
}
