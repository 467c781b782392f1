import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

const OF_A_RUN = 'quiesce-tests-'

/**
 * Vitest's global set-up: a run has a folder of its own for temporary files, in which nothing of
 * the tests may be left at its end. What they start with an environment of its own does not know
 * that folder.
 */
export default function ownFolder(): (() => void) | undefined {
  // Each project of a run asks for one.
  if (basename(tmpdir()).startsWith(OF_A_RUN)) return undefined
  const folder = mkdtempSync(join(tmpdir(), OF_A_RUN))
  process.env['TMPDIR'] = folder
  return () => {
    const left = readdirSync(folder).filter((name) => name.startsWith('quiesce-'))
    rmSync(folder, { recursive: true, force: true })
    if (left.length === 0) return
    process.exitCode = 1
    process.stderr.write(`tests have left temporary folders: ${left.join(', ')}; test/support/process.ts makes folders that are removed\n`)
  }
}
