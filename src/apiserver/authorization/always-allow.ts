import type { Authorizer } from './authorizer.ts'

/**
 * Allows everything. @see kubernetes/apiserver pkg/authorization/authorizerfactory/builtin.go
 * NewAlwaysAllowAuthorizer
 */
export const alwaysAllow = (): Authorizer => ({ authorize: () => ({ decision: 'allow' }) })
