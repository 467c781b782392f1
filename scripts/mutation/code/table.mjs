// @ts-check
// The table of who catches what in the code around the machines: the test that failed, or null for
// a survivor.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

/** @typedef {Map<string, string | null>} Table */

const FILE = new URL('caught.json', import.meta.url)

/** @returns {Table} */
export const readTable = () => new Map(existsSync(FILE) ? Object.entries(JSON.parse(readFileSync(FILE, 'utf8'))) : [])

/** @param {Table} table */
export const writeTable = (table) => {
  const sorted = [...table].sort(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`)
}
