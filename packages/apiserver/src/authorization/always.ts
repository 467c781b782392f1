import { ALL_RULES, type Authorizer, NO_RULES } from './authorizer.ts'

/**
 * Allows everything. @see kubernetes/apiserver pkg/authorization/authorizerfactory/builtin.go
 * NewAlwaysAllowAuthorizer
 */
export const alwaysAllow = (): Authorizer => ({ authorize: () => ({ decision: 'allow' }), rulesFor: () => ALL_RULES })

/**
 * Allows nothing; an authorizer behind it may all the same. @see kubernetes/apiserver
 * pkg/authorization/authorizerfactory/builtin.go NewAlwaysDenyAuthorizer
 */
export const alwaysDeny = (): Authorizer => ({
  authorize: () => ({ decision: 'no-opinion', reason: 'Everything is forbidden.' }),
  rulesFor: () => NO_RULES,
})
