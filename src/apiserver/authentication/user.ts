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
