// @ts-check
// The table of who catches what: `PROPERTY @ LIFE` by the names of the mutants, or null.
import { readFileSync, writeFileSync } from 'node:fs'

/**
 * @typedef {import('./catch.mjs').Catch} Catch
 * @typedef {Map<string, Catch | null>} Table
 */

const FILE = new URL('caught.json', import.meta.url)
const BETWEEN = ' @ '

/** @returns {Table} */
export function readTable() {
  const entries = Object.entries(/** @type {Record<string, string | null>} */ (JSON.parse(readFileSync(FILE, 'utf8'))))
  return new Map(entries.map(([name, text]) => [name, text === null ? null : catchOf(text)]))
}

/** @param {Table} table */
export function writeTable(table) {
  const entries = [...table].map(([name, found]) => [name, found && `${found.by}${BETWEEN}${found.life}`])
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`)
}

/** @param {string} text @returns {Catch} */
function catchOf(text) {
  const [by = '', life = ''] = text.split(BETWEEN)
  return { by, life }
}
