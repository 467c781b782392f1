import type { IncomingMessage } from 'node:http'
import { type Clock, isRecord, show } from '../engine.ts'
import type { RequestInfo } from '../request/request-info.ts'
import { isFixed, type UserInfo } from './user.ts'

/** What credentials have proved. */
export interface Authenticated {
  readonly user: UserInfo
  /**
   * The audiences that the credentials are for, where they say that: the server has to be one of
   * them. Undefined: any server.
   */
  readonly audiences?: readonly string[] | undefined
}

/** What an authenticator is given beside the request. */
export interface AuthenticationContext {
  /** Aborted when its answer is not awaited any more. */
  readonly signal: AbortSignal
  /** What the request is about. */
  readonly info: RequestInfo
}

/** What an authenticator that goes on by itself is given. */
export interface AuthenticatorWorld {
  readonly clock: Clock
  /** A random number from 0 up to 1. */
  readonly random: () => number
  /** Warns of what is not as it should be, and does not keep the server from starting. */
  readonly warn: (message: string) => void
}

/** What an authenticator says of a request; undefined: it brings no credentials of this kind. */
export type AuthenticationResult = Authenticated | undefined

/**
 * Finds out who sent a request, by one kind of credentials.
 *
 * It returns a user, or undefined for a request that brings no credentials of its kind, so that the
 * next authenticator is asked. It throws, or rejects, for credentials that are wrong, and when it
 * cannot tell: the next one is asked as well, but a request for which one has thrown and none has
 * returned a user is answered 401, never taken for an anonymous one. What is neither a user nor
 * undefined counts as thrown, and so does an answer that does not come within
 * `authenticationTimeout`.
 *
 * The message of what is thrown is logged: it must not hold the credentials.
 * @see kubernetes/apiserver pkg/authentication/authenticator/interfaces.go Request
 */
export interface Authenticator {
  authenticate(request: IncomingMessage, context: AuthenticationContext): AuthenticationResult | PromiseLike<AuthenticationResult>
  /** Opens the authenticator, once, before the server listens; a rejection is a failed start. */
  open?(world: AuthenticatorWorld): void | PromiseLike<void>
  /** The server has ended; called once. */
  close?(): void
}

const areTexts = (given: unknown): boolean => Array.isArray(given) && given.every((each) => typeof each === 'string')

/** Finds out who has a token; as an {@link Authenticator}, for what came as one. */
export interface TokenAuthenticator extends Pick<Authenticator, 'open' | 'close'> {
  authenticateToken(token: string, context: AuthenticationContext): AuthenticationResult | PromiseLike<AuthenticationResult>
}

/**
 * What an authenticator has returned, when it is what it has to be.
 * @throws Error for anything else
 */
export function checkedResult(answer: unknown): AuthenticationResult {
  if (answer === undefined) return undefined
  // Each field is read once: what is checked is what counts.
  const { user, audiences }: Readonly<Record<string, unknown>> = isRecord(answer) ? answer : {}
  if (isUser(user) && (audiences === undefined || areTexts(audiences)))
    return { user, ...(audiences !== undefined && { audiences }) } as Authenticated
  throw new Error(`an authenticator returned ${show(answer)}, allowed: undefined or { user: { name, uid?, groups, extra }, audiences? }`)
}

/** Users that cannot change, and were seen to be as they have to be. */
const CHECKED = new WeakSet<object>()

function isUser(given: unknown): boolean {
  if (!isRecord(given)) return false
  if (CHECKED.has(given)) return true
  const isOne = hasItsFields(given)
  if (isOne && isFixed(given as unknown as UserInfo)) CHECKED.add(given)
  return isOne
}

function hasItsFields(given: Readonly<Record<string, unknown>>): boolean {
  const { name, uid, groups, extra } = given
  const hasName = typeof name === 'string' && name !== '' && (uid === undefined || typeof uid === 'string')
  return hasName && areTexts(groups) && isRecord(extra) && Object.values(extra).every(areTexts)
}
