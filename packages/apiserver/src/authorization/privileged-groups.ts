import { type Authorizer, type Decision, NO_OPINION } from './authorizer.ts'

const ALLOW: Decision = { decision: 'allow' }

/**
 * Allows everything to the users of some groups. @see kubernetes/apiserver
 * pkg/authorization/authorizerfactory/builtin.go NewPrivilegedGroups
 * @example
 * privilegedGroups('system:masters')
 */
export function privilegedGroups(...groups: readonly string[]): Authorizer {
  return {
    authorize: ({ user }) => (user !== undefined && groups.some((group) => user.groups.includes(group)) ? ALLOW : NO_OPINION),
  }
}
