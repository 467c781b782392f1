// @ts-check
// `npm run coverage:rows`: for each acceptance row of test/upstream/rows.json, is it covered by a
// passing `row()` test of the last `npm test`, different on purpose (a `### V3 ...` entry of
// docs/divergences.md with a line `Rows: GT-21, ER-07`), or missing? A row that is both prints as
// different: its test asserts our behaviour, not upstream's.
//
// test/upstream/covered.json remembers which rows have had a passing test. Losing one is a failure, so
// coverage only grows; `-- --update` writes it anew, and its diff is reviewed like any other.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { givenArguments } from './usage.mjs'

const { values } = givenArguments({ options: { update: { type: 'boolean' } } })

/** @typedef {{ id: string, group: string, scope: 'engine' | 'later' }} AcceptanceRow */

const results = process.env['RESULTS_DIR'] ?? '.results'
const coveredFile = 'test/upstream/covered.json'
const divergencesFile = 'docs/divergences.md'
/** @type {string[]} */
const problems = []

/** @param {string} file */
const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'))

/** @type {AcceptanceRow[]} */
const table = readJson('test/upstream/rows.json')
const known = new Set(table.map(({ id }) => id))
const passing = passingRows()
const different = divergences()

for (const id of different.keys()) {
  if (!known.has(id)) problems.push(`${divergencesFile}: ${different.get(id)} names the row ${id}, which does not exist`)
}

if (values.update) {
  const ids = table.map(({ id }) => id).filter((id) => passing.has(id))
  writeFileSync(coveredFile, `${JSON.stringify(ids, null, 2)}\n`)
  console.log(`${coveredFile}: ${ids.length} rows`)
} else {
  /** @type {string[]} */
  const before = existsSync(coveredFile) ? readJson(coveredFile) : []
  for (const id of before) {
    if (!known.has(id)) problems.push(`${coveredFile} names the row ${id}, which does not exist`)
    else if (!passing.has(id)) problems.push(`${id} was covered and is not any more`)
  }
  const added = [...passing].filter((id) => !before.includes(id))
  if (added.length > 0) console.log(`Newly covered, keep with \`npm run coverage:rows -- --update\`: ${added.join(', ')}\n`)
}

print()
for (const problem of problems) console.error(`coverage:rows: ${problem}`)
process.exitCode = problems.length > 0 ? 1 : 0

/** The rows whose every test passed in the last whole run. @returns {Set<string>} */
function passingRows() {
  const runFile = join(results, 'run.json')
  if (!existsSync(runFile) || !readJson(runFile).complete) {
    console.error('coverage:rows: no results of a whole test run here; run `npm test` first')
    process.exit(1)
  }
  /** @type {Record<string, import('./results-reporter.mjs').RowTest[]>} */
  const rows = readJson(join(results, 'rows.json'))
  const failed = Object.entries(rows).filter(([, tests]) => tests.some(({ state }) => state === 'failed'))
  for (const [id, tests] of failed) problems.push(`${id} has a failing test: ${tests.find(({ state }) => state === 'failed')?.test}`)
  const good = Object.entries(rows).filter(([, tests]) => tests.every(({ state }) => state === 'passed'))
  return new Set(good.map(([id]) => id))
}

/** Row id -> the V-numbers that make it different. @returns {Map<string, string[]>} */
function divergences() {
  /** @type {Map<string, string[]>} */
  const byRow = new Map()
  if (!existsSync(divergencesFile)) {
    problems.push(`${divergencesFile} does not exist: rows that differ on purpose cannot be told from missing ones`)
    return byRow
  }
  let number = ''
  for (const line of readFileSync(divergencesFile, 'utf8').split('\n')) {
    const heading = /^#+ *(?:(V\d+)\b)?/.exec(line)
    if (heading) number = heading[1] ?? ''
    const rows = /^Rows: *(.*)$/.exec(line)
    if (!rows) continue
    if (number === '') problems.push(`${divergencesFile}: a "Rows:" line outside a "### V<number>" entry: ${line}`)
    for (const id of rows[1]?.match(/[A-Z]{2,3}-\d+[a-z]?/g) ?? []) byRow.set(id, [...(byRow.get(id) ?? []), number])
  }
  return byRow
}

function print() {
  const groups = [...new Set(table.map(({ group }) => group))]
  const lines = groups.map((group) => {
    const rows = table.filter((row) => row.group === group)
    const differing = rows.filter(({ id }) => different.has(id))
    const covered = rows.filter(({ id }) => passing.has(id) && !different.has(id))
    const missing = rows.filter(({ id }) => !passing.has(id) && !different.has(id))
    const due = missing.filter(({ scope }) => scope === 'engine')
    return { group, rows, covered, differing, missing, due, untested: differing.filter(({ id }) => !passing.has(id)) }
  })

  /** @param {unknown[]} cells */
  const tableLine = (...cells) =>
    console.log(cells.map((cell, i) => (i === 0 ? String(cell).padEnd(7) : String(cell).padStart(11))).join(''))
  tableLine('group', 'rows', 'covered', 'different', 'missing', 'later')
  for (const { group, rows, covered, differing, missing, due } of lines) {
    tableLine(group, rows.length, covered.length, differing.length, due.length, missing.length - due.length)
  }
  /** @param {(line: (typeof lines)[number]) => number} count */
  const sum = (count) => lines.reduce((total, line) => total + count(line), 0)
  tableLine(
    'all',
    sum((line) => line.rows.length),
    sum((line) => line.covered.length),
    sum((line) => line.differing.length),
    sum((line) => line.due.length),
    sum((line) => line.missing.length - line.due.length),
  )

  console.log('\nDifferent on purpose (* no test of ours yet):')
  for (const { group, differing, untested } of lines.filter((line) => line.differing.length > 0)) {
    console.log(
      `  ${group}: ${differing.map((row) => `${row.id}${untested.includes(row) ? '*' : ''} (${different.get(row.id)})`).join(', ')}`,
    )
  }
  console.log('\nMissing:')
  for (const { group, due } of lines.filter((line) => line.due.length > 0)) {
    console.log(`  ${group}: ${due.map(({ id }) => id).join(', ')}`)
  }
  const open = lines.filter((line) => line.missing.length > line.due.length)
  console.log(
    `\nLater, a whole group or the part of it that needs what is not built yet: ${open.map(({ group }) => group).join(', ') || 'none'}`,
  )
}
