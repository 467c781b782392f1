import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { isPure } from './pure.ts'

/**
 * Vitest loads this before each test file. Those that may run what is built wait: see `build.ts`.
 */

const LOOK_MS = 100
/** A first build takes up to a minute, and a busy machine longer. */
const PATIENCE_MS = 10 * 60_000

const file = process.env['BUILT_FILE']
if (file !== undefined && !isPure(expect.getState().testPath ?? '')) {
  const until = performance.now() + PATIENCE_MS
  while (!existsSync(file)) {
    if (performance.now() > until) throw new Error(`${file}: the build has not ended within ten minutes`)
    await sleep(LOOK_MS)
  }
}
