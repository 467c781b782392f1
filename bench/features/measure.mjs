// What `npm run bench -- features` does: it observes all systems, and says what that means.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { readResult } from '../sections.mjs'
import { judge } from './judge.mjs'
import { observe, systems as systemsOf } from './observations.mjs'
import { versionsOf } from './packages.mjs'

/** A look: ours alone, and of that only what takes a moment. */
export const QUICK_LIVES = ['start', 'drain', 'late', 'streams', 'order', 'misuse']

/** Whether only some are observed, as `BENCH_SYSTEMS=envoy,go`; the others stay as they were kept. */
const CHOSEN = process.env.BENCH_SYSTEMS?.split(',')

/** @param {{ quick?: boolean, only?: string[], lives?: string[], say?: (line: string) => void }} how */
export async function measureFeatures({
  quick = false,
  only = quick ? ['quiesce'] : CHOSEN,
  lives = quick ? QUICK_LIVES : undefined,
  say,
} = {}) {
  if (only === undefined || only.includes('effect')) install()
  const { systems, found } = await observe({ only, lives, say })
  const measured = Object.fromEntries(
    systems.map((system) => [
      system.file,
      { name: system.name, packages: system.versions ?? versionsOf(system), verdicts: judge(found[system.file], system) },
    ]),
  )
  return { systems: only && only === CHOSEN ? await amongKept(measured) : measured }
}

/** In the order of all, each that is not measured now with when it was. */
async function amongKept(measured) {
  const last = readResult('features')
  const earlier = (system) => system && { ...system, run: system.run ?? { date: last.date, commit: last.commit } }
  const all = (await systemsOf()).map(({ file }) => [file, measured[file] ?? earlier(last.systems[file])])
  return Object.fromEntries(all.filter(([, system]) => system))
}

/** What needs a newer Node than this repository. */
function install() {
  const cwd = fileURLToPath(new URL('systems/effect', import.meta.url))
  execFileSync('npm', ['install', '--no-workspaces', '--no-package-lock', '--no-audit', '--no-fund', '--silent'], { cwd, stdio: 'inherit' })
}
