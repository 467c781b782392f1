import { isThenable } from '../../http/emit-gate.ts'
import { ALL_AUTHENTICATED, ALL_UNAUTHENTICATED, ANONYMOUS } from './anonymous.ts'
import type { Authenticator, Verdict } from './authenticator.ts'

/**
 * Has every user that is known be one of `system:authenticated`, unless it says itself whether it
 * is.
 * @see kubernetes/apiserver pkg/authentication/group/authenticated_group_adder.go
 */
export const withAuthenticatedGroup = (authenticator: Authenticator): Authenticator => ({
  ...authenticator,
  authenticate: (request, context) => {
    const verdict = authenticator.authenticate(request, context)
    return isThenable(verdict) ? verdict.then(added) : added(verdict)
  },
})

function added(verdict: Verdict): Verdict {
  if (verdict === undefined) return undefined
  const { user } = verdict
  if (user.name === ANONYMOUS || [ALL_AUTHENTICATED, ALL_UNAUTHENTICATED].some((group) => user.groups.includes(group))) return verdict
  return { ...verdict, user: { ...user, groups: [...user.groups, ALL_AUTHENTICATED] } }
}
