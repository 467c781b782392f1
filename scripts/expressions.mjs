// @ts-check
// `npm run check:expressions`: judges every regular expression of the product anew, and writes down
// which are safe, so that `npm test` has to judge only those that have changed.
import { spawnSync } from 'node:child_process'

const { status } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', 'test/tidy/expressions.test.ts'], {
  stdio: 'inherit',
  env: { ...process.env, EXPRESSIONS: 'all' },
})
process.exitCode = status ?? 1
