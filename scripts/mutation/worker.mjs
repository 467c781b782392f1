// @ts-check
// A thread that looks for what notices the mutants it is sent, by their places in the list.
import { parentPort } from 'node:worker_threads'
import { caughtBy } from './catch.mjs'
import { allMutants } from './mutants.mjs'

const mutants = allMutants()
parentPort?.on('message', (/** @type {{ i: number, before: import('./catch.mjs').Catch | null }} */ { i, before }) => {
  const mutant = /** @type {import('./mutants.mjs').Mutant} */ (mutants[i])
  parentPort?.postMessage({ i, found: caughtBy(mutant, before) ?? null })
})
