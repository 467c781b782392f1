// @ts-check
// `npm test`: the suite that takes minutes; `npm run test:e2e` what takes longer, which
// vitest.config.ts lists; `npm test -- test/http` a part of either, with any of vitest's
// arguments. Builds first, without types in the suite that takes minutes, which needs none; a build
// that fails is one failure, and what it wrote is tested all the same. Types are checked by `npm run
// typecheck`. The last line is always `N passed, N failed[, N skipped]`; the exit code is 0 only if
// something ran and nothing failed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const isE2e = process.argv[2] === '--e2e'
const args = process.argv.slice(isE2e ? 3 : 2)
/** As vitest.config.ts knows them. */
const suite = isE2e ? 'e2e' : args.length > 0 ? 'all' : 'core'
const results = process.env['RESULTS_DIR'] ?? (isE2e ? '.results/e2e' : '.results')
const seed = process.env['SEED'] ?? String(Math.trunc(Math.random() * 2 ** 31))
const runFile = join(results, 'run.json')

rmSync(runFile, { force: true })
rmSync(join(results, 'rows.json'), { force: true })
console.log(`node ${process.versions.node}; seed ${seed}, again with: SEED=${seed} npm test`)

mkdirSync(results, { recursive: true })

const build = await end(spawn(process.execPath, ['scripts/build.mjs', ...(suite === 'core' ? ['--code'] : [])], { stdio: 'inherit' }))
const { status, signal } = await end(
  spawn(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', '--reporter=default', '--reporter=./scripts/results-reporter.mjs', ...args],
    {
      stdio: 'inherit',
      env: {
        ...process.env,
        SUITE: suite,
        RESULTS_DIR: results,
        SEED: seed,
        IS_BUILT: '1',
        ...((isE2e || args.length > 0) && { RESULTS_PARTIAL: '1' }),
      },
    },
  ),
)

/** @param {import('node:child_process').ChildProcess} child */
async function end(child) {
  const [status, signal] = /** @type {[number | null, string | null]} */ (await once(child, 'exit'))
  return { status, signal }
}

/** @type {import('./results-reporter.mjs').Run} a runner that died before it could report is one failure */
const run = existsSync(runFile)
  ? JSON.parse(readFileSync(runFile, 'utf8'))
  : { complete: false, passed: 0, failed: 1, skipped: 0, failures: [`vitest ended without a result (${signal ?? `exit code ${status}`})`] }
if (status !== 0 && run.failed === 0) {
  run.failed = 1
  run.failures.push(`vitest itself failed (${signal ?? `exit code ${status}`})`)
}
if (build.status !== 0) {
  run.failed += 1
  run.failures.push('the build has errors (above)')
}

for (const failure of run.failures) console.log(`FAILED ${failure.split('\n')[0]}`)
process.exitCode = run.failed === 0 && run.passed > 0 ? 0 : 1
console.log(`${run.passed} passed, ${run.failed} failed${run.skipped > 0 ? `, ${run.skipped} skipped` : ''}`)
