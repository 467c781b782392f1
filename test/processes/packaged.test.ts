// Programs that are not a folder of ES modules which may read all of the machine. Fails when: what
// they load names a file of ours or a property of its module, a look around ends them, or two
// copies of the package in one process do not know of each other.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type OutputOptions } from 'rolldown'
import { describe, expect, test } from 'vitest'
import { startSpeaking, TestProcess, temporaryFolder } from '../support/process.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const fixture = (name: string): string => join(ROOT, 'test/fixtures', name)

/** One file of all that the fixture needs but node, in a folder that has nothing else. */
async function bundled(name: string, output: OutputOptions): Promise<string> {
  const folder = temporaryFolder()
  const { output: files } = await build({
    input: fixture(name),
    platform: 'node',
    logLevel: 'silent',
    output: { dir: folder, codeSplitting: false, ...output },
  })
  const [entry] = files
  return join(folder, entry.fileName)
}

const start = (command: readonly string[], reportFile: string): TestProcess =>
  new TestProcess([process.execPath, ...command], { speaksOn: 'stdout', env: { REPORT_FILE: reportFile } }, reportFile)

describe('a server that was bundled into a file of its own', () => {
  test.each([
    ['CommonJS', { format: 'cjs', entryFileNames: '[name].cjs' }],
    ['CommonJS, minified', { format: 'cjs', entryFileNames: '[name].cjs', minify: true }],
    ['ES modules', { format: 'esm', entryFileNames: '[name].mjs' }],
  ] as const)('as %s serves, shows its inspector, reports and ends', async (_, output) => {
    const file = await bundled('in-a-bundle.mjs', output)
    const program = start([file], join(file, '../report.json'))
    expect(await program.said('refused')).toBe('true true')
    const inspector = await program.said('inspected')
    for (const [path, type] of [
      ['', 'text/html'],
      ['main.js', 'text/javascript'],
      ['style.css', 'text/css'],
      ['icon.svg', 'image/svg+xml'],
    ]) {
      const response = await fetch(new URL(path ?? '', inspector))
      expect([path, response.status, response.headers.get('content-type')]).toEqual([path, 200, expect.stringContaining(type ?? '')])
      expect((await response.text()).length).toBeGreaterThan(100)
    }
    expect((await fetch(new URL('constructor', inspector))).status).toBe(404)
    const port = await program.serving()
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('done')
    program.signal('SIGTERM')
    expect((await program.ended()).code).toBe(0)
    expect(program.report()).toMatchObject({ exitCode: 0 })
  })
})

test('a process that may read its own program alone serves, and ends with 0', async () => {
  const file = await bundled('in-a-bundle.mjs', { format: 'esm', entryFileNames: '[name].mjs' })
  const own = join(file, '..')
  const major = Number(process.versions.node.split('.')[0])
  const flag = major >= 23 ? '--permission' : '--experimental-permission'
  const network = process.allowedNodeEnvironmentFlags.has('--allow-net') ? ['--allow-net'] : []
  // Its report file is not given, because it may not be written.
  const program = start([flag, ...network, `--allow-fs-read=${own}/*`, file], '')
  const port = await program.serving()
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('done')
  program.signal('SIGTERM')
  expect(await program.ended()).toMatchObject({ code: 0 })
})

test('two copies of the package know of each other', async () => {
  const program = startSpeaking('two-copies.mjs')
  const port = await program.serving()
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('done')
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(0)
  expect(program.lines.filter((line) => !line.startsWith('serving'))).toEqual([
    'copies true',
    'errors false true',
    'again ERR_ALREADY_ATTACHED true true',
    'signals true',
    'ended 0 0, 0 0',
  ])
})
