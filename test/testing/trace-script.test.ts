// Fails when: a script that does not happen as written passes, says not where, or is rewritten
// without being asked to.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type TraceScriptOptions, traceScript } from '#src/testing/trace/trace-script.ts'

async function scriptFile(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quiesce-script-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'script.txt')
  await writeFile(file, text)
  return file
}

const run = async (text: string, options: TraceScriptOptions = {}) => traceScript(await scriptFile(text), { update: false, ...options })

const TOLD = `# A life.

# It begins.
serve deadline=20s   # so long
----
     0s listening on http://0.0.0.0:8080
     0s Serving

connect a
a GET /
----
     0s a GET /: 200 "ok"
`

describe('traceScript', () => {
  test('the example of the documentation', async () => {
    const document = await readFile(new URL('../../docs/testing.md', import.meta.url), 'utf8')
    const [, script = ''] = /```\n(#.*?)```/s.exec(document) ?? []
    expect(script).toContain('----')
    await run(script)
  })

  test('resolves when it happened as written', async () => {
    await run(TOLD)
  })

  test('a mismatch shows the lines that differ, with their numbers', async () => {
    const wrong = TOLD.replace('200 "ok"', '404 "gone"').replace('     0s Serving\n', '')
    await expect(run(wrong)).rejects.toMatchObject({
      code: 'ERR_SCRIPT_MISMATCH',
      message: expect.stringContaining(
        [
          ' 7 +      0s Serving',
          ' 7   ',
          ' 8   connect a',
          ' 9   a GET /',
          '10   ----',
          '11 -      0s a GET /: 404 "gone"',
          '12 +      0s a GET /: 200 "ok"',
        ].join('\n'),
      ),
    })
  })

  test('is rewritten when asked to, and keeps what people wrote', async () => {
    const bare = TOLD.replace(/\n----\n(?: .*\n)+/g, '\n')
    const file = await scriptFile(bare)
    await traceScript(file, { update: true })
    expect(await readFile(file, 'utf8')).toBe(TOLD)
  })

  test('a file that is as it happened is not touched', async () => {
    const file = await scriptFile(TOLD)
    await traceScript(file, { update: true })
    expect(await readFile(file, 'utf8')).toBe(TOLD)
  })

  test.each([
    ['a command that is none', 'serve deadline=20s\nfrobnicate\n', 'line 2: unknown command frobnicate'],
    ['arguments that are none', 'serve deadline=20s\n\nadvance\n', 'line 3: got advance, allowed:  advance DURATION'],
    ['a client without a name', 'serve deadline=20s\nzoe GET /\n', 'line 2: unknown command zoe GET /'],
    ['a script that does not begin', 'connect a\n', 'a script begins with `serve`'],
    ['an option that is none', 'serve deadlin=20s\n', 'deadlin'],
    ['a hook that is none', 'pre-shutdown leave slowly\nserve\n', 'line 1: got pre-shutdown leave slowly'],
  ])('%s is refused', async (_, text, message) => {
    await expect(run(text)).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID', message: expect.stringContaining(message) })
  })

  test('about a server of your own, with commands of your own', async () => {
    const text =
      'serve deadline=20s\nconnect a\na GET /\ngreet you\n----\n     0s listening on http://0.0.0.0:8080\n     0s Serving\n     0s a GET /: 200 "mine"\n     0s hello you at 0\n'
    await run(text, {
      make: (world, options) => world.createServer(() => new Response('mine'), options),
      commands: { greet: ([name], { say, world }) => say(`hello ${name} at ${world.clock.now()}`) },
    })
  })
})
