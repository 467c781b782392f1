import { timingSafeEqual } from 'node:crypto'
import type { Authenticated, TokenAuthenticator } from './authenticator.ts'
import { fixed } from './user.ts'

/** The server's own client may do everything. */
const OWN_CLIENT: Authenticated = {
  user: fixed({ name: 'system:apiserver', groups: ['system:authenticated', 'system:masters'], extra: {} }),
}

/**
 * Knows the server's own client by its token.
 * @see kubernetes/apiserver pkg/server/config.go AuthorizeClientBearerToken
 */
export function loopbackToken(token: string): TokenAuthenticator {
  const own = Buffer.from(token)
  return {
    authenticateToken: (given) => {
      if (given.length !== token.length) return undefined
      const bytes = Buffer.from(given)
      return bytes.length === own.length && timingSafeEqual(bytes, own) ? OWN_CLIENT : undefined
    },
  }
}
