// @ts-check
// `npm run mutation`: one wrong place after the other in the wiring table and the machines, and which property of a life notices. The
// answers stand in scripts/mutation/caught.json and, with the reason for each mutant that nothing notices, in docs/mutation.md.
//
//   npm run mutation                  all of them; writes both files
//   npm run mutation -- TEXT          only those whose name contains TEXT; writes nothing
//   npm run mutation -- --check [N]   that the files name every mutant there is, and that N of them (default 40), drawn by the printed
//                                     seed (SEED=… repeats it), are caught as they say
import { readFileSync, writeFileSync } from 'node:fs'
import { composeLifecycle } from '../dist/machines/lifecycle.js'
import { explore } from '../dist/testing/model/explore.js'
import { environmentOf, invariantsOf } from '../dist/testing/model/lifecycle-model.js'
import { EQUIVALENT } from './mutation/equivalent.mjs'
import { allMutants } from './mutation/mutants.mjs'
import { SCENARIOS } from './mutation/scenarios.mjs'

const TABLE = new URL('mutation/caught.json', import.meta.url)
const DOCUMENT = new URL('../docs/mutation.md', import.meta.url)
/** More than any of the lives has: a mutant above it has lost its bounds. */
const STATES_MAX = 30_000

/** What notices a mutant: the id of a property, or that no life can be made of it. @param {import('./mutation/mutants.mjs').Mutant} mutant */
function caughtBy({ id, mode, compose }) {
  for (const { about, plan, outside, narrowed } of SCENARIOS) {
    if (about && !about.test(id)) continue
    const life = mode && plan.mode !== mode ? { ...plan, mode } : plan
    /** @type {import('../dist/testing/model/explore.js').Exploration} */
    let exploration
    try {
      exploration = explore(compose(life), { ...environmentOf(life, { outside }), ...narrowed, statesMax: STATES_MAX })
    } catch (error) {
      return `refused: ${/** @type {{ code?: string }} */ (error).code ?? /** @type {Error} */ (error).message}`
    }
    const property = specificFirst(invariantsOf(life)).find(({ violation }) => violation(exploration))
    if (property) return property.id
  }
  return undefined
}

/** A mutant is caught by the property that says most about it: almost every one also spoils the end. @param {import('../dist/testing/model/property.js').Property[]} properties */
const specificFirst = (properties) => {
  const isGeneral = ({ id = '' }) => /^(end|no-)/.test(id)
  return [...properties.filter((property) => !isGeneral(property)), ...properties.filter(isGeneral)]
}

/** @param {string} id */
const reasonFor = (id) => EQUIVALENT.find(({ mutants }) => mutants.test(id))?.why

