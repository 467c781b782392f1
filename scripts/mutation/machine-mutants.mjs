// @ts-check
// Mutants of the machines: one wrong place in one machine each. Places are found by walking the
// configurations, and machines by walking the root, so a new state or a new machine brings its
// mutants with it.
import { createMachine, StateMachine } from 'xstate'
import { CONFIG_OPERATORS, IMPLEMENTATION_OPERATORS } from './operators.mjs'
import { sitesOf } from './sites.mjs'

/**
 * @typedef {import('./sites.mjs').Machine} Machine
 * @typedef {import('./sites.mjs').Config} Config
 * @typedef {{ operator: string, site: string, replace: (machine: Machine) => Machine }} MachineMutant
 */

/** The mutants of one machine. @param {string} name @param {Machine} machine @param {(state: string) => boolean} [within] @returns {MachineMutant[]} */
export function machineMutants(name, machine, within = () => true) {
  const sites = sitesOf(/** @type {Config} */ (machine.config))
  const inConfig = Object.entries(CONFIG_OPERATORS).flatMap(([operator, find]) =>
    sites.flatMap((site) => {
      const state = site.path.filter((_, i) => i % 2 === 1).join('.')
      if (!within(state)) return []
      return find(site).map(({ what, change }) => ({
        operator,
        site: `${name}${state && ` ${state}`}: ${what}`,
        replace: (/** @type {Machine} */ original) =>
          provided(createMachine(/** @type {never} */ (change(/** @type {Config} */ (original.config)))), original.implementations),
      }))
    }),
  )
  if (!within('')) return inConfig
  const inImplementations = Object.entries(IMPLEMENTATION_OPERATORS).flatMap(([operator, find]) =>
    find(machine).map(({ what, implementations }) => ({
      operator,
      site: `${name}: ${what}`,
      replace: (/** @type {Machine} */ original) => provided(original, implementations),
    })),
  )
  return [...inConfig, ...inImplementations]
}

/** The machines that a machine names as its actors, and those below them; each once. @param {Machine} machine @returns {Set<Machine>} */
export function machinesBelow(machine) {
  const found = new Set()
  for (const actor of Object.values(machine.implementations.actors)) {
    if (!(actor instanceof StateMachine)) continue
    found.add(actor)
    for (const below of machinesBelow(actor)) found.add(below)
  }
  return found
}

/** A machine with another one wherever it, or a machine below it, names this one. @param {Machine} machine @param {Machine} old @param {Machine} other @returns {Machine} */
export function withMachine(machine, old, other) {
  const actors = Object.entries(machine.implementations.actors).flatMap(([name, actor]) => {
    if (!(actor instanceof StateMachine)) return []
    const replaced = actor === old ? other : withMachine(actor, old, other)
    return replaced === actor ? [] : [[name, replaced]]
  })
  return actors.length === 0 ? machine : provided(machine, { actors: Object.fromEntries(actors) })
}

/** @param {unknown} machine @param {unknown} implementations */
const provided = (machine, implementations) => /** @type {Machine} */ (machine).provide(/** @type {never} */ (implementations))
