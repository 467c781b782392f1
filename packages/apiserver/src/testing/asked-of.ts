import type { AuthorizationAttributes } from '../authorization/authorizer.ts'

/** A question for an authorizer, of which only what it is about is said: else a GET of `/`. */
export const askedOf = (asked: Partial<AuthorizationAttributes> = {}): AuthorizationAttributes => ({
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
