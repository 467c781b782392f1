import type { IncomingMessage } from 'node:http'
import type { Authenticated, AuthenticationContext, AuthenticationResult, Authenticator } from '../authentication/authenticator.ts'
import { Hold } from './hold.ts'

/**
 * What it answers: a user, or the name of one; undefined, for a request without credentials of its
 * kind; an error, which it throws; a function of what is asked, which may take its time.
 */
export type AuthenticatorAnswer =
  | string
  | Authenticated
  | undefined
  | Error
  | ((request: IncomingMessage, context: AuthenticationContext) => AuthenticationResult | PromiseLike<AuthenticationResult>)

/** A request as it was when its sender was asked about: credentials are taken out of it later. */
export interface AskedRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<IncomingMessage['headers']>
}

/**
 * An authenticator for tests: it answers what it is told to, when it is told to, and keeps what it
 * was asked.
 * @example
 * const authenticator = new RecordingAuthenticator('eve')
 * // … requests …
 * expect(authenticator.asked[0]?.headers.authorization).toBe('Bearer token')
 * authenticator.answer = new Error('the issuer does not answer')
 */
export class RecordingAuthenticator extends Hold implements Authenticator {
  /** Every request that it was asked about, oldest first. */
  readonly asked: AskedRequest[] = []
  /** What it answers from now on. */
  answer: AuthenticatorAnswer

  constructor(answer?: AuthenticatorAnswer) {
    super()
    this.answer = answer
  }

  authenticate(request: IncomingMessage, context: AuthenticationContext): AuthenticationResult | PromiseLike<AuthenticationResult> {
    const { method = 'GET', url = '/', headers } = request
    this.asked.push({ method, url, headers: { ...headers } })
    return this.whenReleased(() => {
      const { answer } = this
      if (answer instanceof Error) throw answer
      if (typeof answer === 'function') return answer(request, context)
      return typeof answer === 'string' ? { user: { name: answer, groups: [], extra: {} } } : answer
    })
  }
}