/** @param {ReadonlyMap<string, string | undefined>} caught */
function documentOf(caught) {
  const operators = new Map()
  for (const [id, by] of caught) {
    const operator = id.slice(0, id.indexOf(':'))
    const counts = operators.get(operator) ?? { caught: 0, left: 0, by: new Map() }
    if (by) counts.by.set(by, (counts.by.get(by) ?? 0) + 1)
    operators.set(operator, { ...counts, caught: counts.caught + (by ? 1 : 0), left: counts.left + (by ? 0 : 1) })
  }
  const rows = [...operators].map(([operator, counts]) => {
    const most = [...counts.by].sort(([, a], [, b]) => b - a).slice(0, 3)
    return `| ${operator} | ${counts.caught} | ${counts.left} | ${most.map(([id, n]) => `\`${id}\` ${n}`).join(', ')} |`
  })
  const left = [...caught].filter(([, by]) => by === undefined).map(([id]) => id)
  const reasons = EQUIVALENT.map(({ mutants, why }) => ({ why, ids: left.filter((id) => mutants.test(id)) })).filter(
    ({ ids }) => ids.length > 0,
  )
  return `# Mutants

Written by \`npm run mutation\`; do not edit. Each mutant is a life with one wrong place in the wiring table or in one machine. Those that a property of
[docs/model-checking.md](model-checking.md) notices are caught; \`scripts/mutation/caught.json\` says by which one. The others are below, each with the
reason why nothing that holds for a life could tell it apart.

| operator | caught | equivalent | mostly by |
|---|---|---|---|
${rows.join('\n')}

${caught.size} mutants, ${caught.size - left.length} caught.

## Equivalent
${reasons.map(({ why, ids }) => `\n${why}\n\n${ids.map((id) => `- \`${id}\``).join('\n')}\n`).join('')}`
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

/** @param {import('./mutation/mutants.mjs').Mutant[]} mutants */
function run(mutants) {
  const caught = new Map()
  const lost = []
  for (const mutant of mutants) {
    const by = caughtBy(mutant)
    caught.set(mutant.id, by)
    if (by === undefined && reasonFor(mutant.id) === undefined) lost.push(mutant.id)
    console.log(`${(by ?? (reasonFor(mutant.id) ? '(equivalent)' : 'NOTHING')).padEnd(32)} ${mutant.id}`)
  }
  for (const id of lost) console.log(`not caught, and nothing says why: ${id}`)
  return { caught, isGood: lost.length === 0 }
}

/** @param {import('./mutation/mutants.mjs').Mutant[]} mutants @param {number} count */
function checked(mutants, count) {
  /** @type {Record<string, string | null>} */
  const table = JSON.parse(readFileSync(TABLE, 'utf8'))
  const problems = [
    ...mutants.filter(({ id }) => !(id in table)).map(({ id }) => `not in the table: ${id}`),
    ...Object.keys(table)
      .filter((id) => !mutants.some((mutant) => mutant.id === id))
      .map((id) => `in the table, but there is no such mutant: ${id}`),
    ...Object.entries(table)
      .filter(([id, by]) => by === null && !reasonFor(id))
      .map(([id]) => `not caught, and nothing says why: ${id}`),
  ]
  const document = documentOf(new Map(Object.entries(table).map(([id, by]) => [id, by ?? undefined])))
  if (readFileSync(DOCUMENT, 'utf8') !== document) problems.push('docs/mutation.md is stale')
  const seed = Number(process.env['SEED'] ?? Math.trunc(Math.random() * 2 ** 31))
  console.log(`${count} of ${mutants.length} mutants, seed ${seed}`)
  const next = random(seed)
  const caught = mutants.filter(({ id }) => table[id])
  for (let i = 0; i < count && caught.length > 0; i++) {
    const [mutant] = caught.splice(next() % caught.length, 1)
    const by = mutant && caughtBy(mutant)
    if (mutant && by !== table[mutant.id]) problems.push(`${mutant.id}: caught by ${by ?? 'nothing'}, the table says ${table[mutant.id]}`)
  }
  for (const problem of problems) console.log(problem)
  if (problems.length > 0) console.log('npm run mutation writes the table anew')
  return problems.length === 0
}

/** A scenario in which the original does not hold would catch everything. */
function assertOriginalHolds() {
  const by = caughtBy({
    id: 'second-signal crash root running.stop: destroy bind close-listener post-start mux',
    operator: '',
    compose: composeLifecycle,
  })
  if (by) throw new Error(`the original is caught by ${by}: a scenario is wrong, or the machines are`)
}

const [first, second] = process.argv.slice(2)
const mutants = allMutants()
if (first === '--check') process.exitCode = checked(mutants, Number(second ?? 40)) ? 0 : 1
else {
  if (first === undefined) assertOriginalHolds()
  const { caught, isGood } = run(mutants.filter(({ id }) => first === undefined || id.includes(first)))
  if (first === undefined) {
    writeFileSync(TABLE, `${JSON.stringify(Object.fromEntries([...caught].map(([id, by]) => [id, by ?? null])), null, 2)}\n`)
    writeFileSync(DOCUMENT, documentOf(caught))
  }
  console.log(`${caught.size} mutants, ${[...caught.values()].filter(Boolean).length} caught`)
  process.exitCode = isGood ? 0 : 1
}
