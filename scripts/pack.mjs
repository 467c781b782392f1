// @ts-check
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'

/**
 * Builds and packs the package as `npm publish` would.
 * @param {string} folder where the tarball goes
 * @returns {string} its absolute path
 */
export function pack(folder) {
  mkdirSync(folder, { recursive: true })
  const out = execFileSync('npm', ['pack', '--json', '--silent', '--pack-destination', folder], { encoding: 'utf8' })
  const [packed] = JSON.parse(out.slice(out.indexOf('[')))
  return resolve(folder, packed.filename)
}
