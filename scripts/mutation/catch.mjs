// @ts-check
// What notices one mutant.

import { explore, untaken } from '#model'
import { composeLifecycle } from '../../build/src/machines/lifecycle.js'
import { WIRING } from '../../build/src/machines/wiring.js'
import { environmentOf, invariantsOf } from '../../build/src/model/life/lifecycle-model.js'
import { withRows } from './edited-table.mjs'
import { BESIDE } from './mutants.mjs'
import { SCENARIOS } from './scenarios.mjs'
import { NotHere } from './sites.mjs'

/**
 * `by` is the id of a property that does not hold, or `refused: CODE` when no life can be made of
 * the mutant; `life` is the name of the scenario that shows it.
 * @typedef {{ by: string, life: string }} Catch
 * @typedef {import('./mutants.mjs').Mutant} Mutant
 * @typedef {import('./scenarios.mjs').Scenario} Scenario
 * @typedef {import('#model').Exploration} Exploration
 * @typedef {import('#model').Property} Property
 */

/** More than any of the lives has: a mutant above it has lost its bounds. */
const STATES_MAX = 30_000

/**
 * The first property that does not hold in the first life that shows the mutant.
 * @param {Mutant} mutant
 * @param {Catch | null} [before] what noticed it the last time, which is tried first
 * @returns {Catch | undefined}
 */
export const caughtBy = (mutant, before = null) =>
  mutant.checks
    ? caughtBeside(mutant.compose, mutant.checks)
    : withRows(WIRING, mutant.rows ?? {}, () => caughtAgain(mutant, before) ?? caughtAnew(mutant))

/**
 * By the same property in the same life, or in another when that one has gone.
 * @param {Mutant} mutant
 * @param {Catch | null} before
 * @returns {Catch | undefined}
 */
function caughtAgain(mutant, before) {
  if (!before) return undefined
  const same = SCENARIOS.filter(({ name }) => name === before.life)
  for (const scenario of same.length > 0 ? same : scenariosFor(mutant)) {
    const result = caughtIn(mutant, scenario, (properties) => properties.filter(({ id }) => id === before.by))
    if (result?.found) return result.found
  }
  return undefined
}

/** Where a machine is that has no part in a life. */
const BESIDE_A_LIFE = 'beside a life'

/**
 * By a property that does not hold or holds of nothing, or by a way that is not taken.
 * @param {(plan: never) => import('xstate').AnyStateMachine} compose
 * @param {import('./beside-checks.mjs').Checks} checks
 * @returns {Catch | undefined}
 */
function caughtBeside(compose, { options, properties }) {
  const found = (/** @type {string} */ by) => ({ by, life: BESIDE_A_LIFE })
  /** @type {Exploration} */
  let exploration
  try {
    exploration = explore(compose(/** @type {never} */ (undefined)), { ...options, statesMax: STATES_MAX })
  } catch (error) {
    const { code, message } = /** @type {Error & { code?: string }} */ (error)
    return found(`refused: ${code ?? message}`)
  }
  const property = specificFirst([...properties]).find(
    (each) => isViolated(() => each.violation(exploration)) || each.vacuous?.(exploration) !== undefined,
  )
  return property ? found(property.id) : untaken(exploration).length > 0 ? found('untaken') : undefined
}

/** @param {Mutant} mutant */
const scenariosFor = ({ id }) => SCENARIOS.filter(({ about }) => !about || about.test(id))

/** @param {Mutant} mutant @returns {Catch | undefined} */
function caughtAnew(mutant) {
  let isSeen = false
  for (const scenario of scenariosFor(mutant)) {
    const result = caughtIn(mutant, scenario, specificFirst)
    if (result?.found) return result.found
    isSeen ||= result !== undefined
  }
  if (!isSeen) throw new Error(`no scenario has the place of ${mutant.id}`)
  return undefined
}

/**
 * Undefined when the life of this scenario has no such place.
 * @param {Mutant} mutant
 * @param {Scenario} scenario
 * @param {(properties: Property[]) => Property[]} choose
 * @returns {{ found: Catch | undefined } | undefined}
 */
function caughtIn({ mode, compose }, { name, plan, outside, extra = [], narrowed }, choose) {
  const life = mode && plan.mode !== mode ? { ...plan, mode } : plan
  /** @type {Exploration} */
  let exploration
  try {
    const environment = environmentOf(life, { outside })
    exploration = explore(compose(life), { ...environment, events: [...environment.events, ...extra], ...narrowed, statesMax: STATES_MAX })
  } catch (error) {
    if (error instanceof NotHere) return undefined
    // By our composition or by xstate, which has no codes.
    const { code, message } = /** @type {Error & { code?: string }} */ (error)
    return { found: { by: `refused: ${code ?? message}`, life: name } }
  }
  const property = choose(invariantsOf(life)).find(({ violation }) => isViolated(() => violation(exploration)))
  return { found: property && { by: property.id, life: name } }
}

/** A property that names a state which only the original has says so. @param {() => unknown} violation */
function isViolated(violation) {
  try {
    return violation() !== undefined
  } catch (error) {
    if (/** @type {{ code?: string }} */ (error).code === 'ERR_MODEL_UNKNOWN') return true
    throw error
  }
}

/** A mutant is caught by the property that says most about it: almost every one also spoils the end. @param {Property[]} properties */
const specificFirst = (properties) => {
  const isGeneral = ({ id = '' }) => /^(end|no-)/.test(id)
  return [...properties.filter((property) => !isGeneral(property)), ...properties.filter(isGeneral)]
}

/** @type {Mutant} */
const ORIGINAL = { id: 'the original', operator: '', compose: composeLifecycle }

/** A scenario in which the original does not hold would catch everything. */
export function assertOriginalHolds() {
  for (const scenario of SCENARIOS) {
    const found = caughtIn(ORIGINAL, scenario, specificFirst)?.found
    if (found) throw new Error(`"${found.life}": the original is caught by ${found.by}, so the scenario is wrong, or the machines are`)
  }
  for (const { machine, checks } of BESIDE) {
    const found = caughtBeside(() => machine, checks)
    if (found) throw new Error(`${machine.id}: the original is caught by ${found.by}, so its checks are wrong, or it is`)
  }
}
