import type { ClientCa } from './client-ca.ts'
import type { Provider } from './provider.ts'

/** CAs of clients beside those of the listeners, for all of a server's listeners with TLS. */
export interface FurtherCas {
  /** The client CA of each listener that has none of its own. */
  readonly client?: Provider<ClientCa> | undefined
  /** What it leads to is no client: a proxy, which says itself who its client is. */
  readonly frontProxy?: Provider<ClientCa> | undefined
}

/** The CA that the certificates of a listener's own clients have to lead to, as it is now. */
type ClientCaNow = () => ClientCa | undefined

/** The key on the socket itself, because node stands in front of that of a session of HTTP/2. */
const CLIENT_CA = Symbol('the client CA of its listener')

export const setClientCa = (socket: object, ca: ClientCaNow): void => void Object.defineProperty(socket, CLIENT_CA, { value: ca })

/** Undefined for a listener that has no CA but its clients': the handshake has said all. */
export const clientCaOf = (socket: object): ClientCaNow | undefined => (socket as { readonly [CLIENT_CA]?: ClientCaNow })[CLIENT_CA]
