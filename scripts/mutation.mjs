// @ts-check
// `npm run mutation`: one wrong place after the other in the wiring table and the machines, and which property of a life notices. The
// answers stand in scripts/mutation/caught.json and, with the reason for each mutant that nothing notices, in docs/mutation.md.
//
//   npm run mutation                  all of them; writes both files
//   npm run mutation -- TEXT          only those whose name contains TEXT; writes nothing
//   npm run mutation -- --document    writes docs/mutation.md anew, for a reason that was added to equivalent.mjs
//   npm run mutation -- --check [N]   that the files name every mutant there is, and that N of them (default 10), drawn by the printed
//                                     seed (SEED=… repeats it), are caught, or not, as they say
import { readFileSync, writeFileSync } from 'node:fs'
import { assertOriginalHolds } from './mutation/catch.mjs'
import { documentOf } from './mutation/document.mjs'
import { reasonFor } from './mutation/equivalent.mjs'
import { allMutants } from './mutation/mutants.mjs'
import { caughtByOf } from './mutation/pool.mjs'

const TABLE = new URL('mutation/caught.json', import.meta.url)
const DOCUMENT = new URL('../docs/mutation.md', import.meta.url)
const SAMPLE = 10

const names = allMutants().map(({ id }) => id)
const [first, second] = process.argv.slice(2)
const begun = performance.now()
const isGood = first === '--check' ? await check(Number(second ?? SAMPLE)) : first === '--document' ? writeDocument() : await run(first)
console.log(`${Math.round((performance.now() - begun) / 1000)} s`)
process.exitCode = isGood ? 0 : 1

/** @param {string | undefined} text */
async function run(text) {
  assertOriginalHolds()
  const asked = names.flatMap((name, i) => (text === undefined || name.includes(text) ? [i] : []))
  const answers = await answersTo(asked)
  const lost = [...answers].filter(([name, by]) => by === null && !reasonFor(name)).map(([name]) => name)
  const idle = [...answers].filter(([name, by]) => by !== null && reasonFor(name)).map(([name]) => name)
  for (const name of lost) console.log(`not caught, and nothing says why: ${name}`)
  for (const name of idle) console.log(`caught, though a reason says that nothing could tell: ${name}`)
  if (text === undefined) {
    writeFileSync(TABLE, `${JSON.stringify(Object.fromEntries(answers), null, 2)}\n`)
    writeFileSync(DOCUMENT, documentOf(answers))
  }
  console.log(`${answers.size} mutants, ${[...answers.values()].filter((by) => by !== null).length} caught, ${lost.length} unexplained`)
  return lost.length === 0 && idle.length === 0
}

/** @returns {Map<string, string | null>} */
function readTable() {
  return new Map(Object.entries(JSON.parse(readFileSync(TABLE, 'utf8'))))
}

function writeDocument() {
  writeFileSync(DOCUMENT, documentOf(readTable()))
  return true
}

/** In the order of the list, whatever the order of the answers. @param {readonly number[]} indices */
async function answersTo(indices) {
  /** @type {Map<string, string | null>} */
  const answers = new Map(indices.map((i) => [/** @type {string} */ (names[i]), null]))
  await caughtByOf(indices, (i, by) => {
    const name = /** @type {string} */ (names[i])
    answers.set(name, by ?? null)
    console.log(`${(by ?? (reasonFor(name) ? '(equivalent)' : 'NOTHING')).padEnd(32)} ${name}`)
  })
  return answers
}

/** @param {number} count */
async function check(count) {
  const table = readTable()
  const problems = [
    ...names.filter((name) => !table.has(name)).map((name) => `not in the table: ${name}`),
    ...[...table]
      .filter(([name, by]) => by !== null && reasonFor(name))
      .map(([name]) => `caught, though a reason says that nothing could tell: ${name}`),
    ...[...table.keys()].filter((name) => !names.includes(name)).map((name) => `in the table, but there is no such mutant: ${name}`),
  ]
  if (readFileSync(DOCUMENT, 'utf8') !== documentOf(table)) problems.push('docs/mutation.md is not what the table says')
  const seed = Number(process.env['SEED'] ?? Math.trunc(Math.random() * 2 ** 31))
  console.log(`${count} of ${names.length} mutants, seed ${seed}`)
  for (const [name, by] of await answersTo(drawn(count, seed))) {
    if (!table.has(name) || by === table.get(name)) continue
    const differs = `${name}: caught by ${by ?? 'nothing'}, the table says ${table.get(name) ?? 'nothing'}`
    // Which property is first to notice changes with the properties; whether one does, must not.
    if (by === null || table.get(name) === null) problems.push(differs)
    else console.log(differs)
  }
  for (const problem of problems) console.log(problem)
  if (problems.length > 0) console.log('npm run mutation writes the table anew')
  return problems.length === 0
}

/** Different ones. @param {number} count @param {number} seed */
function drawn(count, seed) {
  const left = names.map((_, i) => i)
  const next = random(seed)
  return Array.from({ length: Math.min(count, left.length) }, () => /** @type {number} */ (left.splice(next() % left.length, 1)[0]))
}

/** A random number of 32 bits after the other. @param {number} seed */
function random(seed) {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return (t ^ (t >>> 14)) >>> 0
  }
}
