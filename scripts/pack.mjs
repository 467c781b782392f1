// @ts-check
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'

/**
 * Builds and packs a package as `npm publish` would.
 * @param {string} folder where the tarball goes
 * @param {string} [from] the folder of the package; default quiesce's
 * @returns {string} its absolute path
 */
export function pack(folder, from = '.') {
  mkdirSync(folder, { recursive: true })
  const out = execFileSync('npm', ['pack', '--json', '--silent', '--pack-destination', resolve(folder)], { encoding: 'utf8', cwd: from })
  const [packed] = JSON.parse(out.slice(out.indexOf('[')))
  return resolve(folder, packed.filename)
}
