import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

// Forked processes everywhere: a worker thread has no OS signals of its own and `run()` refuses to work in one.
const pool = 'forks' as const
// Generous on purpose: no test waits for a duration, so a time-out only ever reports a hang, also on a loaded machine.
const patience = (ms: number) => ({ testTimeout: ms, hookTimeout: ms, teardownTimeout: 10_000 })
const setupFiles = ['test/support/seed.ts']
/** Programs under test run `dist/`. */
const globalSetup = ['test/support/build.ts']

/** Each test starts node processes and measures when they end: one file at a time, and alone on the machine. */
const processes = ['test/processes/**/*.test.ts', 'test/loss/**/*.test.ts']

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: processes,
          pool,
          setupFiles,
          maxWorkers: Math.max(2, availableParallelism()),
          sequence: { groupOrder: 0 },
          globalSetup,
          ...patience(30_000),
        },
      },
      {
        test: {
          name: 'processes',
          include: processes,
          pool,
          setupFiles,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
          globalSetup,
          ...patience(60_000),
        },
      },
    ],
  },
})
