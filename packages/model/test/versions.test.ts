// Fails when: the checker does not work with a version of xstate that its peer range allows, or the
// range allows one that is not tried here.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Placed, sourcesOfModel } from './placed.ts'

const PACKAGE = join(import.meta.dirname, '..')
const placed = new Placed()

interface Manifest {
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}
const { peerDependencies, devDependencies } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as Manifest
/** Beside the newest, which all other tests use: the oldest that works, and some between. */
const VERSIONS = Object.keys(devDependencies).filter((name) => name.startsWith('xstate-'))

/** What is run with each: every edge of the systems that use all that is supported, taken live. */
const PROGRAM = `import * as systems from './systems.mjs'
import { REACHING } from './reaching.mjs'
import { alphabet } from './machines.mjs'
import { check, explore, mismatches, noErrors } from '@quiesce/model'
console.warn = () => {}
const wrong = []
for (const [name, machine] of Object.entries({ ...REACHING, ...systems })) {
  const exploration = explore(machine, { events: alphabet(machine), statesMax: 2_000 })
  check(exploration, [noErrors()])
  if (mismatches(exploration, { every: 'edge', sample: 3 }).length > 0) wrong.push(name)
}
console.log(JSON.stringify({ systems: Object.keys(systems).length + Object.keys(REACHING).length, wrong }))
`

const PROGRAMS = {
  program: PROGRAM,
  ...Object.fromEntries(['systems', 'reaching', 'machines'].map((name) => [name, readFileSync(join(PACKAGE, `test/${name}.ts`), 'utf8')])),
}

test.each(VERSIONS)('the systems of this suite, with %s', (version) => {
  const { stdout, stderr } = spawnSync(process.execPath, ['program.mjs'], {
    cwd: placed.at(version, version, sourcesOfModel(), PROGRAMS),
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  const { systems, wrong } = JSON.parse(stdout) as { readonly systems: number; readonly wrong: readonly string[] }
  expect(wrong).toEqual([])
  expect(systems).toBeGreaterThan(15)
})

test('the peer range begins at the oldest of them', () => {
  const [oldest = ''] = VERSIONS.map((name) => devDependencies[name] ?? '').sort()
  expect(peerDependencies['xstate']).toBe(oldest.replace('npm:xstate@', '^'))
})
