// What scripts and benchmarks say to arguments that they cannot use. Fails when one answers with a
// stack, takes a flag that there is not, or runs NaN rounds, of which none fails.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

function answerOf(script: string, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' })
  return { status, stdout, stderr }
}

const scripts = ['scripts', 'bench'].flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.mjs') && name !== 'usage.mjs')
    .map((name) => ({ script: `${folder}/${name}`, text: readFileSync(`${folder}/${name}`, 'utf8') })),
)

describe('a script', () => {
  test('reads its flags in one place', () => {
    expect(scripts.filter(({ text }) => text.includes('parseArgs(')).map(({ script }) => script)).toEqual([])
  })

  test.each(scripts.filter(({ text }) => text.includes('givenArguments(')).map(({ script }) => script))(
    'refuses a flag that it has not, in one line: %s',
    (script) => {
      const name = script.replace(/.*\//, '')
      expect(answerOf(script, '--nope')).toEqual({
        status: 2,
        stdout: '',
        stderr: expect.stringMatching(new RegExp(`^${name}: Unknown option '--nope', allowed: (?:--.+|none)\\n$`)),
      })
    },
  )

  test.each([
    ['scripts/lives.mjs', ['x'], 'lives.mjs: runs: got "x", allowed: a whole number from 1'],
    ['scripts/proxies.mjs', ['--rounds', 'x'], 'proxies.mjs: --rounds: got "x", allowed: a whole number from 1'],
    ['scripts/soak.mjs', ['--minutes', '0'], 'soak.mjs: --minutes: got "0", allowed: a whole number from 1'],
    ['scripts/loss.mjs', ['--seed', '1e3'], 'loss.mjs: --seed: got "1e3", allowed: a whole number'],
    ['bench/overhead.mjs', ['--generations', ''], 'overhead.mjs: --generations: got "", allowed: a whole number from 1'],
    ['scripts/soak.mjs', ['--seed', '--minutes'], "soak.mjs: Option '--seed' argument is ambiguous, allowed: --minutes, --seed"],
    ['scripts/house.mjs', ['x'], "house.mjs: Unexpected argument 'x', allowed: --json, --all"],
    ['scripts/mutation.mjs', ['--check', 'x'], 'mutation.mjs: --check: got "x", allowed: a whole number from 1'],
    ['scripts/mutation.mjs', ['--new', '--check'], 'mutation.mjs: got --new --check, allowed: one of TEXT, --new, --document, --check [N]'],
    ['scripts/mutation.mjs', ['nothing'], 'mutation.mjs: got "nothing", allowed: a part of the name of a mutant'],
    ['scripts/mutation-code.mjs', ['lst'], 'mutation-code.mjs: how many, or again, list or document: got "lst", allowed: a whole number'],
    [
      'scripts/api-clients.mjs',
      ['rust'],
      'api-clients.mjs: got "rust", allowed: the beginning of go informer, go watch, js informer, python watch',
    ],
    ['bench/resources.mjs', ['fast'], 'resources.mjs: got "fast", allowed: quick, or nothing'],
  ])('refuses what it cannot use: %s %j', (script, args, why) => {
    expect(answerOf(script, ...args)).toEqual({ status: 2, stdout: '', stderr: `${why}\n` })
  })
})
