import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { LINKS_MAX } from '../../report/open-file.ts'

/** The file behind all links, also one that there is not yet; undefined for a device or a pipe. */
export function placeOfFile(given: string): string | undefined {
  const path = resolve(given)
  try {
    return statSync(path).isFile() ? realpathSync(path) : undefined
  } catch {
    return placeToBe(path, LINKS_MAX)
  }
}

/** Where a file would be made. */
function placeToBe(path: string, links: number): string {
  try {
    const place = join(realpathSync(dirname(path)), basename(path))
    const isLink = lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true
    return isLink && links > 0 ? placeToBe(resolve(dirname(place), readlinkSync(place)), links - 1) : place
  } catch {
    return path
  }
}
