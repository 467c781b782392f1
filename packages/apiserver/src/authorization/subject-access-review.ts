import { fieldIn, isString, isYesOrNo, type ReviewKind, reviewBody, statusIn } from '../webhook/review.ts'
import type { AuthorizationAttributes, Decision, SelectorRequirement } from './authorizer.ts'

const REVIEW: ReviewKind = { kind: 'SubjectAccessReview', apiVersion: 'authorization.k8s.io/v1' }

/**
 * What a server is asked, the same for the same question. @see kubernetes/api
 * authorization/v1/types.go SubjectAccessReviewSpec
 */
export function reviewSpec(asked: AuthorizationAttributes): string {
  const { user, verb, isResourceRequest, path, namespace, apiGroup, apiVersion, resource, subresource, name } = asked
  const { fieldSelector, labelSelector } = asked
  return JSON.stringify({
    ...(isResourceRequest
      ? {
          resourceAttributes: {
            ...given({ namespace, verb, group: apiGroup, version: apiVersion, resource, subresource, name }),
            ...(fieldSelector && { fieldSelector: requirements(fieldSelector) }),
            ...(labelSelector && { labelSelector: requirements(labelSelector) }),
          },
        }
      : { nonResourceAttributes: given({ path, verb }) }),
    ...(user && {
      ...given({ user: user.name }),
      ...(user.groups.length > 0 && { groups: user.groups }),
      ...(Object.keys(user.extra).length > 0 && { extra: user.extra }),
      ...given({ uid: user.uid ?? '' }),
    }),
  })
}

/** Empty texts are left out, as Go leaves them out. */
const given = (texts: Readonly<Record<string, string>>): object =>
  Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''))

const requirements = (all: readonly SelectorRequirement[]): object => ({
  requirements: all.map(({ key, operator, values }) => ({ key, operator, ...(values.length > 0 && { values }) })),
})

const NOTHING_YET = '{"allowed":false}'

/** The body that is posted. */
export const reviewOf = (spec: string): string => reviewBody(REVIEW, spec, NOTHING_YET)

/**
 * What a server has answered, as a decision.
 * @throws Error for what is no answer
 * @see kubernetes/apiserver plugin/pkg/authorizer/webhook/webhook.go Authorize
 */
export function decisionOf(body: string): Decision {
  const status = statusIn(body, REVIEW)
  const isAllowed = fieldIn(status, 'allowed', false, isYesOrNo, REVIEW)
  const isDenied = fieldIn(status, 'denied', false, isYesOrNo, REVIEW)
  const given = fieldIn(status, 'reason', '', isString, REVIEW)
  const reason = given === '' ? {} : { reason: given }
  if (!isDenied) return { decision: isAllowed ? 'allow' : 'no-opinion', ...reason }
  const both = new Error('webhook subject access review returned both allow and deny response')
  return { decision: 'deny', ...reason, ...(isAllowed && { error: both }) }
}
