// @ts-check
// `npm run mutation:code`: one mistake after the other in the code around the machines, and which
// test notices. The answers stand in scripts/mutation/code/caught.json after each mutant, and in
// docs/mutation-code.md with the reason for each that survives; a run goes on where the last ended.
//
//   npm run mutation:code                   those that the table does not name; it takes hours
//   npm run mutation:code -- N [MATCH]      at most N of those whose name matches: `^src/process.*dropped`
//   npm run mutation:code -- again [MATCH]  also those that the table names; SURVIVORS=1 only survivors
//   npm run mutation:code -- list [MATCH]   their names
//   npm run mutation:code -- document       the document anew, for a reason added to survivors.mjs
import { writeFileSync } from 'node:fs'
import { documentOf } from './mutation/code/document.mjs'
import { codeMutants } from './mutation/code/mutants.mjs'
import { Runner } from './mutation/code/runner.mjs'
import { reasonToSurvive } from './mutation/code/survivors.mjs'
import { readTable, writeTable } from './mutation/code/table.mjs'
import { drawn } from './mutation/random.mjs'

const DOCUMENT = new URL('../docs/mutation-code.md', import.meta.url)
/** The order of the mutants is the same in every run. */
const SEED = 1

const [how = '', match = ''] = process.argv.slice(2)
const all = codeMutants()
const known = readTable()
const table = new Map(all.flatMap(({ id }) => (known.has(id) ? [[id, known.get(id) ?? null]] : [])))
const asked = drawn(all, all.length, SEED).filter(({ id }) => new RegExp(match).test(id))
if (how === 'list') for (const { id } of asked) console.log(id)
else if (how === 'document') write()
else process.exitCode = (await run()) ? 0 : 1

async function run() {
  const isNew = ({ id = '' }) => !table.has(id)
  const isWanted = ({ id = '' }) => (process.env['SURVIVORS'] ? table.get(id) === null : true)
  const chosen = how === 'again' ? asked.filter(isWanted) : asked.filter(isNew).slice(0, how === '' ? undefined : Number(how))
  console.log(`${chosen.length} of ${all.length} mutants`)
  const runner = new Runner()
  const survivors = []
  for (const mutant of chosen) {
    const { id, file } = mutant
    const begun = performance.now()
    const failure = await runner.failureOf(file, mutant, table)
    table.set(id, failure ?? null)
    const reason = failure === undefined ? reasonToSurvive(id) : undefined
    if (failure === undefined && reason === undefined) survivors.push(id)
    const seconds = Math.round((performance.now() - begun) / 1000)
    console.log(`${failure ? 'caught  ' : reason ? 'excused ' : 'SURVIVES'} ${id} (${seconds} s)\n         ${failure ?? reason ?? ''}`)
    write()
  }
  runner.end()
  console.log(`${chosen.length} mutants, ${survivors.length} survive without a reason`)
  return survivors.length === 0
}

function write() {
  writeTable(table)
  writeFileSync(DOCUMENT, documentOf(all, table))
}
