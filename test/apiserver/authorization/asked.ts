import type { AuthorizationAttributes, AuthorizationContext } from '#src/apiserver/index.ts'

/** A question, of which only what a test is about is said. */
export const askedOf = (asked: Partial<AuthorizationAttributes>): AuthorizationAttributes => ({
  user: undefined,
  verb: 'get',
  isResourceRequest: false,
  path: '/',
  apiGroup: '',
  apiVersion: '',
  namespace: '',
  resource: '',
  subresource: '',
  name: '',
  ...asked,
})

/** Of a request that is waited for. */
export const CONTEXT: AuthorizationContext = { signal: new AbortController().signal }
