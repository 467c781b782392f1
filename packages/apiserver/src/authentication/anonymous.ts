import type { Authenticated, Authenticator } from './authenticator.ts'
import { fixed } from './user.ts'

/** @see kubernetes/apiserver pkg/authentication/user/user.go */
export const ANONYMOUS = 'system:anonymous'
export const ALL_AUTHENTICATED = 'system:authenticated'
export const ALL_UNAUTHENTICATED = 'system:unauthenticated'

const NAMELESS: Authenticated = { user: fixed({ name: ANONYMOUS, groups: [ALL_UNAUTHENTICATED], extra: {} }) }

/**
 * Authenticates requests without credentials, for all paths or exactly these, as they are decoded.
 * @see kubernetes/apiserver pkg/authentication/request/anonymous/anonymous.go
 */
export function anonymousAuthenticator(paths?: readonly string[]): Authenticator {
  const allowed = paths && new Set(paths)
  return { authenticate: (_, { info }) => (allowed === undefined || allowed.has(info.path) ? NAMELESS : undefined) }
}
