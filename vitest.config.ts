import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Forked processes everywhere: a worker thread has no OS signals of its own and `run()` refuses to work in one.
const pool = 'forks' as const
// Generous on purpose: no test waits for a duration, so a time-out only ever reports a hang, also on a loaded machine.
const patience = { testTimeout: 240_000, hookTimeout: 240_000, teardownTimeout: 10_000, expect: { poll: { timeout: 40_000 } } }
const setupFiles = ['test/support/seed.ts']
/** Programs under test run `dist/`; and a test removes the folders that it has made. */
const globalSetup = ['test/support/left-folders.ts', 'test/support/build.ts']
/** Before any worker: what several of them would inflate at the same time. */
const BROWSER = 'test/support/browser.ts'

/**
 * What `npm run test:e2e` runs, so that `npm test` takes minutes; `scripts/test.mjs` says which of both is to run, and without that word all of them
 * do, and what is named on the command line is found. Browsers, kubectl, other frameworks, the packed package, what clients lose; every transport
 * with every kind of application, of which `npm test` has the stores; pictures; machines with seeded bugs, each of which is explored anew, lives of
 * users, and of more states than the plain ones; processes but for their signals, crashes, drains, exits and audit; three quarters of the random
 * lives, every xstate 5, the histories of concurrent clients of a store; how costs grow; what reads all sources; and what wants a machine that is
 * quiet (`apart`, `alone`).
 */
const endToEnd = [
  'test/bench/features.test.ts',
  'test/bench/usage.test.ts',
  'test/apiserver/delegates-model.test.ts',
  'test/browser/**/*.test.ts',
  'test/cli/{check,check-certificates,check-progress,diagram}.test.ts',
  'test/conformance/{attaching,matrix,serving,stopping,transports}.test.ts',
  'test/controllers/election-machine.test.ts',
  'test/diagram/{pictures,rendering}.test.ts',
  'test/groups/{body-growth,kubectl,versions-kubectl}.test.ts',
  'test/http/growth.test.ts',
  'test/inspector/page.test.ts',
  'test/loss/**/*.test.ts',
  'test/recipes/**/*.test.ts',
  'test/types/**/*.test.ts',
  'packages/model/test/{packed,mutants,versions}.test.ts',
  'test/model/{broken-phases,check-life,conformance,consequences,edited-table,invariants,larger-lives,more-lives,mutants,spin,steps,timed}.test.ts',
  'test/options/docstrings.test.ts',
  'test/processes/!(audit|crash|drain|exit|os-signals|worker).test.ts',
  'test/random/{accounting,late-answers,lives-2,lives-3,lives-4}.test.ts',
  'test/storage/{etcd-histories,linearizability}.test.ts',
  'test/tidy/{banned,errors,expressions,import-targets,references,vague-words}.test.ts',
]
const suite = process.env['SUITE']

/**
 * What these tests are about belongs to the process: which channels have listeners, node's own globals, which @hono/node-server replaces,
 * the heap, of which a snapshot takes ten times as long behind two hundred other files, and modules that a test replaces (`vi.mock`), which is
 * too late for what an earlier file has imported: test/tidy/folders.test.ts holds that each of these is here.
 * All other files share a process with those before them, and what those have imported, which takes longer than most of them.
 */
const isolated = [
  'test/sockets/response-end.test.ts',
  'test/apiserver/loopback.test.ts',
  'test/apiserver/profiles.test.ts',
  'test/life/endpoints.test.ts',
  'test/report/foreign-link.test.ts',
]

/** Tests that start processes wait for them more than they work. */
const WAITING = /\/test\/(processes|fuzz|recipes|browser)\//
/**
 * Three files beside each other, and no other beside them. What a process does after a pause, and whether it ends in its last tenths of a second,
 * depends on who else wants the machine, of which they want little. One overflows accept queues, which the kernel counts for all: each life that ends meanwhile keeps its listener open for a moment of real
 * time, in which a virtual one runs out.
 */
