// @ts-check
// Every mutant: what it is called, and the machine of a life that has it.
import { closeConnectionsMachine } from '../../dist/machines/close-connections.js'
import { destroyMachine } from '../../dist/machines/destroy.js'
import { handlersMachine } from '../../dist/machines/handlers.js'
import { hookMachine } from '../../dist/machines/hook.js'
import { composeLifecycle } from '../../dist/machines/lifecycle.js'
import { preShutdownHooksMachine } from '../../dist/machines/pre-shutdown-hooks.js'
import { reportMachine } from '../../dist/machines/report.js'
import { requestDrainMachine } from '../../dist/machines/request-drain.js'
import { shutdownDelayMachine } from '../../dist/machines/shutdown-delay.js'
import { tellMachine } from '../../dist/machines/tell.js'
import { watchDrainMachine } from '../../dist/machines/watch-drain.js'
import { machineMutants } from './machine-mutants.mjs'
import { tableMutants } from './table-mutants.mjs'

/**
 * @typedef {import('../../dist/machines/lifecycle.js').LifePlan} LifePlan
 * @typedef {import('xstate').AnyStateMachine} Machine
 * @typedef {{ id: string, operator: string, mode?: 'refuse' | 'retry-after', compose: (plan: LifePlan) => Machine }} Mutant
 */

/** The phase machines, by the names under which the root machine invokes them. */
const PHASES = {
  tell: tellMachine,
  shutdownDelay: shutdownDelayMachine,
  preShutdownHooks: preShutdownHooksMachine,
  requestDrain: requestDrainMachine,
  watchDrain: watchDrainMachine,
  closeConnections: closeConnectionsMachine,
  handlers: handlersMachine,
  destroy: destroyMachine,
  report: reportMachine,
}

/**
 * Regions of the root that are mutated place by place. The other rows come from the same generator as these, one of each shape, and differ
 * only in the entries that the mutants of the table change.
 */
const REGIONS =
  /^(running(\.(start|stop|second-signal|crash|budget|post-start-hooks|bind|mux-complete|not-accepting|tell|request-drain|close-listener|end)(\..*)?)?)$/

/** The life in which the places of the root are looked for: it has all kinds of regions. @type {Parameters<typeof composeLifecycle>[0]} */
const WHOLE = { mode: 'refuse', muxSignals: ['apis'], postStartHooks: [{ kind: 'post-start', name: 'warm', timeoutMs: 0 }] }

/** @param {Machine} root @param {Record<string, Machine>} actors */
const withActors = (root, actors) => /** @type {Machine} */ (root.provide(/** @type {never} */ ({ actors })))

/** @returns {Mutant[]} */
export function allMutants() {
  /** @type {Mutant[]} */
  const ofTable = tableMutants().map(({ operator, site, mode, wiring }) => ({
    id: `${operator}: ${site}`,
    operator,
    ...(mode && { mode }),
    compose: (plan) => composeLifecycle({ ...plan, wiring }),
  }))
  const ofRoot = machineMutants('root', /** @type {Machine} */ (composeLifecycle(WHOLE)), (state) => REGIONS.test(state)).map(
    ({ operator, site, replace }) => ({
      id: `${operator}: ${site}`,
      operator,
      compose: (/** @type {LifePlan} */ plan) => replace(/** @type {Machine} */ (composeLifecycle(plan))),
    }),
  )
  const ofPhases = Object.entries(PHASES).flatMap(([name, machine]) =>
    machineMutants(machine.id, /** @type {Machine} */ (/** @type {unknown} */ (machine))).map(({ operator, site, replace }) => ({
      id: `${operator}: ${site}`,
      operator,
      compose: (/** @type {LifePlan} */ plan) =>
        withActors(/** @type {Machine} */ (composeLifecycle(plan)), {
          [name]: replace(/** @type {Machine} */ (/** @type {unknown} */ (machine))),
        }),
    })),
  )
  const ofHooks = machineMutants('hook', /** @type {Machine} */ (/** @type {unknown} */ (hookMachine))).map(
    ({ operator, site, replace }) => ({
      id: `${operator}: ${site}`,
      operator,
      compose: (/** @type {LifePlan} */ plan) => {
        const hook = replace(/** @type {Machine} */ (/** @type {unknown} */ (hookMachine)))
        return withActors(/** @type {Machine} */ (composeLifecycle(plan)), {
          userPhase: hook,
          destroy: withActors(/** @type {Machine} */ (/** @type {unknown} */ (destroyMachine)), { hook }),
          preShutdownHooks: withActors(/** @type {Machine} */ (/** @type {unknown} */ (preShutdownHooksMachine)), { hook }),
        })
      },
    }),
  )
  return unique([...ofTable, ...ofRoot, ...ofPhases, ...ofHooks])
}

/** @param {Mutant[]} mutants */
function unique(mutants) {
  const seen = new Map()
  for (const { id } of mutants) seen.set(id, (seen.get(id) ?? 0) + 1)
  const twice = [...seen].find(([, count]) => count > 1)
  if (twice) throw new Error(`two mutants are called ${twice[0]}`)
  return mutants
}
