// Modules of users that misbehave while a command looks at them, in a process of its own. Fails
// when: a module that ends the process, crashes it or prints has the exit code of a verdict, a
// document that is no JSON, or a stack of ours; or a module that ends `quiesce run` does so in
// silence.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { TestProcess } from '../support/process.ts'
import { folderOfTheseTests } from '../support/run-cli.ts'

const DIST = fileURLToPath(new URL('../../dist/', import.meta.url))
const folder = folderOfTheseTests()

const LIFE = `
import { createServer } from ${JSON.stringify(`${DIST}index.js`)}
import { always, alongEdges, happening, inOrder, monitored } from ${JSON.stringify(`${DIST}testing.js`)}
const server = createServer(() => new Response('x'), { platform: 'kubernetes', port: 0 })
server.addPreShutdownHook('leave', async () => {})
export default server
`
let modules = 0

async function looked(command: readonly string[], text: string, flag = '--config') {
  modules += 1
  const file = join(folder, `module-${modules}.mjs`)
  writeFileSync(file, text)
  const [name = '', ...rest] = command
  const args = flag === '' ? [name, file, ...rest] : [name, flag, file, ...rest]
  const program = new TestProcess([process.execPath, `${DIST}cli.js`, ...args], {}, '')
  const { code } = await program.ended()
  return { code, stdout: program.stdout, stderr: program.stderr.replaceAll(file, 'FILE') }
}

const CHECK = ['check', '--outside', 'stop']
const COMMANDS = [CHECK, ['plan'], ['diagram', '--format', 'mermaid', '--out', join(folder, 'pictures')]]
const ALLOWED = 'an ES module whose default export is a server, or a function that makes one'
const refusal = (why: string): string => `quiesce: --config: got "FILE", allowed: ${ALLOWED} (${why} before the command was done)\n`

describe('no verdict is that of a module which', () => {
  test.each(COMMANDS)('ends the process, as it is imported or later: %s', async (...command) => {
    for (const text of ['process.exit(0)', `${LIFE}setImmediate(() => process.exit(0))`]) {
      const { code, stderr } = await looked(command, text)
      expect({ code, stderr }).toEqual({ code: 2, stderr: refusal('it ended the process with exit code 0') })
    }
  })

  test.each(COMMANDS)('fails as its export is looked at: %s', async (...command) => {
    const { code, stderr } = await looked(command, `export default { get fetch() { throw new Error('not yet') } }`)
    expect({ code, stderr }).toEqual({ code: 2, stderr: `quiesce: --config: got "FILE", allowed: ${ALLOWED} (it failed: not yet)\n` })
  })

  test.each(COMMANDS)('throws in a callback: %s', async (...command) => {
    const { code, stderr } = await looked(command, `${LIFE}setImmediate(() => { throw new Error('no database') })`)
    expect({ code, stderr }).toEqual({ code: 2, stderr: refusal('it threw in a callback: no database') })
  })

  test.each(COMMANDS)('has a promise rejected: %s', async (...command) => {
    const { code, stderr } = await looked(command, `${LIFE}Promise.reject(new Error('no database'))`)
    expect({ code, stderr }).toEqual({ code: 2, stderr: refusal('a promise of its own was rejected: no database') })
  })

  test('sets the exit code itself', async () => {
    expect(await looked(CHECK, `${LIFE}process.exitCode = 1`)).toMatchObject({ code: 0, stderr: '' })
  })

  test('has another exit code in mind when the verdict is there', async () => {
    const text = `${LIFE}process.on('exit', () => { process.exitCode = 0 })
export const properties = [always('mine', 'never', () => false)]`
    expect(await looked(CHECK, text)).toMatchObject({ code: 1, stderr: '' })
  })
})

test.each([[[...CHECK, '--json']], [['plan', '--json']]])('what a module prints is in no document: %s', async (command) => {
  const text = `${LIFE}
console.log('at import')
setImmediate(() => console.log('later'))
export const properties = [always('mine', 'all', () => { process.stdout.write(''); return true })]`
  const { code, stdout, stderr } = await looked(command, text)
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toBeInstanceOf(Object)
  expect(stderr).toContain('at import\n')
})

describe('a property that cannot be asked is the mistake of its file:', () => {
  test.each([
    ['names what there is not', `inOrder('q', 'x', happening, ['RequestsDrained'], 'pre-shutdown leav ends')`, /^q: no action says/],
    ['throws', `always('my/prop', 'x', () => { throw new Error('oh') })`, /^my\/prop: its function throws in the state .+: oh$/],
    [
      'reads what there is not',
      `always('my/prop', 'x', (root) => root.context.nope.x > 1)`,
      /^my\/prop: its function throws in the state .+ \(reading 'x'\)$/,
    ],
    ['throws of a step', `alongEdges('my/prop', 'x', () => null.x)`, /^my\/prop: its function throws at .+ in the state .+: Cannot read/],
    [
      'throws in a monitor',
      `monitored('m', 'x', { initial: '', next: () => null.x })`,
      /^m: next of its monitor throws at .+ in its state ""/,
    ],
    ['throws by itself', `{ id: 'own', text: 'x', violation: () => null.x }`, /^own: it throws while it is checked: Cannot read/],
  ])('%s', async (_, property, words) => {
    const { code, stderr } = await looked(CHECK, `${LIFE}export const properties = [${property}]`)
    const [, said = ''] = /^quiesce: properties in FILE: (.*)\n$/.exec(stderr) ?? []
    expect({ code, said, stderr }).toEqual({ code: 2, said: expect.stringMatching(words), stderr: expect.any(String) })
  })
})

test('quiesce run says that its module has ended the process', async () => {
  expect(await looked(['run'], 'process.exit(0)', '')).toEqual({
    code: 3,
    stdout: '',
    stderr: 'quiesce: FILE: the process ended with exit code 0 while it was loaded, so there is no server\n',
  })
})
