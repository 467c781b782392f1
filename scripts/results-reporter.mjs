// @ts-check
// Vitest's reporter for machines: what ran, how it ended, and which acceptance rows it was declared
// for (test/support/row.ts).
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/**
 * @typedef {'passed' | 'failed' | 'skipped'} State
 * @typedef {{ test: string, file: string, state: State }} RowTest
 * @typedef {{ complete: boolean, passed: number, failed: number, skipped: number, failures: string[] }} Run
 */

export default class ResultsReporter {
  /**
   * Where to write run.json and rows.json. Not below a fixed place: other Node versions keep their
   * own.
   */
  #folder = process.env['RESULTS_DIR'] ?? '.results'
  #complete = process.env['RESULTS_PARTIAL'] === undefined

  /**
   * @param {ReadonlyArray<import('vitest/node').TestModule>} modules
   * @param {ReadonlyArray<{ message?: string }>} unhandled errors that belong to no test
   * @param {import('vitest/node').TestRunEndReason} reason
   */
  onTestRunEnd(modules, unhandled, reason) {
    /** @type {Run} */
    const run = { complete: this.#complete && reason !== 'interrupted', passed: 0, failed: 0, skipped: 0, failures: [] }
    /** @type {Record<string, RowTest[]>} */
    const rows = {}
    /** @param {string} what */
    const fail = (what) => {
      run.failed += 1
      run.failures.push(what)
    }

    for (const module of modules) {
      const file = relative(process.cwd(), module.moduleId)
      // Errors of the file itself and of its suites' hooks: no test carries them, so they count
      // here.
      for (const error of module.errors()) fail(`${file}: ${error.message}`)
      for (const suite of module.children.allSuites())
        for (const error of suite.errors()) fail(`${file} > ${suite.fullName}: ${error.message}`)
      let tests = 0
      for (const test of module.children.allTests()) {
        tests += 1
        const { state } = test.result()
        const ended = state === 'pending' ? 'failed' : state
        if (ended === 'failed') fail(`${file} > ${test.fullName}`)
        else run[ended] += 1
        for (const id of test.meta().rows ?? []) rows[id] = [...(rows[id] ?? []), { test: test.fullName, file, state: ended }]
      }
      if (tests === 0 && module.errors().length === 0) fail(`${file}: has no test`)
    }
    for (const error of unhandled) fail(`outside any test: ${error.message ?? String(error)}`)

    mkdirSync(this.#folder, { recursive: true })
    writeFileSync(join(this.#folder, 'rows.json'), `${JSON.stringify(rows, null, 2)}\n`)
    writeFileSync(join(this.#folder, 'run.json'), `${JSON.stringify(run, null, 2)}\n`)
  }
}
