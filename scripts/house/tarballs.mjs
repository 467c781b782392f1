// @ts-check
// What `npm publish` would send, of what is built: `npm run build` comes first.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './sources.mjs'

/** The folders of packages that are published. */
export function publishedFolders(root = ROOT) {
  const folders = ['.', ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}`)]
  return folders.filter((folder) => {
    const file = join(root, folder, 'package.json')
    return existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).private !== true
  })
}

/** Size of each package in bytes, packed and unpacked, and its files. */
export function tarballs(root = ROOT) {
  return publishedFolders(root).map((folder) => {
    const out = execFileSync('npm', ['pack', '--dry-run', '--json', '--silent', '--ignore-scripts'], {
      cwd: join(root, folder),
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    })
    const [{ name, size, unpackedSize, entryCount }] = JSON.parse(out.slice(out.indexOf('[')))
    return { name, packed: size, unpacked: unpackedSize, files: entryCount }
  })
}
