// Fails when: `quiesce diagram` does not write the pictures of a user's life, or does not name bad
// input in one line.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { folderOfTheseTests, runCommand } from '../support/run-cli.ts'

const folder = folderOfTheseTests()
const run = (...args: readonly string[]) => runCommand('diagram', ...args)

async function lifeModule(name: string, register: string): Promise<string> {
  const path = join(folder, name)
  const index = pathToFileURL(join(import.meta.dirname, '../../src/index.ts')).href
  await writeFile(
    path,
    `import { createServer } from ${JSON.stringify(index)}
const server = createServer({ listener: () => {} }, { whileDraining: 'retry-after', deadline: '20s' })
${register}
export default server
`,
  )
  return path
}

const filesIn = async (path: string): Promise<string[]> =>
  (await readdir(path, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).map(({ name }) => name)

describe('quiesce diagram', () => {
  test("writes a user's life, its own phases and mode included", async () => {
    const config = await lifeModule(
      'own.mjs',
      "server.addPhase('flush-queue', () => {}, { after: ['RequestsDrained'], before: ['destroy'] })",
    )
    const out = join(folder, 'own')
    const { code, out: printed, err } = await run('--config', config, '--out', out)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(printed.split('\n').slice(0, 4)).toEqual(
      ['lifecycle', 'lifecycle-states', 'wiring', 'sequence'].map((name) => join(out, `${name}.svg`)),
    )
    expect(await filesIn(out)).toHaveLength(printed.trimEnd().split('\n').length)
    for (const name of ['lifecycle', 'lifecycle-states', 'wiring', 'sequence']) {
      const svg = await readFile(join(out, `${name}.svg`), 'utf8')
      expect(svg).toMatch(/^<svg [\s\S]*<\/svg>\n$/)
      expect(svg).toContain('FlushQueueDone')
      expect(svg).toContain('close-listener-after-drain')
    }
  })

  test('writes Mermaid text', async () => {
    const out = join(folder, 'mermaid')
    expect(await run('--format', 'mermaid', '--out', out)).toMatchObject({ code: 0, err: '' })
    expect(await readFile(join(out, 'sequence.mmd'), 'utf8')).toMatch(/\nsequenceDiagram\n[\s\S]*outside->>lifecycle: SIGTERM\n/)
    expect(await readFile(join(out, 'machines/notify-clients.mmd'), 'utf8')).toMatch(/^stateDiagram-v2\n/)
  })

  test('names what it cannot use in one line', async () => {
    const file = join(folder, 'a-file')
    await writeFile(file, '')
    const cycle = await lifeModule(
      'cycle.mjs',
      "server.addPhase('a', () => {}, { after: ['b'] }); server.addPhase('b', () => {}, { after: ['a'] })",
    )
    const cases: [readonly string[], RegExp][] = [
      [['--format', 'png'], /^quiesce: --format: got "png", allowed: svg, mermaid\n$/],
      [['--out', join(file, 'x')], /^quiesce: --out: got .*, allowed: a folder that can be written \(ENOTDIR.*\)\n$/],
      [['--config', join(folder, 'gone.mjs')], /^quiesce: --config: got .*, allowed: an ES module .*\n$/],
      [['--config', cycle, '--out', join(folder, 'cycle')], /^quiesce: --config: got .*phases wait for each other: .*\n$/],
      [['--colour'], /^quiesce: --colour: unknown flag.*\n$/],
    ]
    for (const [args, message] of cases) {
      const { code, out, err } = await run(...args)
      expect({ code, out }).toEqual({ code: 2, out: '' })
      expect(err).toMatch(message)
    }
  })
})
