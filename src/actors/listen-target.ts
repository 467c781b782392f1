import type { AddressInfo, ListenOptions, Server } from 'node:net'
import { QuiesceError } from '../base/errors.ts'
import { withMode } from './unix-socket.ts'

/**
 * Where to listen: a TCP port (0 = any) on a host (all addresses without one), the path of a Unix
 * socket and its permissions, or a socket that the process was passed, which has a name or the
 * number of its descriptor.
 */
export type ListenTarget = (
  | { readonly port: number; readonly host?: string }
  | { readonly path: string; readonly mode?: number }
  | { readonly fd: number; readonly name: string | number }
) & {
  /** The option that has these as its fields; undefined when they are options themselves. */
  readonly option?: string | undefined
}

export interface BoundAddress {
  /**
   * `http://127.0.0.1:8080`, `unix:/run/app.sock`, or `fd:NAME` for a Unix socket that was passed.
   */
  readonly url: string
  /** Host or socket path. */
  readonly address: string
  /** 0 for a Unix socket. */
  readonly port: number
}

/**
 * The address of a server that never listens: `server.emit('connection', socket)` gives it its
 * sockets.
 */
export const GIVEN: BoundAddress = { url: 'given:sockets', address: 'given', port: 0 }

/**
 * Asks for it; `listening` or `error` says what has become of it.
 * @returns to be called when it listens
 */
export function listen(server: Server, target: ListenTarget): () => void {
  if ('fd' in target) server.listen({ fd: target.fd })
  else if ('path' in target && target.mode !== undefined)
    return withMode(target.path, target.mode, () => void server.listen({ path: target.path }))
  else server.listen(target satisfies ListenOptions)
  return () => {}
}

/**
 * `public` listeners serve the user's requests; `admin` ones serve health and metrics, are no part
 * of the drain and close after it; the `inspector` is no part of any phase: it shows the end of the
 * last one.
 */
export type ListenerKind = 'public' | 'admin' | 'inspector'

export function listenError(target: ListenTarget | undefined, listener: ListenerKind, cause: Error, why = cause.message): QuiesceError {
  const where = target === undefined ? 'the attached server' : placeOf(target)
  return new QuiesceError(
    'ERR_LISTEN',
    `failed to create listener: failed to listen on ${where}: ${why}`,
    { address: where, listener, ...(target?.option !== undefined && { option: target.option }) },
    cause,
  )
}

function placeOf(target: ListenTarget): string {
  if ('path' in target) return target.path
  if ('fd' in target) return target.name === target.fd ? `descriptor ${target.fd}` : `descriptor ${target.fd} (${target.name})`
  return `${target.host ?? '*'}:${target.port}`
}

export function boundAddress(server: Server, target: ListenTarget | undefined): BoundAddress {
  const address = server.address() as AddressInfo | string | null
  // Node does not ask for the path of a Unix socket that it did not make.
  if (!address && target && 'fd' in target) return { url: `fd:${target.name}`, address: `fd:${target.name}`, port: 0 }
  if (address === null || typeof address === 'string') return { url: `unix:${address ?? ''}`, address: address ?? '', port: 0 }
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  const scheme = 'setSecureContext' in server ? 'https' : 'http'
  return { url: `${scheme}://${host}:${address.port}`, address: address.address, port: address.port }
}
