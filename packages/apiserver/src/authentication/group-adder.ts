import { isThenable } from '../engine.ts'
import { ALL_AUTHENTICATED, ALL_UNAUTHENTICATED, ANONYMOUS } from './anonymous.ts'
import type { AuthenticationResult, Authenticator } from './authenticator.ts'
import { livesOf } from './union.ts'
import type { UserInfo } from './user.ts'

/**
 * Has every user that is known be one of `system:authenticated`, unless it says itself whether it
 * is.
 * @see kubernetes/apiserver pkg/authentication/group/authenticated_group_adder.go
 */
export const withAuthenticatedGroup = (authenticator: Authenticator): Authenticator => ({
  ...livesOf([authenticator]),
  authenticate: (request, context) => {
    const result = authenticator.authenticate(request, context)
    return isThenable(result) ? result.then(added) : added(result)
  },
})

function added(result: AuthenticationResult): AuthenticationResult {
  if (result === undefined) return undefined
  const user = knownUser(result.user)
  return user === result.user ? result : { ...result, user }
}

/** A user for what keeps its users: that one is made for all of its requests. */
export function knownUser(user: UserInfo): UserInfo {
  const { name, groups } = user
  if (name === ANONYMOUS || groups.includes(ALL_AUTHENTICATED) || groups.includes(ALL_UNAUTHENTICATED)) return user
  return { ...user, groups: [...groups, ALL_AUTHENTICATED] }
}
