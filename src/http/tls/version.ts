import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

/** The version of TLS that a socket speaks, as `ConnectionProtocol` has it. */
export const tlsOf = (socket: Socket): string =>
  'getProtocol' in socket ? ((socket as Partial<TLSSocket>).getProtocol?.() ?? 'unknown') : 'none'
