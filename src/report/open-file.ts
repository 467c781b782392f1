import { constants, lstatSync, openSync, readlinkSync, realpathSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { look } from '../base/look.ts'

const ROOT = 0
/** The number of links, one behind the other, that Linux follows. */
export const LINKS_MAX = 40
/** Windows has no such flag, and no links of users. */
const NO_FOLLOW = (constants as Partial<typeof constants>).O_NOFOLLOW ?? 0

/**
 * Opens a file of the product to write to it, by its path, which other users may have a hand in.
 * Our own links and root's are followed, which are there on purpose. In a folder that others may
 * write, one of theirs would have us write to a file of ours that they have chosen. Each link is
 * read here, and the system follows none: one that takes the place of a file between a look and the
 * opening is found by the opening itself.
 * @param flags of `open`, as numbers
 * @throws Error for a link of another user
 */
export function openFile(path: string, flags: number, mode?: number): number {
  let at = path
  for (let links = 0; links < LINKS_MAX; links++) {
    try {
      return openSync(at, flags | NO_FOLLOW, mode)
    } catch (thrown) {
      if (!isLink(thrown)) throw thrown
    }
    // What the kernel itself shows there has no name that could be opened, and no other owner.
    if (isOfKernel(at)) return openSync(at, flags, mode)
    at = targetOf(at)
  }
  throw new Error('it leads through too many links')
}

/**
 * The same look, ahead of time: for what is not opened in place, or not yet.
 * @throws Error for a link of another user
 */
export function refuseForeignLink(path: string): void {
  const there = look(() => lstatSync(path, { throwIfNoEntry: false }))
  if (there?.isSymbolicLink()) refuseForeign(there.uid)
}

function refuseForeign(owner: number): void {
  // Windows has no users of numbers, and there every link is 0.
  const us = look(() => process.getuid?.()) ?? ROOT
  if (owner !== us && owner !== ROOT) throw new Error(`it is a link of another user (${owner}), which is not followed`)
}

/** FreeBSD says EMLINK. */
const isLink = (thrown: unknown): boolean => ['ELOOP', 'EMLINK'].includes(String((thrown as NodeJS.ErrnoException).code))

/** Such as /dev/stdout, by way of /proc/self/fd. */
const isOfKernel = (link: string): boolean => look(() => realpathSync(dirname(link)).startsWith('/proc/')) ?? false

/** Where a link leads that was the same one before it was read and after. */
function targetOf(link: string): string {
  const before = lstatSync(link, { bigint: true })
  refuseForeign(Number(before.uid))
  const target = readlinkSync(link)
  const after = lstatSync(link, { bigint: true })
  if (after.ino !== before.ino || after.uid !== before.uid || after.ctimeNs !== before.ctimeNs)
    throw new Error('it is a link that is being replaced, which is not followed')
  return resolve(dirname(link), target)
}
