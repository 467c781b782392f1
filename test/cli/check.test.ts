// Fails when: `quiesce check` does not say what holds and what does not, by exit code, text and
// file, or does not name bad input in one line.
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { CheckedMode } from '#src/cli/printed-verdicts.ts'
import type { JournalEntry } from '#src/inspector/protocol.ts'
import { folderOfTheseTests, runCommand } from '../support/run-cli.ts'

const folder = folderOfTheseTests()
const run = (...args: readonly string[]) => runCommand('check', ...args)

const source = (path: string): string => JSON.stringify(pathToFileURL(join(import.meta.dirname, '../../src', path)).href)

/** A module as a user writes it, with a phase that follows `after`. */
async function lifeModule(name: string, after: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(
    path,
    `import { createServer } from ${source('index.ts')}
import { happening, inOrder } from ${source('testing/index.ts')}
export default async () => {
  const server = createServer({ listener: () => {} }, { deadline: '20s' })
  server.addPhase('flush-queue', () => {}, { after: ['${after}'] })
  return server
}
export const properties = [inOrder('queue/last', 'the queue is flushed last', happening, ['RequestsDrained'], 'flush-queue starts')]
`,
  )
  return path
}

describe('quiesce check', () => {
  test('a life that holds', async () => {
    const { code, out, err } = await run('--config', await lifeModule('good.mjs', 'RequestsDrained'), '--outside', 'stop', '--mode', 'both')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const [, held, all] =
      /^refuse: (\d+) of (\d+) hold, [\d ]+ states, \d+\.\d s\n.* never taken .*\nretry-after: \d+ of \d+ hold, .*\n.*\n$/.exec(out) ?? []
    expect(Number(held)).toBeGreaterThan(50)
    expect(held).toBe(all)
  })

  test('three post-start hooks for all, unless a property may name any of them', async () => {
    const lives = async (name: string, properties: string, ...more: string[]) => {
      const path = join(folder, name)
      await writeFile(
        path,
        `import { createServer } from ${source('index.ts')}
import { happening, inOrder } from ${source('testing/index.ts')}
const server = createServer({ listener: () => {} })
for (const name of ['a', 'b', 'c', 'd', 'e']) server.addPostStartHook(name, () => {})
export default server
${properties}`,
      )
      return run('--config', path, '--outside', 'stop', '--mode', 'refuse', ...more)
    }
    const { code, out } = await lives('hooks.mjs', '')
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringContaining('\n  3 of 5 post-start hooks stand for all: they differ in nothing but their names\n') as string,
    })
    const printed = await lives('hooks-too.mjs', '', '--json')
    expect(JSON.parse(printed.out)).toMatchObject({ lives: [{ postStartHooks: { registered: 5, explored: 3 } }] })
    const own = "export const properties = [inOrder('e/last', 'x', happening, ['StopRequested'], 'Ended')]"
    const named = await lives('hooks-named.mjs', own, '--json')
    expect(JSON.parse(named.out)).toMatchObject({ lives: [{ postStartHooks: { registered: 5, explored: 5 } }] })
  })

  test('ten of a kind side by side add to the states and do not multiply them', async () => {
    const states = async (name: string, adds: string) => {
      const path = join(folder, name)
      const text = `import { createServer } from ${source('index.ts')}
const server = createServer({ listener: () => {} })
for (let i = 0; i < 10; i++) ${adds}
export default server
`
      await writeFile(path, text)
      const { code, out } = await run('--config', path, '--outside', 'stop', '--mode', 'refuse', '--json')
      const [life] = (JSON.parse(out) as { lives: { states: number; muxSignals: object }[] }).lives
      return { code, isSmall: (life?.states ?? Number.NaN) < 20_000, muxSignals: life?.muxSignals }
    }
    const all = {
      hooks: await states('side-by-side.mjs', 'server.addPreShutdownHook(`h${i}`, () => {}, { after: [] })'),
      phases: await states('phases.mjs', "server.addPhase(`p${i}`, () => {}, { after: ['RequestsDrained'], before: ['destroy'] })"),
      signals: await states('signals.mjs', 'server.addMuxCompleteSignal(`m${i}`, new AbortController().signal)'),
    }
    const none = { registered: 0, explored: 0 }
    expect(all).toEqual({
      hooks: { code: 0, isSmall: true, muxSignals: none },
      phases: { code: 0, isSmall: true, muxSignals: none },
      signals: { code: 0, isSmall: true, muxSignals: { registered: 10, explored: 3 } },
    })
  })

  test('a property that is about nothing does not hold, alone and before one that is violated', async () => {
    const path = await lifeModule('vacuous.mjs', 'NotAcceptingNewRequest')
    const text = await readFile(path, 'utf8')
    const vacuous = "inOrder('queue/nothing', 'x', happening, ['RequestsDrained'], 'Serving')"
    await writeFile(path, text.replace('properties = [', `properties = [${vacuous}, `))
    const args = ['--config', path, '--outside', 'stop', '--mode', 'refuse', '--property']
    const alone = await run(...args, 'queue/nothing')
    expect(alone).toMatchObject({
      code: 1,
      out: expect.stringContaining(
        '(vacuous: no run says "Serving"; no event starts the life, because `outside` has no "start")',
      ) as string,
    })
    expect(await run(...args, 'queue/nothing', '--json')).toMatchObject({
      code: 1,
      out: expect.stringContaining('"holds": false') as string,
    })
    const { code, out } = await run(...args.slice(0, -1))
    expect({ code, out }).toEqual({
      code: 1,
      out: expect.stringContaining('=> flush-queue starts is said before RequestsDrained') as string,
    })
  })

  test('all that holds, when it is asked for, and all of it for programs', async () => {
    const args = ['--config', await lifeModule('told.mjs', 'RequestsDrained'), '--outside', 'stop', '--mode', 'refuse']
    const { out } = await run(...args, '--verbose')
    expect(out).toMatch(/^refuse: (\d+) of \1 hold, .*\n {2}holds {2}no-errors +the root never ends in an error\n/)
    expect(out).toMatch(/^ {2}holds {2}queue\/last +the queue is flushed last$/m)
    const printed = await run(...args, '--json')
    const { holds, lives, counterexample } = JSON.parse(printed.out) as { holds: boolean; lives: CheckedMode[]; counterexample: null }
    expect({ code: printed.code, holds, counterexample }).toEqual({ code: 0, holds: true, counterexample: null })
    expect(lives).toMatchObject([{ mode: 'refuse', states: expect.any(Number), edges: expect.any(Number), ms: expect.any(Number) }])
    expect(lives[0]?.properties).toContainEqual({ id: 'queue/last', text: 'the queue is flushed last', holds: true })
    const coverage = [...(lives[0]?.unreached ?? []), ...(lives[0]?.untaken ?? [])]
    expect(coverage.length).toBeGreaterThan(20)
    expect(lives[0]?.properties).toHaveLength(out.split('\n').length - 2 - coverage.length)
    expect(out).toMatch(/^ {2}never reached {2}lifecycle\./m)
    expect(out).toMatch(/^ {2}never taken {2}lifecycle\..* \(unheard\)$/m)
  })

  test('what fails, for programs, with the way there', async () => {
    const config = await lifeModule('told-bad.mjs', 'NotAcceptingNewRequest')
    const { code, out } = await run('--config', config, '--outside=stop', '--property=queue/last', '--json')
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      holds: false,
      lives: [{ properties: [{ id: 'queue/last', holds: false }] }],
      counterexample: { property: 'queue/last', mode: 'refuse', steps: expect.arrayContaining(['0 start', '1 stop.requested']) },
    })
  })

  test('a life that does not: the way there as a list, a diagram and a journal', async () => {
    const file = join(folder, 'trace.ndjson')
    const config = await lifeModule('bad.mjs', 'NotAcceptingNewRequest')
    const { code, out } = await run('--config', config, '--outside=stop', '--property=queue/last', '--mermaid', '--trace-file', file)
    expect(code).toBe(1)
    const finding = 'flush-queue starts is said before RequestsDrained'
    expect(out).toMatch(
      /^refuse: 0 of 1 hold, .*\n {2}FAILS {2}queue\/last {2}the queue is flushed last\n.* never taken .*\n\nqueue\/last\n0 start\n1 stop\.requested\n/,
    )
    expect(out).toContain(`    flush-queue starts\n    skipped: audit-run, `)
    expect(out).toContain(`\n=> ${finding}\n\n---\nconfig:\n`)
    expect(out).toContain('\nsequenceDiagram\n')
    const journal = (await readFile(file, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as JournalEntry)
    expect(journal.map(({ n }) => n)).toEqual(journal.map((_, i) => i + 1))
    expect(journal[0]).toMatchObject({ kind: 'opening', source: 'counter-example', title: finding })
    expect(journal).toContainEqual(
      expect.objectContaining({ kind: 'fact', event: { at: 1, type: 'phase.started', phase: 'flush-queue', limitMs: 5_000 } }),
    )
    expect(journal).toContainEqual(expect.objectContaining({ kind: 'actor', actor: 'flush-queue', parent: 'root', machine: 'hook' }))
    expect(journal).toContainEqual(expect.objectContaining({ kind: 'sent', to: 'root', event: { type: 'stop.requested' } }))
  })

  test('bounds in time, when they are asked for', async () => {
    const holds = await run('--config', await lifeModule('in-time.mjs', 'RequestsDrained'), '--outside=stop', '--timed', '--verbose')
    expect(holds).toMatchObject({ code: 0, err: '' })
    expect(holds.out).toMatch(/^ {2}holds {2}timed\/ends-within-deadline +the end comes within the deadline$/m)
    expect(holds.out).toMatch(/^ {2}holds {2}timed\/reserve-of-flush +report has its reserve before its cut$/m)

    const path = join(folder, 'starved.mjs')
    await writeFile(
      path,
      `import { createServer } from ${source('index.ts')}
const server = createServer({ listener: () => {} }, { deadline: '20s' })
server.addDestroy('pool', () => {})
server.addPhase('say-goodbye', () => {}, { after: ['destroy'], before: ['report'] })
export default server
`,
    )
    const starved = ['--config', path, '--outside=stop', '--property=timed/reserve-of-flush']
    const { code, out } = await run(...starved, '--timed')
    expect(code).toBe(1)
    expect(out).toMatch(/^ {2}FAILS {2}timed\/reserve-of-flush {2}report has its reserve before its cut$/m)
    expect(out).toMatch(/^=> the system may still be in this state [\d.]+ ms after the clock started; 19500 ms are allowed$/m)
    expect(await run(...starved)).toMatchObject({ code: 2, out: '' })
  })

  test.each([
    [['--mode', 'sometimes'], '--mode: got "sometimes", allowed: refuse, retry-after, both'],
    [['--outside', 'stop,rain'], '--outside: got "stop,rain", allowed: a list, by commas, of start, '],
    [['--states-max', '0'], '--states-max: got "0", allowed: a whole number from 1 to 999999999'],
    [['--states-max', '9', '--outside', 'stop'], '--states-max: this server has more than 9 states'],
    [
      ['--trace-file', '/no/such/folder/trace', '--outside', 'stop'],
      '--trace-file: got "/no/such/folder/trace", allowed: a file that can be written (ENOENT',
    ],
    [['--property', 'end/certian', '--outside', 'stop'], '--property: got "end/certian", allowed: no-errors, '],
    [['--confg', 'x.mjs'], '--confg: unknown flag (did you mean "--config"?)'],
    [['--config'], '--config: no value was given, allowed: an ES module whose default export is a server, or a function that makes one'],
    [
      ['--config', 'gone.mjs'],
      `--config: got "${resolve('gone.mjs')}", allowed: an ES module whose default export is a server, or a function that makes one (`,
    ],
    [['life.mjs'], '"life.mjs": unexpected argument, see quiesce check --help'],
  ])('%j is refused in one line', async (args, message) => {
    const { code, out, err } = await run(...args)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(/^quiesce: [^\n]+\n$/)
    expect(err).toContain(message)
  })

  test.each([
    ['nothing.mjs', 'export const life = 1', 'makes one (it is undefined)'],
    [
      'fastify.mjs',
      `import fastify from ${JSON.stringify(import.meta.resolve('fastify'))}
       import { quiesce } from ${source('frameworks/fastify.ts')}
       const app = fastify()
       await app.register(quiesce)
       export default app`,
      'makes one (it is a Fastify app: export its lifecycle)',
    ],
    ['throws.mjs', "export default () => { throw new Error('no database') }", 'makes one (it failed: no database)'],
    ['syntax.mjs', 'export default {', 'makes one ('],
    [
      'cycle.mjs',
      `import { createServer } from ${source('index.ts')}
       const server = createServer({ listener: () => {} })
       server.addPhase('a', () => {}, { after: ['b'] })
       server.addPhase('b', () => {}, { after: ['a'] })
       export default server`,
      'makes one (phases wait for each other: a -> b -> a)',
    ],
    [
      'properties.mjs',
      `import { createServer } from ${source('index.ts')}
       export default createServer({ listener: () => {} })
       export const properties = [() => true]`,
      'allowed: a list of properties, each with id, text and violation',
    ],
  ])('a module %s that has no life to check is refused in one line', async (name, text, message) => {
    const path = join(folder, name)
    await writeFile(path, text)
    const { code, out, err } = await run('--config', path, '--outside', 'stop')
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(/^quiesce: [^\n]+\n$/)
    expect(err).toContain(message)
  })
})
