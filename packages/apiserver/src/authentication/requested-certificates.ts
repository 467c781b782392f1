import type { ServerOptions } from '../engine.ts'

type Listening = Pick<ServerOptions, 'tls'>

const listenersOf = (engine: ServerOptions): readonly Listening[] => engine.listeners ?? [engine]

/** Whether any listener has TLS. */
export const hasTls = (engine: ServerOptions): boolean => listenersOf(engine).some(({ tls }) => tls !== undefined)

/** Whether any listener asks its clients for certificates of a CA of its own. */
export const hasClientCa = (engine: ServerOptions): boolean => listenersOf(engine).some(hasOwnClientCa)

const hasOwnClientCa = ({ tls }: Listening): boolean =>
  typeof tls === 'object' && (tls.clientCa !== undefined || tls.clientCaFile !== undefined)

/**
 * Clients are asked for certificates and need none, unless that is said: other credentials are as
 * good, and authentication decides.
 * @param hasFurtherCa whether there are CAs beside those of the listeners
 */
export function requestingCertificates(engine: ServerOptions, hasFurtherCa: boolean): ServerOptions {
  const requesting = <T extends Listening>(listener: T): T => {
    if (listener.tls === undefined || !(hasFurtherCa || hasOwnClientCa(listener))) return listener
    const tls = listener.tls === 'self-signed' ? { selfSigned: true } : listener.tls
    return { ...listener, tls: { ...tls, clientCertificates: tls.clientCertificates ?? 'request' } }
  }
  return engine.listeners === undefined ? requesting(engine) : { ...engine, listeners: engine.listeners.map(requesting) }
}
