// @ts-check
// A process that runs tests with one file of src/ edited as it is loaded, one edit after the other,
// and says which test fails. Vitest stays warm between them; nothing on disk changes.
import { resolve } from 'node:path'
import { createVitest } from 'vitest/node'
import { viteOptions, vitestOptions } from './vitest-options.mjs'

/**
 * @typedef {import('./operators.mjs').Edit} Edit
 * @typedef {{ file: string, edit?: Edit | undefined, tests: readonly string[] }} Task
 */

const ROOT = resolve(import.meta.dirname, '../../..')
/** @type {{ path: string, edit: Edit } | undefined} */
let mutant
const plugin = {
  name: 'mutant',
  enforce: /** @type {const} */ ('pre'),
  /** @param {string} code @param {string} id */
  transform(code, id) {
    if (!mutant || id.split('?')[0] !== mutant.path) return undefined
    const { start, end, text } = mutant.edit
    return `${code.slice(0, start)}${text}${code.slice(end)}`
  },
}

/** The tests that notice most come first, and the first that fails is the last that runs. */
class AsGiven {
  /** @param {import('vitest/node').TestSpecification[]} specifications */
  async sort(specifications) {
    return specifications
  }

  /** @param {import('vitest/node').TestSpecification[]} specifications */
  async shard(specifications) {
    return specifications
  }
}

const vitest = await createVitest('test', { ...vitestOptions, bail: 1, sequence: { sequencer: AsGiven } }, viteOptions(plugin))
await vitest.standalone()

const project = vitest.getRootProject()

/**
 * The first test that fails, and does so again by itself, and not without the edit: one that does not has noticed nothing.
 * @param {Task} task
 * @returns {Promise<string | undefined>}
 */
async function failureOf({ file, edit, tests }) {
  for (let left = tests; left.length > 0; ) {
    edited(file, edit)
    const found = await firstFailure(left)
    if (!found) return undefined
    const again = await firstFailure([found.test])
    edited(file)
    if (again && !(await firstFailure([found.test]))) return again.failure
    left = left.slice(left.indexOf(found.test) + 1)
  }
  return undefined
}

/** @param {string} file @param {Edit} [edit] */
function edited(file, edit) {
  if (mutant) vitest.invalidateFile(mutant.path)
  mutant = edit && { path: resolve(ROOT, file), edit }
  if (mutant) vitest.invalidateFile(mutant.path)
}

/** @param {readonly string[]} tests @returns {Promise<{ test: string, failure: string } | undefined>} */
async function firstFailure(tests) {
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(
    tests.map((test) => project.createSpecification(resolve(ROOT, test))),
  )
  for (const test of tests) {
    const module = testModules.find(({ moduleId }) => moduleId === resolve(ROOT, test))
    if (!module) continue
    for (const failed of module.children.allTests('failed')) return { test, failure: `${test} > ${failed.fullName}` }
    const [error] = module.errors()
    if (error) return { test, failure: `${test}: ${firstLine(error)}` }
  }
  const [error] = unhandledErrors
  if (error === undefined) return undefined
  // Of no test: of the last that ran.
  const test = tests.findLast((name) =>
    testModules.some(({ moduleId, state }) => moduleId === resolve(ROOT, name) && state() !== 'skipped'),
  )
  return { test: test ?? /** @type {string} */ (tests[0]), failure: `${test}: ${firstLine(error)}` }
}

/** @param {unknown} error */
const firstLine = (error) => String(/** @type {Error} */ (error).message).split('\n')[0]

process.on('message', async (/** @type {Task} */ task) => process.send?.({ failure: await failureOf(task) }))
process.send?.('ready')
