import type { IncomingMessage } from 'node:http'
import { checkArguments, isThenable, toError, withOptions } from '../engine.ts'
import {
  type AuthenticationContext,
  type AuthenticationResult,
  type Authenticator,
  checkedResult,
  type TokenAuthenticator,
} from './authenticator.ts'

interface UnionOptions {
  /** What one has thrown is the end at once. Default false: it counts when none knows the user. */
  readonly failOnError?: boolean
}

/**
 * Asks one after the other until one knows the user.
 * @see kubernetes/apiserver pkg/authentication/request/union/union.go New, NewFailOnError
 */
export function unionAuthenticator(authenticators: readonly Authenticator[], options: UnionOptions = {}): Authenticator {
  checkArguments(
    'unionAuthenticator(authenticators, options?)',
    [authenticators, 'a list'],
    [options, withOptions<UnionOptions>('failOnError')],
  )
  const union = new Union(authenticators, (one, request: IncomingMessage, context) => one.authenticate(request, context), options)
  return { ...livesOf(authenticators), authenticate: (request, context) => union.ask(request, context) }
}

/**
 * The same for tokens.
 * @see kubernetes/apiserver pkg/authentication/token/union/union.go
 */
export function unionTokens(tokens: readonly TokenAuthenticator[], options: UnionOptions = {}): TokenAuthenticator {
  checkArguments('unionTokens(tokens, options?)', [tokens, 'a list'], [options, withOptions<UnionOptions>('failOnError')])
  const [only, ...others] = tokens
  if (only !== undefined && others.length === 0) return only

  const union = new Union(tokens, (one, token: string, context) => one.authenticateToken(token, context), options)
  return { ...livesOf(tokens), authenticateToken: (token, context) => union.ask(token, context) }
}

type Life = Pick<Authenticator, 'open' | 'close'>

/** Opened and closed with what asks them; methods of theirs, because one may be of a class. */
export const livesOf = (all: readonly Life[]): Required<Life> => ({
  open: async (world) => {
    for (const each of all) await each.open?.(world)
  },
  close: () => {
    for (const each of all) each.close?.()
  },
})

/** Waits only for those that take time. */
class Union<One, Credentials> {
  readonly #all: readonly One[]
  readonly #askOne: (one: One, credentials: Credentials, context: AuthenticationContext) => unknown
  readonly #failOnError: boolean

  constructor(
    all: readonly One[],
    askOne: (one: One, credentials: Credentials, context: AuthenticationContext) => unknown,
    { failOnError = false }: UnionOptions,
  ) {
    this.#all = all
    this.#askOne = askOne
    this.#failOnError = failOnError
  }

  /** @param errors of those before `from` */
  ask(
    credentials: Credentials,
    context: AuthenticationContext,
    from = 0,
    errors: readonly Error[] = NONE,
  ): AuthenticationResult | Promise<AuthenticationResult> {
    for (let at = from; at < this.#all.length; at++) {
      let answer: unknown
      try {
        answer = this.#askOne(this.#all[at] as One, credentials, context)
        if (!isThenable(answer)) answer = checkedResult(answer)
      } catch (thrown) {
        return this.#goOn(credentials, context, at, errors, thrown)
      }
      if (isThenable(answer))
        return Promise.resolve(answer)
          .then(checkedResult)
          .then(
            (result) => result ?? this.ask(credentials, context, at + 1, errors),
            (thrown: unknown) => this.#goOn(credentials, context, at, errors, thrown),
          )
      if (answer !== undefined) return answer as AuthenticationResult
    }
    const [first] = errors
    if (first === undefined) return undefined
    throw errors.length === 1 ? first : new AggregateError(errors, `[${errors.map(({ message }) => message).join(', ')}]`)
  }

  #goOn(
    credentials: Credentials,
    context: AuthenticationContext,
    at: number,
    errors: readonly Error[],
    thrown: unknown,
  ): AuthenticationResult | Promise<AuthenticationResult> {
    if (this.#failOnError) throw thrown
    return this.ask(credentials, context, at + 1, [...errors, toError(thrown)])
  }
}

const NONE: readonly Error[] = []
