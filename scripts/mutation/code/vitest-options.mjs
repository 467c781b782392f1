// @ts-check
// How vitest runs the tests of mutants: one process for each file, and no reporter.
import { resolve } from 'node:path'

/**
 * The longest that a test waits for what does not come: shorter than elsewhere, because mutants let
 * it wait.
 */
const PATIENCE_MS = 15_000

/** @type {import('vitest/node').CliOptions} */
export const vitestOptions = {
  config: /** @type {never} */ (false),
  root: resolve(import.meta.dirname, '../../..'),
  watch: false,
  reporters: [{}],
  include: ['test/**/*.test.ts'],
  pool: 'forks',
  // A process that has run another mutant would still have its modules.
  isolate: true,
  setupFiles: ['test/support/seed.ts'],
  maxWorkers: 1,
  testTimeout: PATIENCE_MS,
  hookTimeout: PATIENCE_MS,
  teardownTimeout: 10_000,
  expect: { poll: { timeout: (PATIENCE_MS * 2) / 3 } },
}

/** As in vitest.config.ts: packages of this repository are tested as their sources. @param {import('vite').Plugin} plugin */
export const viteOptions = (plugin) => ({
  plugins: [plugin],
  ssr: { resolve: { conditions: ['quiesce-source', 'node', 'development|production'] } },
})
