import { StoreError } from './store-error.ts'

/** Ends the key of a mark of progress in an etcd, which no list and no watch shows. */
export const PROGRESS_MARK = '\x7fprogress'

/**
 * Why no store keeps a key: one engine would not give it back as it was, or not show it. A NUL ends
 * a text of SQLite that Node 22.13 reads; half of a surrogate pair has no bytes in UTF-8, so that
 * all of them would be one key; and what does not begin with a slash is not below the prefix of
 * an etcd.
 */
function keyProblem(key: string): string | undefined {
  if (!key.startsWith('/')) return 'it does not begin with a slash'
  if (key.includes('\0')) return 'it has a NUL'
  if (/\p{Surrogate}/u.test(key)) return 'it has half of a surrogate pair'
  if (key.endsWith(PROGRESS_MARK)) return `it ends with ${JSON.stringify(PROGRESS_MARK)}`
  return undefined
}

/** Whether a store may have a key. */
export const isKey = (key: string): boolean => keyProblem(key) === undefined

/** @throws StoreError invalid-key */
export function checkKey(key: string): void {
  const problem = keyProblem(key)
  if (problem !== undefined) throw new StoreError('invalid-key', `no store can keep the key ${JSON.stringify(key)}: ${problem}`, { key })
}
