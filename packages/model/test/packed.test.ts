// Fails when: what would be published does not work in an empty folder: the package, its command,
// its examples, a program of its README.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const PACKAGE = join(import.meta.dirname, '..')
const INSTALLED = 'node_modules/@quiesce/model'
const folder = mkdtempSync(join(tmpdir(), 'quiesce-model-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/**
 * As npm lays it out, without asking a registry: the tarball, and xstate beside it. Built as for a
 * release, but for the types, which the type check of the whole project looks at.
 */
beforeAll(() => {
  execFileSync(process.execPath, [join(PACKAGE, '../../node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json', '--noCheck'], {
    cwd: PACKAGE,
  })
  const pack = ['pack', '--ignore-scripts', '--json', '--silent', '--pack-destination', folder]
  const packed = execFileSync('npm', pack, { cwd: PACKAGE, encoding: 'utf8' })
  const [{ filename }] = JSON.parse(packed.slice(packed.indexOf('['))) as [{ readonly filename: string }]
  mkdirSync(join(folder, INSTALLED), { recursive: true })
  execFileSync('tar', ['-xzf', join(folder, filename), '--strip-components=1', '-C', join(folder, INSTALLED)])
  symlinkSync(join(PACKAGE, '../../node_modules/xstate'), join(folder, 'node_modules/xstate'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n')
}, 120_000)

function run(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  return { status, stdout, stderr }
}
const model = (...args: readonly string[]) => run(`${INSTALLED}/dist/cli.js`, ...args)
const example = (name: string): string => `${INSTALLED}/examples/${name}.mjs`

test('three actors that wait for each other: the deadlock is found, with the way there', () => {
  const { status, stdout } = model(example('philosophers'))
  expect(stdout).toMatch(/FAILS {2}no-deadlock/)
  // Each has one fork and waits for the next.
  expect(stdout).toContain('waiting: [null, 0, 1] → [2, 0, 1]\n')
  expect(stdout).toMatch(/=> nothing can happen in this state, and the root is not done\n$/)
  expect(status).toBe(1)
})

test('the same three, who take the lower fork first: nothing is wrong', () => {
  expect(model(example('philosophers-in-order'))).toMatchObject({ status: 0, stdout: expect.not.stringContaining('FAILS') as string })
})

test('tic-tac-toe has as many positions as others have counted', () => {
  const { status, stdout } = model(example('tic-tac-toe'))
  expect(stdout).toMatch(/^tic-tac-toe: 5478 states,/)
  expect(stdout).not.toContain('FAILS')
  expect(status).toBe(0)
})

test.each([
  [['no-such-module.mjs'], /Cannot find module/],
  [[example('tic-tac-toe'), '--states-max', '10'], /more than 10 states/],
  [[example('tic-tac-toe'), '--states-max', 'many'], /--states-max: got many/],
  [[], /give one module; there were/],
  [[example('tic-tac-toe'), '--mermiad'], /Unknown option '--mermiad'.* \(did you mean --mermaid\?\)/],
])('%j is refused in one line', (args, reason) => {
  const { status, stderr } = model(...args)
  expect(stderr).toMatch(reason)
  expect(stderr.trimEnd().split('\n')[0]).toMatch(/^quiesce-model: /)
  expect(status).toBe(2)
})

/** A module beside the installed package. */
function system(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return name
}
const DOOR = `import { createMachine } from 'xstate'
import { inOrder, mayBeVacuous } from '@quiesce/model'
export default createMachine({
  id: 'door',
  initial: 'shut',
  states: { shut: { on: { open: 'open', kick: 'broken' } }, open: { on: { shut: 'shut' } }, broken: {} },
})
`

test('says which states are never reached, and which transitions never taken', () => {
  const { status, stdout } = model(system('door.mjs', `${DOOR}export const events = [{ type: 'open' }, { type: 'shut' }]\n`))
  expect(stdout.split('\n').slice(3)).toEqual([
    '  never reached: door.broken',
    '  never taken: door.shut on kick → door.broken (unheard)',
    '',
  ])
  expect(status).toBe(0)
})

const ORDER = "inOrder('order', 'x before y', ({ type }) => type, [], 'shuts')"
const SHUTS = DOOR.replace("shut: 'shut'", "shut: { target: 'shut', actions: { type: 'shuts', params: {} } }").replace(
  'open: { on:',
  "open: { after: { 10: 'shut' }, on:",
)

test('a property that is about nothing fails, unless that is meant', () => {
  const vacuous = (property: string) =>
    model(system('vacuous.mjs', `${SHUTS}export const events = [{ type: 'open' }]\nexport const properties = [${property}]\n`))
  expect(vacuous(ORDER)).toMatchObject({
    status: 1,
    stdout: expect.stringContaining('  FAILS  order: x before y (vacuous: no run says "shuts")\n') as string,
  })
  expect(vacuous(`mayBeVacuous(${ORDER})`)).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('  holds  order: x before y (vacuous: no run says "shuts")\n') as string,
  })
})

test.each([
  ['an export that is nearly one', 'export const event = []', 'exports event, which is not read (did you mean "events"?)'],
  ['an event', "export const events = [{ type: 'opne' }]", 'no transition of door takes the event "opne" (did you mean "open"?)'],
  ['a name', `export const properties = [${ORDER.replace("'shuts'", "'shtus'")}]`, 'order: no action says "shtus" (did you mean "shuts"?)'],
])('%s that names nothing is refused', (_, text, message) => {
  const { status, stderr } = model(system('typo.mjs', `${SHUTS}${text}\n`))
  expect(stderr).toContain(message)
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  expect(status).toBe(2)
})

const readme = readFileSync(join(PACKAGE, 'README.md'), 'utf8')
const blocks = [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, text = '']) => ({ language, text }))

test.each(blocks.filter(({ language }) => language === 'js').map(({ text }) => text))('a program of the README ends well: %#', (text) => {
  // One is a module to check; loading it is all there is to do.
  writeFileSync(join(folder, 'program.mjs'), text)
  expect(run('program.mjs')).toMatchObject({ status: 0, stderr: '' })
})

test.each(blocks.filter(({ language }) => language === 'console').map(({ text }) => text))('prints what the README says: %#', (text) => {
  const [command = '', ...expected] = text.trimEnd().split('\n')
  const [, module = ''] = /^\$ npx @quiesce\/model (\S+)$/.exec(command) ?? []
  const { stdout } = model(module)
  for (const line of expected.filter((other) => other !== '…')) expect(stdout.split('\n')).toContain(line)
})
