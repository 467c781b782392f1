import type { X509Certificate } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import type { Authenticated, Authenticator } from './authenticator.ts'
import { knownUser } from './group-adder.ts'

/** @see kubernetes/apiserver pkg/authentication/request/x509/x509.go */
const UID = '1.3.6.1.4.1.57683.2'
const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id'

/** What the certificate of one connection says; it stays the same for all of its requests. */
interface Known {
  /** Undefined: it names no user. */
  readonly authenticated: Authenticated | undefined
  readonly notBefore: number
  readonly notAfter: number
}

const KNOWN = new WeakMap<object, Known>()

/**
 * Of clients with a certificate that leads to the client CA, which the handshake has verified: the
 * common name is the user, the organizations are the groups. One that does not lead there, or is
 * not valid at the time of the request, is wrong.
 * @param wall milliseconds since the epoch
 * @see kubernetes/apiserver pkg/authentication/request/x509/x509.go
 */
export const clientCertificateAuthenticator = (wall: () => number): Authenticator => ({
  authenticate: (request) => {
    const socket = tlsSocketOf(request)
    if (socket === undefined) return undefined
    const known = KNOWN.get(socket) ?? read(socket)
    if (known === undefined) return undefined
    const now = wall()
    if (now < known.notBefore || now > known.notAfter)
      throw new Error('verifying the client certificate failed: it has expired or is not yet valid')
    return known.authenticated
  },
})

/** Of HTTP/2 the session's, which is one object for all of its requests. */
function tlsSocketOf(request: IncomingMessage): TLSSocket | undefined {
  const { stream, socket } = request as IncomingMessage & Partial<Http2ServerRequest>
  const own = (stream ? stream.session?.socket : socket) as Partial<TLSSocket> | undefined
  // Node stands in front of a session's socket, and says of what it has only when it is asked.
  return own?.getPeerX509Certificate ? (own as TLSSocket) : undefined
}

/**
 * Undefined without a certificate, which node calls authorized too where a session is resumed.
 * @throws Error for one that was not verified
 */
function read(socket: TLSSocket): Known | undefined {
  const certificate = socket.getPeerX509Certificate()
  if (certificate === undefined) return undefined
  if (!socket.authorized) throw new Error(`verifying the client certificate failed: ${String(socket.authorizationError)}`)
  const found = authenticatedBy(certificate)
  const known = {
    authenticated: found && { user: knownUser(found.user) },
    notBefore: Date.parse(certificate.validFrom),
    notAfter: Date.parse(certificate.validTo),
  }
  KNOWN.set(socket, known)
  return known
}

/**
 * Undefined without a common name.
 * @throws Error for several uids, or an empty one
 */
export function authenticatedBy(certificate: X509Certificate): Authenticated | undefined {
  const subject = certificate.toLegacyObject().subject as unknown as Readonly<Record<string, string | readonly string[] | undefined>>
  const all = (attribute: string): readonly string[] => [subject[attribute] ?? []].flat()
  const name = all('CN').at(-1) ?? ''
  if (name === '') return undefined
  const [uid, ...others] = all(UID)
  if (uid === '' || others.length > 0) throw new Error('the client certificate has more than one uid, or an empty one')
  const id = `X509SHA256=${certificate.fingerprint256.replaceAll(':', '').toLowerCase()}`
  return { user: { name, ...(uid !== undefined && { uid }), groups: all('O'), extra: { [CREDENTIAL_ID]: [id] } } }
}
