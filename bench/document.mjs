// @ts-check
// docs/comparison.md and its pictures, from the results that `npm run bench` keeps in results/.
// `npm run generate` writes them.
import { svgOf } from './chart.mjs'
import { allSections, readResult } from './sections.mjs'
import { tableOf } from './verdict.mjs'

/** @typedef {{ readonly section: import('./sections.mjs').Section<any>, readonly result: any }} Part */

/** Sections that have been measured, with their results. @returns {Promise<readonly Part[]>} */
export async function measuredParts() {
  const parts = (await allSections()).map((section) => ({ section, result: readResult(section.name) }))
  return parts.filter(({ result }) => result !== undefined)
}

/** Where, when and with what it was measured. @param {import('./sections.mjs').About} about */
export function aboutText({ date, commit, machine, versions, command, seconds, load, pace, quick }) {
  const took = seconds === undefined ? '' : ` in ${seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} minutes`}`
  const loaded = load === undefined ? '' : `, load ${load.map((average) => average.toFixed(1)).join(' to ')}`
  const paced = pace === undefined ? '' : `, pace ${pace.map((times) => times.toFixed(1)).join(' to ')}`
  const by = command === undefined ? 'Measured' : `\`${command}\``
  const with_ = Object.entries(versions).map(([name, version]) => `${name.replace(/^Node \d+$/, 'Node')} ${version}`)
  return `${quick ? '**A short run, with too few measurements to rely on.** ' : ''}${by}${took}, ${date}, commit ${commit}; ${machine}${loaded}${paced}; ${with_.join(', ')}.`
}

/** @param {string} heading of the first column @param {readonly import('./verdict.mjs').Row[]} rows */
export const rowsTable = (heading, rows) =>
  tableOf(
    [heading, 'measured', 'target', 'verdict'],
    rows.map(({ what, measured, target, verdict }) => [what, measured, target, verdict]),
  )

/** GitHub's anchor of a title. @param {string} title */
const anchorOf = (title) =>
  title
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(/\s/g, '-')

/** How many targets of a section have a verdict, and which. @param {Part} part */
function summaryOf({ section, result }) {
  const rows = section.rows(result)
  const count = (/** @type {import('./verdict.mjs').Verdict} */ of) => String(rows.filter(({ verdict }) => verdict === of).length)
  return [`[${section.title}](#${anchorOf(section.title)})`, count('met'), count('open'), count('missed')]
}

/** @param {readonly Part[]} parts */
export function comparisonMarkdown(parts) {
  return `# Numbers, and how to repeat them

<!-- Generated from bench/results/*.json by npm run generate; do not edit. -->

What quiesce keeps and costs, beside node alone, beside the other libraries that end a server, and beside the Go library that it is modelled on. \`npm run bench\` in a checkout of the repository measures all of it again, in less than two hours on two cores; \`npm run bench -- life\` measures one section. Both write the result files from which this page is made.

- **In turns**: whatever is compared is measured in the same rounds, in another order each round. A second copy of the same program (A/A) shows what is noise.
- **Brackets** hold the 95 % confidence interval of the median, or of the median of the ratios within each round; so do the thin lines in pictures.
- **A target** is met when the whole interval is on its right side, missed when all of it is on the wrong side, and open otherwise. A loaded machine widens intervals, so that it leaves more open. *Pace* says how many times as long a machine took for the same work as the one that the targets were set on; above 1.5, a target that is a time or a share of Go's is left open and not called missed.

${tableOf(['targets', 'met', 'open', 'missed'], parts.map(summaryOf))}

${parts.map(({ section, result }) => `## ${section.title}\n\n${aboutText(result)}\n\n${section.markdown(result).trim()}\n`).join('\n')}`
}

/**
 * The page and the pictures, by their paths in the repository.
 * @param {readonly Part[]} [parts] default: all that have been measured
 * @returns {Promise<readonly (readonly [string, string])[]>}
 */
export async function comparisonFiles(parts) {
  const all = parts ?? (await measuredParts())
  /** @type {[string, string][]} */
  const files = [['docs/comparison.md', comparisonMarkdown(all)]]
  for (const { section, result } of all) {
    for (const [name, picture] of Object.entries(section.pictures?.(result) ?? {}))
      files.push([`docs/images/${name}.svg`, await svgOf(picture)])
    for (const [name, text] of Object.entries(section.pages?.(result) ?? {})) files.push([`docs/${name}.md`, text])
  }
  return files
}
