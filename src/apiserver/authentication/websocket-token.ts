import type { IncomingMessage } from 'node:http'
import { isThenable } from '../../http/emit-gate.ts'
import type { AuthenticationResult, Authenticator } from './authenticator.ts'
import { known, type TokenAuthenticator } from './bearer-token.ts'
import { headerValues, replaceHeader } from './credential-headers.ts'
import { livesOf } from './union.ts'

const HEADER = 'sec-websocket-protocol'
const PREFIX = 'base64url.bearer.authorization.k8s.io.'

/**
 * Of browsers, which cannot set headers of a WebSocket: a token among the sub-protocols that it
 * asks for, as `base64url.bearer.authorization.k8s.io.TOKEN`. There has to be another one, which
 * the handler may choose; the token is taken out.
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
      const rest = protocols.filter((each) => !each.startsWith(PREFIX))
      if (rest.length === 0) throw new Error('missing additional subprotocol')
      const token = decoded(encoded.slice(PREFIX.length))
      if (token === '') return undefined
      const taken = (result: AuthenticationResult): AuthenticationResult => {
        replaceHeader(request, 'Sec-WebSocket-Protocol', rest.join(','))
        return result
      }
      const result = known(tokens.authenticateToken(token, context))
      return isThenable(result) ? result.then(taken) : taken(result)
    },
  }
}

function asksForWebSocket({ headers: { upgrade = '', connection = '' } }: IncomingMessage): boolean {
  return (
    upgrade.toLowerCase() === 'websocket' &&
    connection
      .toLowerCase()
      .split(',')
      .some((each) => each.trim() === 'upgrade')
  )
}

/** @throws Error for what is no text in base64url */
function decoded(encoded: string): string {
  const bytes = Buffer.from(encoded, 'base64url')
  if (bytes.toString('base64url') !== encoded) throw new Error('invalid base64.bearer.authorization token encoding')
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Error('invalid base64.bearer.authorization token')
  }
}
