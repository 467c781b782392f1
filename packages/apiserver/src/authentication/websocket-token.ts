import type { IncomingMessage } from 'node:http'
import { isThenable } from '../engine.ts'
import { firstHeader } from '../first-header.ts'
import type { AuthenticationResult, Authenticator, TokenAuthenticator } from './authenticator.ts'
import { known } from './bearer-token.ts'
import { headerValues, replaceHeader } from './credential-headers.ts'
import { livesOf } from './union.ts'

const HEADER = 'sec-websocket-protocol'
const PREFIX = 'base64url.bearer.authorization.k8s.io.'

/**
 * Authenticates browsers, which cannot set headers of a WebSocket: a token among the sub-protocols
 * that it asks for, as `base64url.bearer.authorization.k8s.io.TOKEN`. There has to be another one,
 * which the handler may choose; the token is taken out.
 * @see kubernetes/apiserver pkg/authentication/request/websocket/protocol.go
 */
export function webSocketTokenAuthenticator(tokens: TokenAuthenticator): Authenticator {
  return {
    ...livesOf([tokens]),
    authenticate: (request, context) => {
      if (!asksForWebSocket(request)) return undefined
      const protocols = headerValues(request, HEADER).flatMap((value) => value.split(',').map((each) => each.trim()))
      const [encoded, ...others] = protocols.filter((each) => each.startsWith(PREFIX))
      if (encoded === undefined) return undefined
      if (others.length > 0) throw new Error('multiple base64.bearer.authorization tokens specified')
      const token = decoded(encoded.slice(PREFIX.length))
      if (token === '') return undefined
      const rest = protocols.filter((each) => !each.startsWith(PREFIX))
      if (rest.length === 0) throw new Error('missing additional subprotocol')
      const taken = (result: AuthenticationResult): AuthenticationResult => {
        replaceHeader(request, 'Sec-WebSocket-Protocol', rest.join(','))
        return result
      }
      const result = known(tokens.authenticateToken(token, context))
      return isThenable(result) ? result.then(taken) : taken(result)
    },
  }
}

/**
 * Whether a request asks for a WebSocket as upstream looks at it, which is more than what node
 * takes for an upgrade: a wrong token among the protocols is refused and not passed over.
 */
const asksForWebSocket = (request: IncomingMessage): boolean =>
  firstHeader(request, 'upgrade').toLowerCase() === 'websocket' && (request.headers.connection ?? '').toLowerCase().includes('upgrade')

/** Base64url without padding; what is left of bits at the end may be anything. */
const BASE64URL = /^(?:[\w-]{4})*(?:[\w-]{2,3})?$/

/** @throws Error for what is no text in base64url */
function decoded(encoded: string): string {
  if (!BASE64URL.test(encoded)) throw new Error('invalid base64.bearer.authorization token encoding')
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(encoded, 'base64url'))
  } catch {
    throw new Error('invalid base64.bearer.authorization token')
  }
}
