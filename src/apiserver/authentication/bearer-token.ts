import type { IncomingMessage } from 'node:http'
import { isThenable } from '../../http/emit-gate.ts'
import { warn } from '../chain/warnings.ts'
import type { AuthenticationContext, Authenticator, Verdict } from './authenticator.ts'
import { occurrences } from './credential-headers.ts'

/** Finds out who has a token; as an {@link Authenticator}, for what came as one. */
export interface TokenAuthenticator extends Pick<Authenticator, 'open' | 'close'> {
  authenticateToken(token: string, context: AuthenticationContext): Verdict | PromiseLike<Verdict>
}

export const INVALID_TOKEN = 'invalid bearer token'

/**
 * Of requests with `Authorization: Bearer TOKEN`. A token that is not known is wrong. Two headers
 * are wrong, too: another program may have looked at the other one (V41).
 * @see kubernetes/apiserver pkg/authentication/request/bearertoken/bearertoken.go
 */
export function bearerTokenAuthenticator(tokens: TokenAuthenticator): Authenticator {
  return {
    ...lifeOf(tokens),
    authenticate: (request, context) => {
      const token = bearerTokenOf(request)
      return token === undefined ? undefined : known(tokens.authenticateToken(token, context))
    },
  }
}

/** Something that has come as a token, and that none knows, is wrong. */
export function known(answer: Verdict | PromiseLike<Verdict>): Verdict | Promise<Verdict> {
  if (isThenable(answer)) return Promise.resolve(answer).then((verdict) => known(verdict))
  if (answer === undefined) throw new Error(INVALID_TOKEN)
  return answer
}

export const lifeOf = ({ open, close }: TokenAuthenticator): Pick<Authenticator, 'open' | 'close'> => ({
  ...(open && { open: (world) => open(world) }),
  ...(close && { close: () => close() }),
})

/** @throws Error for more than one header */
function bearerTokenOf(request: IncomingMessage): string | undefined {
  const { authorization } = request.headers
  if (authorization === undefined) return undefined
  if (occurrences(request, 'authorization') > 1) throw new Error('more than one Authorization header')
  const [scheme = '', token, rest] = authorization.trim().split(' ')
  if (scheme.toLowerCase() !== 'bearer' || token === undefined) return undefined
  if (token !== '') return token
  if (rest !== undefined)
    warn(request, '', 'the provided Authorization header contains extra space before the bearer token, and is ignored')
  return undefined
}
