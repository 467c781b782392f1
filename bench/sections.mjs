// @ts-check
// The sections of `npm run bench` and of docs/comparison.md, in their order, and the files that
// their results are kept in.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * @typedef {object} About what the frame writes into each result
 * @property {string} section
 * @property {string} date
 * @property {string} commit with "and changes" behind it when the sources were not those of the commit
 * @property {string} machine
 * @property {Record<string, string>} versions of Node, of what is compared, and of what the section adds
 * @property {string} [command]
 * @property {number} [seconds] that it took
 * @property {readonly [number, number]} [load] the load average of the machine before and after
 * @property {import('./pace.mjs').Pace} [pace] of the machine before and after
 * @property {boolean} [quick] a look, with too few measurements for most verdicts
 */

/**
 * @template Measured
 * @typedef {object} Section one module of this folder, NAME.section.mjs, that exports it as `section`
 * @property {string} name
 * @property {string} title of its part of the page, and the anchor of links to it
 * @property {number} minutes that a whole run takes on two idle cores
 * @property {readonly string[]} [packages] whose installed versions belong to the result
 * @property {(how: { readonly quick: boolean, readonly say: (line: string) => void }) => Promise<Measured & { versions?: Record<string, string> }>} run
 *   measures; what it gives is JSON, and is all that the functions below get
 * @property {(result: Measured & About) => readonly import('./verdict.mjs').Row[]} rows its lines of the one table
 * @property {(result: Measured & About) => string} markdown its part of the page, without its title
 * @property {(result: Measured & About) => Record<string, import('./chart.mjs').Picture>} [pictures] by the name of the file in docs/images
 * @property {(result: Measured & About) => Record<string, string>} [pages] pages of its own, by the name of the file in docs
 */

const NAMES = ['features', 'loss', 'life', 'serving', 'presence', 'checker', 'storage', 'upstream', 'chain']

/** @returns {Promise<readonly Section<any>[]>} */
export const allSections = () => Promise.all(NAMES.map(async (name) => (await import(`./${name}.section.mjs`)).section))

const resultFile = (/** @type {string} */ name) => fileURLToPath(new URL(`results/${name}.json`, import.meta.url))

/** What a section has measured last, if it ever has. @param {string} name @returns {any} */
export const readResult = (name) => (existsSync(resultFile(name)) ? JSON.parse(readFileSync(resultFile(name), 'utf8')) : undefined)

/** @param {About} result @param {string} [folder] another than bench/results */
export function writeResult(result, folder) {
  const file = folder === undefined ? resultFile(result.section) : `${folder}/${result.section}.json`
  mkdirSync(file.slice(0, file.lastIndexOf('/')), { recursive: true })
  writeFileSync(file, `${JSON.stringify(result, undefined, 2)}\n`)
  return file
}
