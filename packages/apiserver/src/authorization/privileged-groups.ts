import type { UserInfo } from '../authentication/user.ts'
import { checkArguments } from '../engine.ts'
import { ALL_RULES, type Authorizer, type Decision, NO_OPINION, NO_RULES } from './authorizer.ts'

const ALLOW: Decision = { decision: 'allow' }

/**
 * Allows everything to the users of some groups. @see kubernetes/apiserver
 * pkg/authorization/authorizerfactory/builtin.go NewPrivilegedGroups
 * @example
 * privilegedGroups('system:masters')
 */
export function privilegedGroups(...groups: readonly string[]): Authorizer {
  checkArguments('privilegedGroups(...groups)', [groups, 'a text'])
  const isPrivileged = (user: UserInfo): boolean => groups.some((group) => user.groups.includes(group))
  return {
    authorize: ({ user }) => (user !== undefined && isPrivileged(user) ? ALLOW : NO_OPINION),
    rulesFor: (user) => (isPrivileged(user) ? ALL_RULES : NO_RULES),
  }
}
