/**
 * Who sent a request, as its authentication found.
 * @see kubernetes/apiserver pkg/authentication/user/user.go Info
 */
export interface User {
  readonly name: string
  /** Empty when there is none. */
  readonly uid: string
  readonly groups: readonly string[]
  /** Further facts, by key; each may have several values. */
  readonly extra: Readonly<Record<string, readonly string[]>>
}
