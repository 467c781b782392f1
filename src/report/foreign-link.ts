import { lstatSync } from 'node:fs'
import { look } from '../base/look.ts'

const ROOT = 0

/**
 * Whose links are followed: our own and root's, which are there on purpose. In a folder that others
 * may write, one of theirs would have us write to a file of ours that they have chosen.
 * @throws Error for a link of another user
 */
export function refuseForeignLink(path: string): void {
  const there = look(() => lstatSync(path, { throwIfNoEntry: false }))
  if (!there?.isSymbolicLink()) return
  // Windows has no users of numbers, and there every link is 0.
  const us = look(() => process.getuid?.()) ?? ROOT
  if (there.uid !== us && there.uid !== ROOT) throw new Error(`it is a link of another user (${there.uid}), which is not followed`)
}
