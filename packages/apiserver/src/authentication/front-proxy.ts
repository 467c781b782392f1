import type { IncomingMessage } from 'node:http'
import type { ClientCa } from '../engine.ts'
import type { Authenticator } from './authenticator.ts'
import { headerValues, takeHeaders } from './credential-headers.ts'
import { isValidAt, type PeerTrust, peerOf, tlsSocketOf } from './peer-certificate.ts'
import type { ResolvedRequestHeader } from './request-header-options.ts'
import { unescapedKey, utf8Of } from './text-of-headers.ts'
import type { UserInfo } from './user.ts'

/** The headers in which a front proxy says who its client is. Names in small letters. */
export interface FrontProxyHeaders {
  /** The first of them that has a value names the user. */
  readonly username: readonly string[]
  readonly uid: readonly string[]
  /** The values of all of them are groups. */
  readonly groups: readonly string[]
  /** What stands behind one of these in the name of a header is a key. */
  readonly extraPrefixes: readonly string[]
}

/** A proxy in front, as it is known now. */
export interface FrontProxy {
  /** Undefined: none is believed. */
  readonly ca: () => ClientCa | undefined
  readonly headers: () => FrontProxyHeaders
  /** The common names that its certificate may have; empty: any. */
  readonly allowedNames: () => readonly string[]
}

interface FrontProxyWorld extends FrontProxy {
  readonly trust: PeerTrust
  readonly wall: () => number
}

/**
 * Authenticates requests that a proxy in front has authenticated: their headers say who sends them,
 * and are believed when the connection has a certificate of the proxy's own CA. They are taken out.
 * @see kubernetes/apiserver pkg/authentication/request/headerrequest/requestheader.go
 */
export const frontProxyAuthenticator = ({ ca, headers, allowedNames, trust, wall }: FrontProxyWorld): Authenticator => ({
  authenticate: (request) => {
    const socket = tlsSocketOf(request)
    const peer = socket && peerOf(socket)
    if (socket === undefined || peer === undefined) return undefined
    const roots = ca()
    if (roots === undefined || roots.certificates.length === 0) return undefined
    if (!socket.authorized || !trust.leadsTo(socket, peer.certificate, roots)) throw OF_ANOTHER_CA
    if (!isValidAt(peer, wall())) throw new Error('the certificate of the front proxy has expired or is not yet valid')
    const allowed = allowedNames()
    if (allowed.length > 0 && !allowed.includes(peer.commonName))
      throw new Error('the common name in the certificate of the front proxy is not among the allowed names')
    const names = headers()
    const user = userFrom(request, names)
    if (user === undefined) return undefined
    takeHeaders(request, isOfFrontProxy(names))
    return { user }
  },
})

/**
 * The error of all such certificates: each request of a client with a certificate of its own meets
 * it.
 */
const OF_ANOTHER_CA = new Error('verifying the certificate of a front proxy failed: it was not issued by the CA of the proxy')

/** Names are compared in small letters. */
export function headersOf(
  given: Pick<ResolvedRequestHeader, 'usernameHeaders' | 'uidHeaders' | 'groupHeaders' | 'extraHeaderPrefixes'>,
): FrontProxyHeaders {
  const small = (names: readonly string[]): readonly string[] => names.map((name) => name.trim().toLowerCase())
  return {
    username: small(given.usernameHeaders),
    uid: small(given.uidHeaders),
    groups: small(given.groupHeaders),
    extraPrefixes: small(given.extraHeaderPrefixes),
  }
}

/** Which headers say who the client of a proxy is. */
export const isOfFrontProxy =
  ({ username, uid, groups, extraPrefixes }: FrontProxyHeaders): ((name: string) => boolean) =>
  (name) =>
    username.includes(name) || uid.includes(name) || groups.includes(name) || extraPrefixes.some((prefix) => name.startsWith(prefix))

/**
 * The user that the headers of a request name; undefined: none.
 * @throws Error for bytes that are no UTF-8, which two names could have become the same by
 */
export function userFrom(request: IncomingMessage, { username, uid, groups, extraPrefixes }: FrontProxyHeaders): UserInfo | undefined {
  const name = firstOf(request, username)
  if (name === '') return undefined
  const id = firstOf(request, uid)
  return {
    name,
    ...(id !== '' && { uid: id }),
    groups: groups.flatMap((header) =>
      headerValues(request, header)
        .filter((value) => value !== '')
        .map(textOf),
    ),
    extra: extraOf(request, extraPrefixes),
  }
}

/** The first of several headers of one name, as in Go, also when that is empty. */
function firstOf(request: IncomingMessage, names: readonly string[]): string {
  for (const name of names) {
    const [value = ''] = headerValues(request, name)
    if (value !== '') return textOf(value)
  }
  return ''
}

/** The extra fields by prefix, and by the order of the headers in each. */
function extraOf({ rawHeaders }: IncomingMessage, prefixes: readonly string[]): UserInfo['extra'] {
  const extra = new Map<string, string[]>()
  for (const prefix of prefixes)
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = (rawHeaders[at] as string).toLowerCase()
      if (!name.startsWith(prefix)) continue
      const key = textOf(unescapedKey(name.slice(prefix.length)))
      const value = textOf(rawHeaders[at + 1] as string)
      const values = extra.get(key)
      if (values) values.push(value)
      else extra.set(key, [value])
    }
  return Object.fromEntries(extra)
}

const textOf = (value: string): string => utf8Of(value, 'a header of the front proxy is not UTF-8')
