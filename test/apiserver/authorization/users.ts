import type { UserInfo } from '#apiserver/authentication/user.ts'
import type { AuthorizationContext, UserFilter } from '#apiserver/index.ts'

export const userOf = (name: string, ...groups: readonly string[]): UserInfo => ({ name, groups, extra: {} })

/** Who a request comes from, as its headers say: authentication is tested elsewhere. */
export const NAMED: UserFilter = {
  name: 'named',
  before: 'audit',
  admit: (exchange) => {
    const { 'x-user': name, 'x-group': groups = '' } = exchange.request.headers
    if (typeof name === 'string') exchange.user = userOf(name, ...String(groups).split(','))
    return true
  },
}

/** Of a request that is waited for. */
export const CONTEXT: AuthorizationContext = { signal: new AbortController().signal }
