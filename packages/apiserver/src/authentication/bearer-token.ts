import type { IncomingMessage } from 'node:http'
import { warn } from '../chain/warnings.ts'
import { checkArguments, isThenable, withFields } from '../engine.ts'
import { headerText } from '../first-header.ts'
import { goTrimSpace } from '../go-trim-space.ts'
import type { AuthenticationResult, Authenticator, TokenAuthenticator } from './authenticator.ts'
import { livesOf, unionAuthenticator } from './union.ts'

export const INVALID_TOKEN = 'invalid bearer token'

/**
 * Authenticates requests with `Authorization: Bearer TOKEN`. A token that is not
 * known is wrong.
 * @see kubernetes/apiserver pkg/authentication/request/bearertoken/bearertoken.go
 */
export function bearerTokenAuthenticator(tokens: TokenAuthenticator): Authenticator {
  checkArguments('bearerTokenAuthenticator(tokens)', [tokens, TOKENS])
  return unionAuthenticator([bearerTokens(tokens), UNKNOWN_TOKENS])
}

const TOKENS = withFields('an object with authenticateToken(token, context)', 'authenticateToken')

/** The same, where others may know a token that these do not. */
export function bearerTokens(tokens: TokenAuthenticator): Authenticator {
  return {
    ...livesOf([tokens]),
    authenticate: (request, context) => {
      const token = bearerTokenOf(request)
      return token === undefined || token.includes(UNREADABLE) ? undefined : tokens.authenticateToken(token, context)
    },
  }
}

/**
 * The last authenticator, behind all that may know a token: it is wrong. To throw costs more than
 * all else that is done.
 */
export const UNKNOWN_TOKENS: Authenticator = {
  authenticate: (request) => {
    if (bearerTokenOf(request) !== undefined) throw new Error(INVALID_TOKEN)
    return undefined
  },
}

/** Something that has come as a token, and that none knows, is wrong. */
export function known(
  answer: AuthenticationResult | PromiseLike<AuthenticationResult>,
): AuthenticationResult | Promise<AuthenticationResult> {
  if (isThenable(answer)) return Promise.resolve(answer).then((result) => known(result))
  if (answer === undefined) throw new Error(INVALID_TOKEN)
  return answer
}

const USUAL = 'Bearer '

/** What stands for bytes that are no UTF-8, whichever these are: no token has it. */
export const UNREADABLE = '\uFFFD'

function bearerTokenOf(request: IncomingMessage): string | undefined {
  const raw = request.headers.authorization
  if (raw === undefined) return undefined
  const authorization = headerText(raw)
  const isUsual = authorization === raw && authorization.startsWith(USUAL) && authorization.indexOf(' ', USUAL.length) < 0
  if (isUsual) return authorization.slice(USUAL.length) || undefined
  const [scheme = '', token, rest] = goTrimSpace(authorization).split(' ')
  if (scheme.toLowerCase() !== 'bearer' || token === undefined) return undefined
  if (token !== '') return token
  if (rest !== undefined)
    warn(request, '', 'the provided Authorization header contains extra space before the bearer token, and is ignored')
  return undefined
}
