/**
 * Who sent a request, as its authentication found; or, after impersonation, who it acts as.
 * @see kubernetes/apiserver pkg/authentication/user/user.go Info
 */
export interface UserInfo {
  readonly name: string
  /** Tells apart users who have had the same name at different times. */
  readonly uid?: string
  readonly groups: readonly string[]
  /** Further facts, by key; each may have several values. */
  readonly extra: Readonly<Record<string, readonly string[]>>
}

/** Whether it can never change, so that what is made of it may be kept. */
export const isFixed = (user: UserInfo): boolean =>
  Object.isFrozen(user) && Object.isFrozen(user.groups) && Object.isFrozen(user.extra) && Object.values(user.extra).every(Object.isFrozen)

/** The same user, who can never change. */
export function fixed({ groups, extra, ...user }: UserInfo): UserInfo {
  const lists = Object.entries(extra).map(([key, values]) => [key, Object.freeze([...values])] as const)
  return Object.freeze({ ...user, groups: Object.freeze([...groups]), extra: Object.freeze(Object.fromEntries(lists)) })
}
