import { createRequire } from 'node:module'

/** What package.json of this package says; found by the package's own import map. */
export const ownPackage = (): { readonly version: string } => createRequire(import.meta.url)('#package') as { readonly version: string }