const apart = [
  'test/watches/**/*.test.ts',
  'test/processes/paused.test.ts',
  'test/sockets/accept-seal.test.ts',
  'test/fuzz/deadline.test.ts',
]
/** Nothing beside it: what a client loses depends on who else wants the machine. */
const alone = ['test/loss/**/*.test.ts']

/** Short files that take long. Where no run before is known, the longest text comes first. */
const LONG =
  /many-lives|accessible|pictures|slow-readers|random\/(late|lives)|model\/(broken|check|conseq|edited|invar|timed)|machines\/lifecycle|processes\/(crash|drain|exit)|upstream\/(hooks|process)/

/**
 * A worker is used again when the next file is of the same project, and imports everything anew when it is not: so files of one stay together.
 * A file that takes long and begins last is waited for when all others are over: it begins first. Those that wait go beside those that work.
 */
class Mixed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    // Those that are isolated take a worker each, and begin last.
    const names = [...new Set(sorted.map(({ project }) => project.name))].sort((a, b) => Number(b === 'unit') - Number(a === 'unit'))
    return names.flatMap((name) => {
      const own = sorted.filter(({ project }) => project.name === name)
      const [long, others] = split(own, (path) => LONG.test(path))
      return [...long, ...evenly(split(others, (path) => WAITING.test(path)))]
    })
  }
}

const split = (files: readonly TestSpecification[], which: (path: string) => boolean): [TestSpecification[], TestSpecification[]] => [
  files.filter(({ moduleId }) => which(moduleId)),
  files.filter(({ moduleId }) => !which(moduleId)),
]

/** All kinds in their order, and as many of each in every part of the list. */
function evenly(kinds: readonly (readonly TestSpecification[])[]): TestSpecification[] {
  const placed = kinds.flatMap((kind) => kind.map((file, at) => ({ file, at: (at + 0.5) / kind.length })))
  return placed.sort((a, b) => a.at - b.at).map(({ file }) => file)
}

/** Projects run in the order of their group. */
const project = (
  name: string,
  groupOrder: number,
  files: { include: string[]; exclude?: string[] },
  maxWorkers: number,
  { isolate = false, sets = globalSetup } = {},
) => ({
  // Packages of this repository are tested as their sources. Without vite's `module`, which node does not know: what @opentelemetry/api
  // has there does not load.
  ssr: { resolve: { conditions: ['quiesce-source', 'quiesce-test', 'node', 'development|production'] } },
  test: {
    name,
    ...files,
    pool,
    isolate,
    execArgv: GARBAGE,
    setupFiles,
    globalSetup: sets,
    maxWorkers,
    sequence: { groupOrder },
    ...patience,
  },
})
/**
 * With more workers than processors each collection of V8's young objects waits for helper threads that have no processor: collected by one thread,
 * and more rarely, the whole suite takes a tenth less.
 */
const GARBAGE = ['--single-threaded-gc', '--min-semi-space-size=16', '--max-semi-space-size=32']
/** Three more than there are processors: many tests wait for a socket or a process; and each worker imports anew. */
const workers = Math.max(2, availableParallelism()) + 3

const everything = ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts']
const unit = (include: string[], exclude: string[], sets: string[]) =>
  project('unit', 0, { include, exclude: [...isolated, ...apart, ...alone, ...exclude] }, workers, { sets })
const isolatedOnes = project('isolated', 0, { include: isolated }, workers, { isolate: true })
const apartOnes = project('apart', 1, { include: apart }, 3)
const aloneOnes = project('alone', 2, { include: alone }, 1)
const withBrowser = [BROWSER, ...globalSetup]

const projects = {
  core: [unit(everything, endToEnd, globalSetup), isolatedOnes],
  e2e: [unit(endToEnd, [], withBrowser), apartOnes, aloneOnes],
  all: [unit(everything, [], withBrowser), isolatedOnes, apartOnes, aloneOnes],
}[suite ?? 'all']
if (!projects) throw new Error(`SUITE: got ${suite}, allowed: core, e2e or all`)

export default defineConfig({ test: { sequence: { sequencer: Mixed }, projects } })
