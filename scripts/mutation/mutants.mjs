// @ts-check
// Every mutant: what it is called, and the machine of a life that has it, or the rows of the table
// from which that is composed; or the machine that works beside a life, with what is checked of it.
import { electionMachine } from '../../build/packages/apiserver/src/leases/election.js'
import { storeMachine } from '../../build/packages/apiserver/src/store/store-machine.js'
import { composeLifecycle } from '../../build/src/machines/lifecycle.js'
import { ELECTION, STORE } from './beside-checks.mjs'
import { machineMutants, machinesBelow, withMachine } from './machine-mutants.mjs'
import { signalMutants } from './signal-mutants.mjs'
import { tableMutants } from './table-mutants.mjs'

/**
 * @typedef {import('../../build/src/machines/lifecycle.js').LifePlan} LifePlan
 * @typedef {import('../../build/src/machines/lifecycle.js').Composition} Composition
 * @typedef {import('xstate').AnyStateMachine} Machine
 * @typedef {{ id: string, operator: string, mode?: 'refuse' | 'retry-after', rows?: import('./edited-table.mjs').Table, compose: (plan: LifePlan) => Machine, checks?: import('./beside-checks.mjs').Checks }} Mutant
 */

/** The life in which places are looked for: it has all kinds of regions. @type {Composition} */
const WHOLE = { mode: 'refuse', muxSignals: ['apis'], postStartHooks: [{ kind: 'post-start', name: 'warm', timeoutMs: 0 }] }
/** Regions of the other mode only. */
const OTHER_MODE = /^running\.close-listener-after-drain(\.|$)/

/** Machines that work beside a life. @type {readonly { machine: Machine, checks: import('./beside-checks.mjs').Checks }[]} */
export const BESIDE = [
  { machine: /** @type {never} */ (electionMachine), checks: ELECTION },
  { machine: /** @type {never} */ (storeMachine), checks: STORE },
]

const composed = (/** @type {Composition} */ plan) => /** @type {Machine} */ (/** @type {unknown} */ (composeLifecycle(plan)))

/** @param {import('./machine-mutants.mjs').MachineMutant} mutant */
const inRoot = ({ replace, ...mutant }) => ({ ...mutant, compose: (/** @type {LifePlan} */ plan) => replace(composed(plan)) })

/** @returns {Mutant[]} */
export function allMutants() {
  const root = composed(WHOLE)
  /** @type {(Omit<Mutant, 'id'> & { site: string })[]} */
  const ofTable = tableMutants().map((mutant) => ({ ...mutant, compose: composed }))
  const ofSignals = signalMutants().map(({ onSignal, ...mutant }) => ({
    ...mutant,
    compose: (/** @type {LifePlan} */ plan) => composed({ ...plan, onSignal }),
  }))
  const ofRoot = machineMutants('root', root).map(inRoot)
  const ofOtherMode = machineMutants('root', composed({ ...WHOLE, mode: 'retry-after' }), (state) => OTHER_MODE.test(state)).map(
    (mutant) => ({ ...inRoot(mutant), mode: /** @type {const} */ ('retry-after') }),
  )
  const ofPhases = [...machinesBelow(root)].flatMap((machine) =>
    machineMutants(machine.id, machine).map(({ replace, ...mutant }) => ({
      ...mutant,
      compose: (/** @type {LifePlan} */ plan) => withMachine(composed(plan), machine, replace(machine)),
    })),
  )
  const ofBeside = BESIDE.flatMap(({ machine, checks }) =>
    machineMutants(machine.id, machine).map(({ replace, ...mutant }) => ({ ...mutant, checks, compose: () => replace(machine) })),
  )
  return named([...ofTable, ...ofSignals, ...ofRoot, ...ofOtherMode, ...ofPhases, ...ofBeside])
}

/** @param {(Omit<Mutant, 'id'> & { site: string })[]} mutants @returns {Mutant[]} */
function named(mutants) {
  const seen = new Set()
  return mutants.map(({ site, ...mutant }) => {
    const id = `${mutant.operator}: ${site}`
    if (seen.has(id)) throw new Error(`two mutants are called ${id}`)
    seen.add(id)
    return { ...mutant, id }
  })
}
