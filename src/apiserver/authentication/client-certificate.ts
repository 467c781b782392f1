import type { X509Certificate } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import { clientCaOf } from '../../tls/client-trust.ts'
import type { Authenticated, Authenticator } from './authenticator.ts'
import { knownUser } from './group-adder.ts'
import { type PeerTrust, subjectOf, tlsSocketOf } from './peer-certificate.ts'

/** @see kubernetes/apiserver pkg/authentication/request/x509/x509.go */
const UID = '1.3.6.1.4.1.57683.2'
const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id'

/** What the certificate of one connection says; it stays the same for all of its requests. */
interface Known {
  readonly certificate: X509Certificate
  /** Undefined: it names no user. */
  readonly authenticated: Authenticated | undefined
  readonly notBefore: number
  readonly notAfter: number
}

const KNOWN = new WeakMap<object, Known>()

/**
 * Of clients with a certificate that leads to the client CA, which the handshake has verified: the
 * common name is the user, the organizations are the groups. One that does not lead there, or is
 * not valid at the time of the request, is wrong. Of a listener that asks for certificates of other
 * CAs, too, it has to lead to that of its clients.
 * @param wall milliseconds since the epoch
 * @see kubernetes/apiserver pkg/authentication/request/x509/x509.go
 */
export const clientCertificateAuthenticator = (wall: () => number, trust: PeerTrust): Authenticator => ({
  authenticate: (request) => {
    const socket = tlsSocketOf(request)
    if (socket === undefined) return undefined
    const known = KNOWN.get(socket) ?? read(socket)
    if (known === undefined) return undefined
    const clientCa = clientCaOf(socket)
    if (clientCa) {
      const ca = clientCa()
      if (ca === undefined || ca.certificates.length === 0) return undefined
      if (!trust.leadsTo(socket, known.certificate, ca)) throw OF_ANOTHER_CA
    }
    const now = wall()
    if (now < known.notBefore || now > known.notAfter)
      throw new Error('verifying the client certificate failed: it has expired or is not yet valid')
    return known.authenticated
  },
})

/** One for all: each request of a front proxy meets it. */
const OF_ANOTHER_CA = new Error('verifying the client certificate failed: it does not lead to the client CA')

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
    certificate,
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
  const name = commonNameOf(certificate)
  if (name === '') return undefined
  const [uid, ...others] = subjectOf(certificate, UID)
  if (uid === '' || others.length > 0) throw new Error('the client certificate has more than one uid, or an empty one')
  const id = `X509SHA256=${certificate.fingerprint256.replaceAll(':', '').toLowerCase()}`
  return { user: { name, ...(uid !== undefined && { uid }), groups: subjectOf(certificate, 'O'), extra: { [CREDENTIAL_ID]: [id] } } }
}

/** Of several the last, as Go reads it. */
export const commonNameOf = (certificate: X509Certificate): string => subjectOf(certificate, 'CN').at(-1) ?? ''
