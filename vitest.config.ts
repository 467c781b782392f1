import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Forked processes everywhere: a worker thread has no OS signals of its own and `run()` refuses to work in one.
const pool = 'forks' as const
// Generous on purpose: no test waits for a duration, so a time-out only ever reports a hang, also on a loaded machine.
const patience = (ms: number) => ({
  testTimeout: ms,
  hookTimeout: ms,
  teardownTimeout: 10_000,
  expect: { poll: { timeout: (ms * 2) / 3 } },
})
const seeded = ['test/support/seed.ts']
/** Programs under test run `dist/`. */
const globalSetup = ['test/support/build.ts']
const seededAndBuilt = [...seeded, 'test/support/built.ts']

/** Of code without sockets and processes: they work more than they wait, and need nothing that is built. */
const pure = ['base', 'diagram', 'differential', 'machines', 'metrics', 'model', 'options', 'report', 'terminal', 'tidy'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
)

/**
 * What these tests are about belongs to the process: which channels have listeners, and node's own globals, which @hono/node-server replaces.
 * All other files share a process with those before them, and what those have imported, which takes longer than most of them.
 */
const isolated = ['test/sockets/response-end.test.ts', 'test/apiserver/loopback.test.ts']

/** Each test starts node processes, and waits for them more than it works: twice as many at a time. */
const processes = ['test/processes/**/*.test.ts', 'test/fuzz/**/*.test.ts', 'test/recipes/**/*.test.ts', 'test/browser/**/*.test.ts']
/**
 * One file at a time, and nothing else: what a client loses, and what a process does after a pause, depends on who else wants the machine. Nor may
 * others run beside a test that overflows accept queues: the kernel counts that for all, and each life that ends meanwhile keeps its listener open for
 * a moment of real time, in which the virtual one runs out.
 */
const alone = ['test/loss/**/*.test.ts', 'test/watches/**/*.test.ts', 'test/processes/paused.test.ts', 'test/sockets/accept-seal.test.ts']

/** Short files that take long. Where no run before is known, the longest text comes first. */
const LONG = /many-lives|accessible|pictures|slow-readers|differential\/lives/

/** One that takes long and begins last is waited for when all others are over. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification): boolean => LONG.test(moduleId)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

/** Projects run in the order of their group. */
const project = (
  name: string,
  groupOrder: number,
  files: { include: string[]; exclude?: string[] },
  maxWorkers: number,
  patienceMs: number,
  isolate = false,
  setupFiles = seededAndBuilt,
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
/** One more than there are processors: many tests wait for a socket, and each worker imports anew. */
const workers = Math.max(2, availableParallelism()) + 1

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    projects: [
      project(
        'unit',
        0,
        { include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'], exclude: [...pure, ...processes, ...alone, ...isolated] },
        workers,
        30_000,
      ),
      project('isolated', 0, { include: isolated }, workers, 30_000, true),
      project('pure', 0, { include: pure }, workers, 30_000, false, seeded),
      project('processes', 1, { include: processes, exclude: alone }, 2 * workers, 60_000),
      project('alone', 2, { include: alone }, 1, 60_000),
    ],
  },
})
