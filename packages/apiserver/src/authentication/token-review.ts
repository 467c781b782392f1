import { isRecord } from '../engine.ts'
import { fieldIn, isString, isYesOrNo, type ReviewKind, reviewBody, shortLine, statusIn, withoutSecret } from '../webhook/review.ts'
import type { AuthenticationResult } from './authenticator.ts'

export const TOKEN_REVIEW_VERSIONS = ['v1', 'v1beta1'] as const
export type TokenReviewVersion = (typeof TOKEN_REVIEW_VERSIONS)[number]

const reviewOfTokens = (version: TokenReviewVersion): ReviewKind => ({
  kind: 'TokenReview',
  apiVersion: `authentication.k8s.io/${version}`,
})

/** The body that is posted. @param audiences who the server is; empty: it does not say */
export const tokenReview = (version: TokenReviewVersion, token: string, audiences: readonly string[]): string =>
  reviewBody(reviewOfTokens(version), JSON.stringify({ token, ...(audiences.length > 0 && { audiences }) }), '{"user":{}}')

/**
 * Whose a token is, as a server has answered; undefined: that of none, or for another server.
 * @throws Error for what is no answer, and with what the server says is wrong with a token
 * @see kubernetes/apiserver plugin/pkg/authenticator/token/webhook/webhook.go AuthenticateToken
 */
export function userOfReview(body: string, version: TokenReviewVersion, token: string, audiences: readonly string[]): AuthenticationResult {
  const wanted = reviewOfTokens(version)
  const status = statusIn(body, wanted)
  const isKnown = fieldIn(status, 'authenticated', false, isYesOrNo, wanted)
  const wrong = fieldIn(status, 'error', '', isString, wanted)
  const said = fieldIn(status, 'audiences', NONE, areStrings, wanted)
  const user = fieldIn(status, 'user', {}, isRecord, wanted)
  const name = fieldIn(user, 'username', '', isString, wanted)
  const uid = fieldIn(user, 'uid', '', isString, wanted)
  const groups = fieldIn(user, 'groups', NONE, areStrings, wanted)
  const extra = fieldIn(user, 'extra', {}, isExtra, wanted)
  // One that does not know of audiences has answered for all of them.
  const meant = audiences.filter((each) => said.length === 0 || said.includes(each))
  if (audiences.length > 0 && meant.length === 0) return undefined
  if (!isKnown) {
    if (wrong === '') return undefined
    throw new Error(`the webhook says of a token: ${shortLine(withoutSecret(wrong, token))}`)
  }
  if (name === '') throw new Error('the webhook accepted a token, but named no user')
  return {
    user: { name, ...(uid !== '' && { uid }), groups, extra: withLists(extra) },
    ...(meant.length > 0 && { audiences: meant }),
  }
}

const NONE: readonly string[] = []

const areStrings = (given: unknown): given is readonly string[] => Array.isArray(given) && given.every(isString)

type Extra = Readonly<Record<string, readonly string[] | null>>

const isExtra = (given: unknown): given is Extra =>
  isRecord(given) && Object.values(given).every((values) => values === null || areStrings(values))

const withLists = (extra: Extra): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, values ?? []]))
