// @ts-check
// `npm run kubectl`: builds the kubectl of today from upstream's own module (scripts/kubectl/go.mod says which version; needs Go, and minutes), and
// runs what test/groups/kubectl.test.ts asks of it. Machines of CI have an older one from their distribution.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url))
const [, minor, patch] = /k8s\.io\/kubectl v0\.(\d+)\.(\d+)/.exec(readFileSync(here('kubectl/go.mod'), 'utf8')) ?? []
if (minor === undefined) throw new Error('scripts/kubectl/go.mod names no version of k8s.io/kubectl')
const KUBECTL = here('../.results/kubectl')
const words = { gitVersion: `v1.${minor}.${patch}`, gitMajor: '1', gitMinor: minor }
const named = Object.entries(words).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
execFileSync('go', ['build', '-ldflags', named.join(' '), '-o', KUBECTL, '.'], { cwd: here('kubectl'), stdio: 'inherit' })
console.log(execFileSync(KUBECTL, ['version', '--client'], { encoding: 'utf8' }))
const { status } = spawnSync('npx', ['vitest', 'run', 'test/groups/kubectl.test.ts'], {
  cwd: here('..'),
  env: { ...process.env, KUBECTL },
  stdio: 'inherit',
})
process.exitCode = status ?? 1
