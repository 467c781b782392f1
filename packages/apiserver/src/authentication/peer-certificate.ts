import type { X509Certificate } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import type { ClientCa } from '../engine.ts'
import type { TrustPaths } from './trust-paths.ts'

/**
 * The connection of a request; undefined without TLS. Of HTTP/2 the session's, which is one object
 * for all of its requests.
 */
export function tlsSocketOf(request: IncomingMessage): TLSSocket | undefined {
  const { stream, socket } = request as IncomingMessage & Partial<Http2ServerRequest>
  const own = (stream ? stream.session?.socket : socket) as Partial<TLSSocket> | undefined
  // Node stands in front of a session's socket, and says of what it has only when it is asked.
  return own?.getPeerX509Certificate ? (own as TLSSocket) : undefined
}

/** What is known of the certificate of a connection; it stays the same for all of its requests. */
export interface Peer {
  readonly certificate: X509Certificate
  /** The last of several common names, as Go reads it; empty: there is none. */
  readonly commonName: string
  /** Milliseconds since the epoch. */
  readonly notBefore: number
  readonly notAfter: number
}

const PEERS = new WeakMap<object, Peer>()

/** Undefined without a certificate, which node calls authorized too where a session is resumed. */
export function peerOf(socket: TLSSocket): Peer | undefined {
  const known = PEERS.get(socket)
  if (known) return known
  const certificate = socket.getPeerX509Certificate()
  if (certificate === undefined) return undefined
  const { validFrom, validTo } = certificate
  const peer = { certificate, commonName: commonNameOf(certificate), notBefore: Date.parse(validFrom), notAfter: Date.parse(validTo) }
  PEERS.set(socket, peer)
  return peer
}

export const isValidAt = ({ notBefore, notAfter }: Peer, now: number): boolean => now >= notBefore && now <= notAfter

export const commonNameOf = (certificate: X509Certificate): string => subjectOf(certificate, 'CN').at(-1) ?? ''

/** All values of an attribute of its subject, in their order. */
export function subjectOf(certificate: X509Certificate, attribute: string): readonly string[] {
  const subject = certificate.toLegacyObject().subject as unknown as Readonly<Record<string, string | readonly string[] | undefined>>
  return [subject[attribute] ?? []].flat()
}

/** Whether the certificate of a connection leads to a CA, which is found out once for each. */
export class PeerTrust {
  readonly #paths: TrustPaths
  readonly #wall: () => number
  readonly #found = new WeakMap<object, { readonly ca: ClientCa; readonly leads: boolean }>()

  /** @param wall milliseconds since the epoch */
  constructor(paths: TrustPaths, wall: () => number) {
    this.#paths = paths
    this.#wall = wall
  }

  /** A CA that was replaced is another one. */
  leadsTo(socket: TLSSocket, certificate: X509Certificate, ca: ClientCa): boolean {
    const known = this.#found.get(socket)
    if (known?.ca === ca) return known.leads
    const leads = this.#paths.leadsTo(certificate, ca, this.#wall())
    this.#found.set(socket, { ca, leads })
    return leads
  }
}
