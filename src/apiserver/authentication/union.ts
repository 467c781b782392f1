import { toError } from '../../base/errors.ts'
import { isThenable } from '../../http/emit-gate.ts'
import { type AuthenticationResult, type Authenticator, checkedResult } from './authenticator.ts'
import type { TokenAuthenticator } from './bearer-token.ts'

interface UnionOptions {
  /** What one has thrown is the end at once. Default false: it counts when none knows the user. */
  readonly failOnError?: boolean
}

/**
 * Asks one after the other until one knows the user.
 * @see kubernetes/apiserver pkg/authentication/request/union/union.go New, NewFailOnError
 */
export const unionAuthenticator = (authenticators: readonly Authenticator[], options: UnionOptions = {}): Authenticator => ({
  ...livesOf(authenticators),
  authenticate: (request, context) => firstToKnow(authenticators, (each) => each.authenticate(request, context), options),
})

/**
 * The same for tokens.
 * @see kubernetes/apiserver pkg/authentication/token/union/union.go
 */
export const unionTokens = (tokens: readonly TokenAuthenticator[], options: UnionOptions = {}): TokenAuthenticator => ({
  ...livesOf(tokens),
  authenticateToken: (token, context) => firstToKnow(tokens, (each) => each.authenticateToken(token, context), options),
})

type Life = Pick<Authenticator, 'open' | 'close'>

const livesOf = (all: readonly Life[]): Required<Life> => ({
  open: async (world) => {
    for (const each of all) await each.open?.(world)
  },
  close: () => {
    for (const each of all) each.close?.()
  },
})

/** Waits only for those that take time. */
function firstToKnow<T>(
  all: readonly T[],
  ask: (one: T) => unknown,
  { failOnError = false }: UnionOptions,
  from = 0,
  errors: readonly Error[] = [],
): AuthenticationResult | Promise<AuthenticationResult> {
  const goOn = (at: number, thrown: unknown): AuthenticationResult | Promise<AuthenticationResult> => {
    if (failOnError) throw thrown
    return firstToKnow(all, ask, {}, at + 1, [...errors, toError(thrown)])
  }
  for (let at = from; at < all.length; at++) {
    let answer: unknown
    try {
      answer = ask(all[at] as T)
      if (!isThenable(answer)) answer = checkedResult(answer)
    } catch (thrown) {
      return goOn(at, thrown)
    }
    if (isThenable(answer))
      return Promise.resolve(answer)
        .then(checkedResult)
        .then(
          (result) => result ?? firstToKnow(all, ask, { failOnError }, at + 1, errors),
          (thrown: unknown) => goOn(at, thrown),
        )
    if (answer !== undefined) return answer as AuthenticationResult
  }
  const [first] = errors
  if (first === undefined) return undefined
  throw errors.length === 1 ? first : new AggregateError(errors, `[${errors.map(({ message }) => message).join(', ')}]`)
}
