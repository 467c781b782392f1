import type { RequestListener } from 'node:http'
import type { SecureServerOptions as Http2Options } from 'node:http2'
import type { Server } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import type { Host } from '../actors/host.ts'
import { Listener } from '../actors/listener.ts'
import type { Traffic } from '../http/traffic/traffic.ts'
import type { ResolvedListener } from '../options/lifecycle-options.ts'
import type { ResolvedServerOptions } from '../options/options.ts'

/**
 * The listeners of a server that quiesce creates, each with its own server behind the traffic's
 * gate. None is bound yet.
 * @throws QuiesceError ERR_TLS for certificates that cannot be used
 */
export async function openPublicListeners(
  host: Host,
  options: ResolvedServerOptions,
  traffic: Traffic,
  listener: RequestListener,
): Promise<Listener[]> {
  const opened: Listener[] = []
  for (const { tls, http2, ...target } of options.listeners) {
    const server = await createServer(host, options, { tls, http2 }, listener)
    traffic.takeOverOwn(server)
    opened.push(new Listener(server, target))
  }
  return opened
}

async function createServer(
  { servers }: Host,
  { keepAliveTimeoutMs, serverOptions }: ResolvedServerOptions,
  { tls, http2 }: Pick<ResolvedListener, 'tls' | 'http2'>,
  listener: RequestListener,
): Promise<Server> {
  const given = { keepAliveTimeout: keepAliveTimeoutMs, ...serverOptions }
  if (!tls) return http2 ? servers.http2(given as Http2Options, listener) : servers.http(given, listener)
  const { Certificates } = await import('../tls/certificates.ts')
  const certificates = await Certificates.load(tls, serverOptions as SecureContextOptions)
  const secure = { ...given, ...certificates.options }
  const server = await (http2 ? servers.http2Secure({ ...secure, allowHTTP1: true }, listener) : servers.https(secure, listener))
  certificates.serve(server)
  return server
}
