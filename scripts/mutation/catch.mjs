// @ts-check
// What notices one mutant.

import { explore } from '#model'
import { composeLifecycle } from '../../build/src/machines/lifecycle.js'
import { WIRING } from '../../build/src/machines/wiring.js'
import { environmentOf, invariantsOf } from '../../build/src/model/life/lifecycle-model.js'
import { withRows } from './edited-table.mjs'
import { SCENARIOS } from './scenarios.mjs'
import { NotHere } from './sites.mjs'

/** @typedef {import('./mutants.mjs').Mutant} Mutant */

/** More than any of the lives has: a mutant above it has lost its bounds. */
const STATES_MAX = 30_000

/**
 * The id of the first property that does not hold, or `refused: CODE` when no life can be made of the mutant.
 * @param {Mutant} mutant
 * @param {(scenario: import('./scenarios.mjs').Scenario) => boolean} [isTried]
 * @returns {string | undefined}
 */
export const caughtBy = (mutant, isTried = ({ about }) => !about || about.test(mutant.id)) =>
  withRows(WIRING, mutant.rows ?? {}, () => caughtAsItStands(mutant, isTried))

/** @type {(mutant: Mutant, isTried: (scenario: import('./scenarios.mjs').Scenario) => boolean) => string | undefined} */
function caughtAsItStands({ id, mode, compose }, isTried) {
  let isSeen = false
  for (const { plan, outside, extra = [], narrowed } of SCENARIOS.filter(isTried)) {
    const life = mode && plan.mode !== mode ? { ...plan, mode } : plan
    /** @type {import('#model').Exploration} */
    let exploration
    try {
      const environment = environmentOf(life, { outside })
      exploration = explore(compose(life), {
        ...environment,
        events: [...environment.events, ...extra],
        ...narrowed,
        statesMax: STATES_MAX,
      })
    } catch (error) {
      if (error instanceof NotHere) continue
      // By our composition or by xstate, which has no codes.
      const { code, message } = /** @type {Error & { code?: string }} */ (error)
      return `refused: ${code ?? message}`
    }
    isSeen = true
    const property = specificFirst(invariantsOf(life)).find(({ violation }) => violation(exploration))
    if (property) return /** @type {string} */ (property.id)
  }
  if (!isSeen) throw new Error(`no scenario has the place of ${id}`)
  return undefined
}

/** A mutant is caught by the property that says most about it: almost every one also spoils the end. @param {import('#model').Property[]} properties */
const specificFirst = (properties) => {
  const isGeneral = ({ id = '' }) => /^(end|no-)/.test(id)
  return [...properties.filter((property) => !isGeneral(property)), ...properties.filter(isGeneral)]
}

/** A scenario in which the original does not hold would catch everything. */
export function assertOriginalHolds() {
  for (const scenario of SCENARIOS) {
    const by = caughtBy({ id: 'the original', operator: '', compose: composeLifecycle }, (other) => other === scenario)
    if (by) throw new Error(`"${scenario.name}": the original is caught by ${by}, so the scenario is wrong, or the machines are`)
  }
}
