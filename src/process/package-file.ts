import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

/**
 * The require of the command alone: a program that was bundled has no files beside it, nor an
 * import map.
 */
const here = (): NodeJS.Require => createRequire(import.meta.url)

/**
 * A file or folder of this package as it is installed, by its path from package.json. Found by the
 * package's own import map, because where this code stands is up to the bundler.
 */
export const packageFile = (path: string): URL => new URL(path, pathToFileURL(here().resolve('#package')))

interface PackageJson {
  readonly version: string
  readonly homepage?: string
  readonly bugs?: { readonly url?: string }
}

/** What package.json says. */
export const packageJson = (): PackageJson => here()('#package') as PackageJson
