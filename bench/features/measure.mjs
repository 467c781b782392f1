// What `npm run bench -- features` does: it observes all systems, and says what that means.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { judge } from './judge.mjs'
import { observe } from './observations.mjs'
import { versionsOf } from './packages.mjs'

/** A look: ours alone, and of that only what takes a moment. */
export const QUICK_LIVES = ['drain', 'late', 'streams', 'order', 'misuse']

/** @param {{ quick?: boolean, only?: string[], lives?: string[], say?: (line: string) => void }} how */
export async function measureFeatures({
  quick = false,
  only = quick ? ['quiesce'] : undefined,
  lives = quick ? QUICK_LIVES : undefined,
  say,
} = {}) {
  if (only === undefined) install()
  const { systems, found } = await observe({ only, lives, say })
  return {
    systems: Object.fromEntries(
      systems.map((system) => [
        system.file,
        { name: system.name, packages: system.versions ?? versionsOf(system), verdicts: judge(found[system.file], system) },
      ]),
    ),
  }
}

/** What needs a newer Node than this repository. */
function install() {
  const cwd = fileURLToPath(new URL('systems/effect', import.meta.url))
  execFileSync('npm', ['install', '--no-workspaces', '--no-package-lock', '--no-audit', '--no-fund', '--silent'], { cwd, stdio: 'inherit' })
}
