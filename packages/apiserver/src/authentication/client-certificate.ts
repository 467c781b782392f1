import type { X509Certificate } from 'node:crypto'
import { clientCaOf } from '../engine.ts'
import type { Authenticated, Authenticator } from './authenticator.ts'
import { knownUser } from './group-adder.ts'
import { commonNameOf, isValidAt, type Peer, type PeerTrust, peerOf, subjectOf, tlsSocketOf } from './peer-certificate.ts'

/** @see kubernetes/apiserver pkg/authentication/request/x509/x509.go */
const UID = '1.3.6.1.4.1.57683.2'
const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id'

/** The users by what their certificates say; undefined: it names none. */
const USERS = new WeakMap<Peer, { readonly authenticated: Authenticated | undefined }>()

/**
 * Authenticates clients with a certificate that leads to the client CA, which the handshake has
 * verified: the common name is the user, the organizations are the groups. One that does not lead
 * there, or is not valid at the time of the request, is wrong. Of a listener that asks for
 * certificates of other CAs, too, it has to lead to that of its clients.
 * @param wall milliseconds since the epoch
 * @see kubernetes/apiserver pkg/authentication/request/x509/x509.go
 */
export const clientCertificateAuthenticator = (wall: () => number, trust: PeerTrust): Authenticator => ({
  authenticate: (request) => {
    const socket = tlsSocketOf(request)
    if (socket === undefined) return undefined
    const peer = peerOf(socket)
    if (peer === undefined) return undefined
    if (!socket.authorized) throw new Error(`verifying the client certificate failed: ${String(socket.authorizationError)}`)
    const clientCa = clientCaOf(socket)
    if (clientCa) {
      const ca = clientCa()
      if (ca === undefined || ca.certificates.length === 0) return undefined
      if (!trust.leadsTo(socket, peer.certificate, ca)) throw OF_ANOTHER_CA
    }
    const user = USERS.get(peer) ?? read(peer)
    if (isValidAt(peer, wall())) return user.authenticated
    throw new Error('verifying the client certificate failed: it has expired or is not yet valid')
  },
})

/** The error of all such certificates: each request of a front proxy meets it. */
const OF_ANOTHER_CA = new Error('verifying the client certificate failed: it was not issued by the client CA')

function read(peer: Peer): { readonly authenticated: Authenticated | undefined } {
  const found = authenticatedBy(peer.certificate)
  const user = { authenticated: found && { user: knownUser(found.user) } }
  USERS.set(peer, user)
  return user
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
