import { show } from '../../base/errors.ts'
import { isRecord } from '../../options/kinds.ts'
import type { AuthorizationAttributes, Decision, SelectorRequirement } from './authorizer.ts'

const KIND = 'SubjectAccessReview'
const VERSION = 'authorization.k8s.io/v1'

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

/** The body that is posted. */
export const reviewOf = (spec: string): string => `{"kind":"${KIND}","apiVersion":"${VERSION}","metadata":{},"spec":${spec}}`

/**
 * What a server has answered, as a decision.
 * @throws Error for what is no answer
 * @see kubernetes/apiserver plugin/pkg/authorizer/webhook/webhook.go Authorize
 */
export function decisionOf(body: string): Decision {
  const review = parsed(body)
  const { kind, apiVersion, status } = isRecord(review) ? review : {}
  const isAnswer = isRecord(status) && typeof status['allowed'] === 'boolean' && typeof (status['denied'] ?? false) === 'boolean'
  if (kind !== KIND || apiVersion !== VERSION || !isAnswer)
    throw new Error(`the webhook answered ${show(body)}, allowed: a ${KIND} of ${VERSION} with its status`)
  const { allowed, denied } = status
  const reason = typeof status['reason'] === 'string' && status['reason'] !== '' ? { reason: status['reason'] } : {}
  if (denied === true) {
    const both = new Error('webhook subject access review returned both allow and deny response')
    return { decision: 'deny', ...reason, ...(allowed === true && { error: both }) }
  }
  return { decision: allowed ? 'allow' : 'no-opinion', ...reason }
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    // Refused as what it is.
    return undefined
  }
}
