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
import { areaOf, testsOf } from './mutation/code/tests.mjs'
import { tryTogether } from './mutation/code/together.mjs'
import { drawn } from './mutation/random.mjs'
import { givenArguments, refuseUsage, wholeNumber } from './usage.mjs'

const DOCUMENT = new URL('../docs/mutation-code.md', import.meta.url)
/** The order of the mutants is the same in every run. */
const SEED = 1

const { positionals } = givenArguments({ allowPositionals: true })
const [how = '', match = '', ...more] = positionals
if (more.length > 0) refuseUsage(`got ${JSON.stringify(more[0])}, allowed: at most two arguments`)
const most = ['', 'again', 'list', 'document'].includes(how) ? undefined : wholeNumber('how many, or again, list or document', how)
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
  const chosen = how === 'again' ? asked.filter(isWanted) : asked.filter(isNew).slice(0, most)
  console.log(`${chosen.length} of ${all.length} mutants`)
  for (const files of areasOf(chosen)) {
    let begun = performance.now()
    const left = await tryTogether(all, files, testsOf(files[0]?.file ?? '', table), (caught, test, open) => {
      for (const { mutant, failure } of caught) table.set(mutant.id, failure)
      console.log(`${caught.length} caught, ${open} open: ${test} (${Math.round((performance.now() - begun) / 1000)} s)`)
      begun = performance.now()
      write()
    })
    await runAlone(left)
  }
  const survivors = chosen.filter(({ id }) => table.get(id) === null && !reasonToSurvive(id))
  console.log(`${chosen.length} mutants, ${survivors.length} survive without a reason`)
  return survivors.length === 0
}

/**
 * Those that were tried everywhere survive; each of the others gets processes of its own.
 * @param {readonly import('./mutation/code/together.mjs').Left[]} left
 */
async function runAlone(left) {
  const runner = new Runner()
  for (const { mutant, reason, tests } of left.slice().sort((a, b) => a.reason.length - b.reason.length)) {
    const { id, file } = mutant
    const begun = performance.now()
    const failure = reason === '' ? undefined : await runner.failureOf(file, mutant, mutant.whole ? tests : testsOf(file, table))
    table.set(id, failure ?? null)
    const why = failure ?? reasonToSurvive(id) ?? (tests.length === 0 ? 'no test reaches it' : `reached by ${tests.length} files of tests`)
    const word = failure ? 'caught  ' : reasonToSurvive(id) ? 'excused ' : 'SURVIVES'
    console.log(`${word} ${id} (${reason}, ${Math.round((performance.now() - begun) / 1000)} s)\n         ${why}`)
    write()
  }
  runner.end()
}

/** Those that the same tests look for. @param {readonly import('./mutation/code/mutants.mjs').CodeMutant[]} mutants */
function areasOf(mutants) {
  const areas = [...new Set(mutants.map(({ file }) => areaOf(file)))]
  return areas.map((area) => mutants.filter(({ file }) => areaOf(file) === area))
}

function write() {
  writeTable(table)
  writeFileSync(DOCUMENT, documentOf(all, table))
}
