import type { AddressInfo, Server } from 'node:net'
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import { look } from '../engine.ts'

/** Where a server of this process is reached by the process itself. */
export interface LoopbackTarget {
  readonly socketPath?: string
  readonly host?: string
  readonly port?: number
  readonly isTls: boolean
  /** Whether it is HTTP/2 alone, without TLS: its clients know that beforehand. */
  readonly isHttp2: boolean
}

/** What is asked of a server. */
export interface LoopbackRequest {
  readonly path: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: ReadableStream<Uint8Array> | null
  readonly signal: AbortSignal
}

type Interfaces = NodeJS.Dict<Pick<NetworkInterfaceInfo, 'address' | 'family' | 'internal'>[]>

/**
 * The host by which a bound address is reached: of all addresses the first loopback one of that
 * family, and `localhost` where there is none.
 * @see kubernetes/apiserver pkg/server/config_selfclient.go LoopbackHostPort
 */
export function loopbackHost(address: string, interfaces: Interfaces = look(networkInterfaces) ?? {}): string {
  const family = { '0.0.0.0': 'IPv4', '::': 'IPv6' }[address]
  if (family === undefined) return address
  const all = Object.values(interfaces).flatMap((each) => each ?? [])
  return all.find((each) => each.internal && each.family === family)?.address ?? 'localhost'
}

/** Undefined for one that does not listen, or on a socket whose path node does not know. */
export function loopbackTarget(server: Server): LoopbackTarget | undefined {
  const address = server.address() as AddressInfo | string | null
  if (address === null || !server.listening) return undefined
  const isTls = 'setSecureContext' in server
  const speaks = { isTls, isHttp2: !isTls && 'updateSettings' in server }
  if (typeof address === 'string') return { socketPath: address, ...speaks }
  return { host: loopbackHost(address.address), port: address.port, ...speaks }
}
