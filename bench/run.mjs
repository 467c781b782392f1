// @ts-check
// `npm run bench`: measures every section of sections.mjs, prints one table, and keeps the results in
// results/, from which `npm run generate` writes docs/comparison.md and its pictures. `-- life serving`
// measures these. `-- --quick` is a look at whether all of it works: it takes few measurements, and
// keeps them in build/bench unless `--keep` is given. A section that fails is named, the others go on,
// and the exit code is 1. A missed target is a result and no failure.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { cpus, loadavg, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { givenArguments, refuseUsage } from '../scripts/usage.mjs'
import { rowsTable } from './document.mjs'
import { paceNow } from './pace.mjs'
import { allSections, writeResult } from './sections.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const { values, positionals } = givenArguments({
  options: { quick: { type: 'boolean', default: false }, keep: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const sections = await allSections()
const names = sections.map(({ name }) => name)
const unknown = positionals.filter((name) => !names.includes(name))
if (unknown.length > 0) refuseUsage(`SECTION: got ${unknown.join(', ')}, allowed: ${names.join(', ')}`)
const chosen = sections.filter(({ name }) => positionals.length === 0 || positionals.includes(name))

const git = (/** @type {string[]} */ ...args) => execFileSync('git', args, { encoding: 'utf8' }).trim()
/** Results are what a run changes. */
const isChanged = git('status', '--porcelain', '--', 'src', 'packages', 'bench', ':!bench/results') !== ''
const commit = `${git('rev-parse', '--short', 'HEAD')}${isChanged ? ' and changes' : ''}`
const [cpu] = cpus()
const machine = `${cpus().length} cores of ${cpu?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB`

/** As it is installed. @param {string} name */
function versionOf(name) {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? []
  for (const folder of folders)
    try {
      return String(JSON.parse(readFileSync(`${folder}/${name}/package.json`, 'utf8')).version)
    } catch {
      // Not in this one.
    }
  throw new Error(`${name} is not installed`)
}

const rounded = (/** @type {number} */ value) => Number(value.toFixed(2))
const load = () => rounded(loadavg()[0] ?? 0)
const pace = () => rounded(paceNow())
const say = (/** @type {string} */ line) => process.stderr.write(`${line}\n`)
say(
  `${chosen.map(({ name, minutes }) => `${name} (${minutes} min)`).join(', ')}: ${chosen.reduce((sum, { minutes }) => sum + minutes, 0)} minutes`,
)

/** Rejects when a section waits for what cannot come any more, instead of ending the whole run. @returns {Promise<never>} */
const stuck = () =>
  new Promise((_, reject) => process.once('beforeExit', () => reject(new Error('it waits, and there is nothing left to wait for'))))

/** @type {import('./verdict.mjs').Row[]} */
const rows = []
/** @type {string[]} */
const failed = []
for (const section of chosen) {
  say(`\n${section.name}: ${section.title}`)
  const [loadBefore, paceBefore] = [load(), pace()]
  const begun = performance.now()
  try {
    const { versions, ...measured } = await Promise.race([section.run({ quick: values.quick, say: (line) => say(`  ${line}`) }), stuck()])
    const packages = Object.fromEntries((section.packages ?? []).map((name) => [name, versionOf(name)]))
    const result = {
      section: section.name,
      date: new Date().toISOString().slice(0, 10),
      commit,
      machine,
      versions: { Node: process.versions.node, ...packages, ...versions },
      command: `npm run bench -- ${section.name}${values.quick ? ' --quick' : ''}`,
      seconds: Math.round((performance.now() - begun) / 1000),
      load: /** @type {const} */ ([loadBefore, load()]),
      pace: /** @type {const} */ ([paceBefore, pace()]),
      ...(values.quick && { quick: true }),
      ...measured,
    }
    say(`  written to ${writeResult(result, values.quick && !values.keep ? 'build/bench' : undefined)}`)
    rows.push(...section.rows(result).map((row) => ({ ...row, what: `${section.name}: ${row.what}` })))
  } catch (error) {
    failed.push(section.name)
    say(`  failed: ${error instanceof Error ? error.stack : String(error)}`)
  }
}
process.stdout.write(`\n${rowsTable('', rows)}\n`)
if (failed.length > 0) say(`\nfailed: ${failed.join(', ')}`)
process.exitCode = failed.length > 0 ? 1 : 0
