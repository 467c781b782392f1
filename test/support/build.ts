import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/**
 * Vitest's global set-up: the processes under test run `dist/`, which must therefore be what `src/`
 * says, however vitest was started; `npm test` has built before it starts it. Free when nothing
 * changed. A build that fails does not stop the tests here; `npm test` and `npm run build` do fail
 * on it.
 */
export default function build(): void {
  if (process.env['IS_BUILT'] !== undefined) return
  const script = fileURLToPath(new URL('../../scripts/build.mjs', import.meta.url))
  const { status } = spawnSync(process.execPath, [script], { stdio: ['ignore', 2, 2] })
  if (status !== 0) process.stderr.write('test/support/build.ts: the build has errors (above); testing what it emitted\n')
}
