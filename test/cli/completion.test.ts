// Fails when: a shell offers something that there is not, leaves out a command, a flag or a value,
// or cannot read the script at all. Shells that are not on this machine are not asked.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { PAGE } from '#apiserver/cli/page.ts'
import { COMMANDS } from '#src/cli/command-names.ts'
import { COMMAND_PAGES } from '#src/cli/command-pages.ts'
import { bashCompletion } from '#src/cli/completion/bash.ts'
import { completedCommands } from '#src/cli/completion/completed.ts'
import { fishCompletion } from '#src/cli/completion/fish.ts'
import { zshCompletion } from '#src/cli/completion/zsh.ts'
import { runCommand } from '../support/run-cli.ts'

const folder = mkdtempSync(join(tmpdir(), 'quiesce-completion-'))
afterAll(() => rmSync(folder, { recursive: true }))
writeFileSync(join(folder, 'report one.json'), '')
writeFileSync(join(folder, 'recorded.ndjson'), '')

const isHere = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0
const OF_SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion }
const commands = completedCommands(PAGE)
const SCRIPTS = {
  bash: () => bashCompletion(commands),
  zsh: () => zshCompletion(commands),
  fish: () => fishCompletion(commands),
}
for (const [shell, script] of Object.entries(SCRIPTS)) writeFileSync(join(folder, `script.${shell}`), script())

test.each(Object.keys(SCRIPTS) as (keyof typeof SCRIPTS)[])('the completion of %s is printed by its command', async (shell) => {
  expect(await runCommand('completion', shell)).toEqual({ code: 0, out: SCRIPTS[shell](), err: '' })
})

test.each([
  [[], 'got no shell'],
  [['tcsh'], 'got "tcsh"'],
  [['toString'], 'got "toString"'],
])('%j is refused', async (args, what) => {
  expect(await runCommand('completion', ...args)).toEqual({
    code: 2,
    out: '',
    err: `quiesce: completion: ${what}, allowed: bash, zsh, fish\n`,
  })
})

test.each(Object.entries(SCRIPTS))('%s knows every command and every flag', (shell, script) => {
  const text = script()
  for (const name of COMMANDS) {
    expect(text).toContain(name)
    for (const flag of COMMAND_PAGES[name].flags) expect(text).toContain(shell === 'fish' ? ` -l ${flag.name} ` : `--${flag.name}`)
  }
  for (const flag of PAGE.flags) expect(text).toContain(shell === 'fish' ? ` -l ${flag.name} ` : `--${flag.name}`)
})

test.each(Object.values(OF_SHELLS))('%s has no command apiserver where its package is not installed', (script) => {
  expect(script(completedCommands(undefined))).not.toContain('secure-port')
})

/** What bash offers for the last of these words, behind `quiesce` or another program. */
const offeredByBash = (...words: readonly string[]): string[] => offeredFor('quiesce', '_quiesce', words)

function offeredFor(program: string, completion: string, words: readonly string[]): string[] {
  const script = `
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
${completion}
printf '%s\\n' "\${COMPREPLY[@]}"`
  const args = ['--norc', '-c', script, 'bash', join(folder, 'script.bash'), program, ...words]
  return execFileSync('bash', args, { cwd: folder, encoding: 'utf8' }).split('\n').filter(Boolean)
}

const flagsOf = (name: (typeof COMMANDS)[number]): string[] => COMMAND_PAGES[name].flags.map((flag) => `--${flag.name}`)

describe.runIf(isHere('bash'))('bash offers', () => {
  test.each<[readonly string[], readonly string[]]>([
    [[''], [...COMMANDS, 'apiserver', 'help', 'version', '--help', '--version']],
    [['apiserver', '--secure'], ['--secure-port']],
    [
      ['apiserver', '--audit-log-mode', 'block'],
      ['blocking', 'blocking-strict'],
    ],
    [['apiserver', 'rec'], ['recorded.ndjson']],
    [['re'], ['report']],
    [['serve', '--shutdown'], flagsOf('serve').filter((name) => name.startsWith('--shutdown'))],
    [
      ['serve', '--notify-clients', ''],
      ['gradual', 'at-once', 'after-delay'],
    ],
    [['serve', '--notify-clients', '=', 'g'], ['gradual']],
    [
      ['serve', '--notify-clients', '='],
      ['gradual', 'at-once', 'after-delay'],
    ],
    [['serve', '--no-pre'], ['--no-pretty']],
    [['serve', '--port', ''], []],
    [['serve', '--port', '80', '--dead'], ['--deadline']],
    [['serve', '--report-file', 'rep'], ['report one.json']],
    [['report', 'rec'], ['recorded.ndjson']],
    [['serve', ''], []],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['help', 'ch'], ['check']],
    [['nonsense', ''], []],
  ])('for %j: %j', (words, offered) => {
    expect(offeredByBash(...words)).toEqual(offered)
  })

  test.each<[readonly string[], readonly string[]]>([
    [['--secure'], ['--secure-port']],
    [['--audit-log-mode', '=', 'ba'], ['batch']],
    [['rec'], ['recorded.ndjson']],
  ])('for quiesce-apiserver %j: %j', (words, offered) => {
    expect(offeredFor('quiesce-apiserver', '_quiesce_apiserver', words)).toEqual(offered)
  })

  test('every flag of every command', () => {
    for (const name of COMMANDS) expect(offeredByBash(name, '--')).toEqual(expect.arrayContaining([...flagsOf(name), '--help']))
  })
})

describe.runIf(isHere('zsh'))('zsh', () => {
  test('can read it', () => {
    execFileSync('zsh', ['-n', join(folder, 'script.zsh')])
  })

  test.each([
    ['quiesce', 'apiserver', '--secure'],
    ['quiesce-apiserver', '--secure'],
  ])('completes the flags of %s', (...words) => {
    const script = `
compdef() { :; }
_arguments() { print -l -- "$@"; }
source "$1"; shift
words=("$@"); CURRENT=$#; service=$1
_quiesce`
    const offered = execFileSync('zsh', ['-f', '-c', script, 'zsh', join(folder, 'script.zsh'), ...words], { encoding: 'utf8' })
    for (const { name } of PAGE.flags) expect(offered).toContain(`--${name}`)
  })
})

describe.runIf(isHere('fish'))('fish offers', () => {
  const offered = (line: string): string[] =>
    execFileSync('fish', ['--no-config', '-c', `source ${join(folder, 'script.fish')}; complete -C '${line}'`], {
      cwd: folder,
      encoding: 'utf8',
    })
      .split('\n')
      .flatMap((each) => each.split('\t')[0] || [])

  test.each<[string, readonly string[]]>([
    ['quiesce re', ['report']],
    ['quiesce serve --notify-clients ', ['after-delay', 'at-once', 'gradual']],
    ['quiesce serve --port ', []],
    ['quiesce report rec', ['recorded.ndjson']],
    ['quiesce apiserver --secure', ['--secure-port']],
    ['quiesce-apiserver --secure', ['--secure-port']],
  ])('for "%s": %j', (line, words) => {
    expect(offered(line)).toEqual(words)
  })
})
