import { realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/** The file behind all links, also one that there is not yet; undefined for a device or a pipe. */
export function placeOfFile(given: string): string | undefined {
  const path = resolve(given)
  try {
    return statSync(path).isFile() ? realpathSync(path) : undefined
  } catch {
    try {
      return join(realpathSync(dirname(path)), basename(path))
    } catch {
      return path
    }
  }
}
