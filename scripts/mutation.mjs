// @ts-check
// `npm run mutation`: one wrong place after the other in the wiring table and the machines, and
// which property of a life notices. The answers stand in scripts/mutation/caught.json and, with the
// reason for each mutant that nothing notices, in docs/mutation.md.
//
//   npm run mutation                  all of them; writes both files
//   npm run mutation -- --new         only those that the table does not name, or names without a life; writes both files
//   npm run mutation -- TEXT          only those whose name contains TEXT; writes nothing
//   npm run mutation -- --document    writes docs/mutation.md anew, for a reason that was added to equivalent.mjs
//   npm run mutation -- --check [N]   that the files name every mutant there is, and that N of them (default 40), drawn by the printed
//                                     seed (SEED=… repeats it), are caught, or not, as they say
import { readFileSync, writeFileSync } from 'node:fs'
import { assertOriginalHolds } from './mutation/catch.mjs'
import { documentOf } from './mutation/document.mjs'
import { reasonFor } from './mutation/equivalent.mjs'
import { allMutants } from './mutation/mutants.mjs'
import { caughtByOf } from './mutation/pool.mjs'
import { drawn } from './mutation/random.mjs'
import { readTable, writeTable } from './mutation/table.mjs'
import { givenArguments, refuseUsage, wholeNumber } from './usage.mjs'

const DOCUMENT = new URL('../docs/mutation.md', import.meta.url)

/** @typedef {import('./mutation/table.mjs').Table} Table */

const names = allMutants().map(({ id }) => id)
const table = readTable()
const { values, positionals } = givenArguments({
  allowPositionals: true,
  options: { new: { type: 'boolean' }, document: { type: 'boolean' }, check: { type: 'boolean' } },
})
const [first] = positionals
const chosen = Object.keys(values)
if (chosen.length > 1 || positionals.length > 1 || (first !== undefined && chosen.length > 0 && !values.check))
  refuseUsage(
    `got ${[...chosen.map((name) => `--${name}`), ...positionals].join(' ')}, allowed: one of TEXT, --new, --document, --check [N]`,
  )
const sample = values.check ? wholeNumber('--check', first ?? '40', 1) : 0
const asked = values.check || first === undefined ? names : names.filter((name) => name.includes(first))
if (asked.length === 0) refuseUsage(`got ${JSON.stringify(first)}, allowed: a part of the name of a mutant`)
const begun = performance.now()
const isGood = await done()
console.log(`${Math.round((performance.now() - begun) / 1000)} s`)
process.exitCode = isGood ? 0 : 1

function done() {
  if (values.check) return check(sample)
  if (values.document) return write()
  if (values.new)
    return run(
      names.filter((name) => table.get(name)?.life === '' || !table.has(name)),
      true,
    )
  return run(asked, first === undefined)
}

/** @param {readonly string[]} asked @param {boolean} isKept each answer at once, so that a run that is broken off is not lost */
async function run(asked, isKept) {
  assertOriginalHolds()
  const answers = await answersTo(asked, (name, found) => {
    if (!isKept) return
    table.set(name, found)
    writeTable(inOrder(table))
  })
  const lost = [...answers].filter(([name, found]) => found === null && !reasonFor(name)).map(([name]) => name)
  const idle = idleReasons(answers)
  for (const name of lost) console.log(`not caught, and nothing says why: ${name}`)
  for (const name of idle) console.log(`caught, though a reason says that nothing could tell: ${name}`)
  if (isKept) write()
  console.log(
    `${answers.size} mutants, ${[...answers.values()].filter((found) => found !== null).length} caught, ${lost.length} unexplained`,
  )
  return lost.length === 0 && idle.length === 0
}

/** Without those that are no more. @param {Table} answers @returns {Table} */
function inOrder(answers) {
  return new Map(names.flatMap((name) => (answers.has(name) ? [[name, answers.get(name) ?? null]] : [])))
}

/** @param {Table} answers */
function idleReasons(answers) {
  return [...answers].filter(([name, found]) => found !== null && reasonFor(name)).map(([name]) => name)
}

function write() {
  writeTable(inOrder(table))
  writeFileSync(DOCUMENT, documentOf(inOrder(table)))
  return true
}

/**
 * In the order in which they are asked for, whatever the order of the answers. Those that were caught the last time are looked for first:
 * that takes less time than to find nothing.
 * @param {readonly string[]} asked
 * @param {(name: string, found: import('./mutation/catch.mjs').Catch | null) => void} onAnswer
 */
async function answersTo(asked, onAnswer) {
  /** @type {Table} */
  const answers = new Map(asked.map((name) => [name, null]))
  const tasks = asked.map((name) => ({ i: names.indexOf(name), before: table.get(name) ?? null }))
  const sorted = [...tasks.filter(({ before }) => before), ...tasks.filter(({ before }) => !before)]
  await caughtByOf(sorted, (i, found) => {
    const name = /** @type {string} */ (names[i])
    answers.set(name, found)
    onAnswer(name, found)
    console.log(`${(found?.by ?? (reasonFor(name) ? '(equivalent)' : 'NOTHING')).padEnd(32)} ${name}${found ? ` @ ${found.life}` : ''}`)
  })
  return answers
}

/** @param {number} count */
async function check(count) {
  const problems = [
    ...names.filter((name) => !table.has(name)).map((name) => `not in the table: ${name}`),
    ...idleReasons(table).map((name) => `caught, though a reason says that nothing could tell: ${name}`),
    ...[...table.keys()].filter((name) => !names.includes(name)).map((name) => `in the table, but there is no such mutant: ${name}`),
  ]
  if (readFileSync(DOCUMENT, 'utf8') !== documentOf(table)) problems.push('docs/mutation.md is not what the table says')
  const seed = Number(process.env['SEED'] ?? Math.trunc(Math.random() * 2 ** 31))
  console.log(`${count} of ${names.length} mutants, seed ${seed}`)
  for (const [name, found] of await answersTo(drawn(names, count, seed), () => {})) {
    const said = table.get(name)
    if (said === undefined || found?.by === said?.by) continue
    const differs = `${name}: caught by ${found?.by ?? 'nothing'}, the table says ${said?.by ?? 'nothing'}`
    // Which property is first to notice changes with the properties; whether one does, must not.
    if (found === null || said === null) problems.push(differs)
    else console.log(differs)
  }
  for (const problem of problems) console.log(problem)
  if (problems.length > 0) console.log('npm run mutation writes the table anew')
  return problems.length === 0
}
