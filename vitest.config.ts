import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

// Forked processes everywhere: a worker thread has no OS signals of its own and `run()` refuses to work in one.
const pool = 'forks' as const
// Generous on purpose: no test waits for a duration, so a time-out only ever reports a hang, also on a loaded machine.
const patience = (ms: number) => ({
  testTimeout: ms,
  hookTimeout: ms,
  teardownTimeout: 10_000,
  expect: { poll: { timeout: (ms * 2) / 3 } },
})
const setupFiles = ['test/support/seed.ts']
/** Programs under test run `dist/`. */
const globalSetup = ['test/support/build.ts']

/**
 * Tests that leave nothing behind, of code without sockets and processes: their files share what they import, which takes longer than most of
 * them.
 */
const pure = ['base', 'diagram', 'differential', 'machines', 'metrics', 'model', 'options', 'report', 'terminal', 'tidy'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
)

/** Each test starts node processes, and waits for them more than it works: three times as many at a time. */
const processes = ['test/processes/**/*.test.ts', 'test/fuzz/**/*.test.ts', 'test/recipes/**/*.test.ts', 'test/browser/**/*.test.ts']
/** What a client loses, and what a process does after a pause, depends on who else wants the machine: one file at a time, and nothing else. */
const alone = ['test/loss/**/*.test.ts', 'test/watches/**/*.test.ts', 'test/processes/drain.test.ts']

/** Projects run in the order of their group. */
const project = (
  name: string,
  groupOrder: number,
  files: { include: string[]; exclude?: string[] },
  maxWorkers: number,
  patienceMs: number,
  isolate = true,
) => ({
  // Packages of this repository are tested as their sources. Without vite's `module`, which node does not know: what @opentelemetry/api
  // has there does not load.
  ssr: { resolve: { conditions: ['quiesce-source', 'node', 'development|production'] } },
  test: {
    name,
    ...files,
    pool,
    isolate,
    setupFiles,
    globalSetup,
    maxWorkers,
    sequence: { groupOrder },
    ...patience(patienceMs),
  },
})
/** One more than there are processors, because many tests wait for a socket. */
const workers = Math.max(2, availableParallelism()) + 1

export default defineConfig({
  test: {
    projects: [
      project(
        'unit',
        0,
        { include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'], exclude: [...pure, ...processes, ...alone] },
        workers,
        30_000,
      ),
      project('pure', 0, { include: pure }, workers, 30_000, false),
      project('processes', 1, { include: processes, exclude: alone }, 2 * workers, 60_000),
      project('alone', 2, { include: alone }, 1, 60_000),
    ],
  },
})
