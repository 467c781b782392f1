import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startServer, startSpeaking } from '../support/process.ts'

/**
 * A crash is the end of the process, and not of the requests that are under way: they get a drain
 * of at most 5 s.
 */

const PROMPT_MS = 15_000
const DEADLINE = '60s'

describe.each([
  ['throw', 'uncaughtException'],
  ['reject', 'unhandledRejection'],
] as const)('a %s outside of every handler', (how, origin) => {
  const reason = { kind: 'crash', origin, error: { message: 'crashed on purpose' } }

  test('ends the process with 1 after the requests under way', async () => {
    const program = startServer({
      options: { deadline: DEADLINE, shutdownDelay: '10s' },
      hooks: [{ kind: 'destroy', name: 'pool', does: 'ends' }],
    })
    const client = await program.requested('GET', '/under-way?ms=1000')
    await program.requested('GET', `/${how}`)
    const crashedAt = performance.now()
    expect(await client.response()).toMatchObject({ body: 'done', headers: { connection: 'close' } })
    const { code, at } = await program.ended()
    expect(code).toBe(1)
    expect(at - crashedAt).toBeLessThan(PROMPT_MS)
    expect(program.lines).toContain('ended pool')
    expect(program.report()).toMatchObject({
      exitCode: 1,
      forced: null,
      reason,
      requests: { before: 1, after: 0 },
      errors: [{ where: origin, error: reason.error }],
    })
  })

  test('waits for requests that hang no longer than its own bound', async () => {
    const program = startServer({ options: { deadline: DEADLINE, crashDeadline: '5s' } })
    await program.requested('GET', '/hang')
    await program.requested('GET', `/${how}`)
    const crashedAt = performance.now()
    const { code, at } = await program.ended()
    expect(code).toBe(1)
    expect(at - crashedAt).toBeLessThan(PROMPT_MS)
    expect(program.report()).toMatchObject({ exitCode: 1, reason, requests: { before: 1, after: 1, cut: [{ name: 'GET /hang' }] } })
  })
})

describe('during a drain', () => {
  /** A process that drains, with a request that hangs and one that crashes when it is told to. */
  async function draining() {
    const program = startServer({ options: { deadline: DEADLINE, crashDeadline: '5s' } })
    await program.requested('GET', '/hang')
    const crashing = [await program.requested('POST', '/crash-after-body', { headers: { 'Content-Length': '1' } })]
    crashing.push(await program.requested('POST', '/crash-after-body', { headers: { 'Content-Length': '1' } }))
    program.signal('SIGTERM')
    await program.said('fired NotAcceptingNewRequest')
    return { program, crash: (how = 'x') => crashing.pop()?.send(how) }
  }

  test('a crash shortens it, and costs 1', async () => {
    const { program, crash } = await draining()
    crash()
    const crashedAt = performance.now()
    const { code, at } = await program.ended()
    expect(code).toBe(1)
    expect(at - crashedAt).toBeLessThan(PROMPT_MS)
    const report = program.report()
    expect(report).toMatchObject({ exitCode: 1, forced: null, reason: { kind: 'os-signal', signal: 'SIGTERM' } })
    expect(report.requests.cut.map(({ name }) => name)).toContain('GET /hang')
    expect(report.errors).toContainEqual({ where: 'uncaughtException', error: expect.objectContaining({ message: 'crashed on purpose' }) })
    expect(program.stderr).toMatch(/^quiesce: exit code 1: .*: uncaughtException: crashed on purpose$/m)
  })

  test('a second crash of another origin ends the process at once', async () => {
    const { program, crash } = await draining()
    crash()
    await program.said('crashing')
    crash('r')
    const { code } = await program.ended()
    expect(code).toBe(1)
    const report = program.report()
    expect(report).toMatchObject({ exitCode: 1, forced: 'second-crash' })
    expect(report.requests.cut.map(({ name }) => name)).toContain('GET /hang')
  })
})

test.each(['throw', 'reject'])('one defect that crashes twice in one tick (%s) cuts off none of ten requests', async (how) => {
  const program = startServer({ options: { deadline: DEADLINE, crashDeadline: '5s' } })
  const clients = await Promise.all(Array.from({ length: 10 }, () => program.requested('GET', '/under-way?ms=1500')))
  await program.requested('GET', `/${how}?again`)
  const answers = await Promise.all(clients.map((client) => client.response()))
  expect(answers.map(({ body }) => body)).toEqual(Array.from({ length: 10 }, () => 'done'))
  expect((await program.ended()).code).toBe(1)
  const report = program.report()
  expect(report).toMatchObject({ exitCode: 1, forced: null, requests: { after: 0, cut: [] } })
  // Both stand in the report.
  expect(report.errors.map(({ error: { message } }) => message)).toEqual(['crashed on purpose', 'crashed on purpose again'])
})

describe('beside other listeners of crashes', () => {
  /** A program that crashes with a request under way, and what becomes of both. */
  async function crashed(how: 'throws' | 'rejects', other: string, nodeOptions: readonly string[] = []) {
    const program = startSpeaking('crashes.mjs', [how, other], { nodeOptions })
    const port = await program.number('serving')
    const answer = fetch(`http://127.0.0.1:${port}/slow`).then((response) => response.text())
    await program.said('slow')
    program.signal('SIGUSR2')
    return { program, answer: await answer.catch(() => 'lost'), code: (await program.ended()).code }
  }

  /** The same, as far as it has to be alike for all of them. */
  async function inOrder(...crash: Parameters<typeof crashed>) {
    const { program, answer, code } = await crashed(...crash)
    const { forced, reason, errors } = program.report()
    const origin = crash[0] === 'throws' ? 'uncaughtException' : 'unhandledRejection'
    return {
      crash: crash.join(' '),
      answer,
      code,
      said: ['heard: this is not caught', 'hook', 'destroyed'].filter((line) => program.lines.includes(line)),
      forced,
      reason: reason?.kind,
      crashes: errors.filter(({ where }) => where === origin).length,
    }
  }

  test.each([['throws'], ['rejects']] as const)('a program that %s ends in order, and they hear of it too', async (how) => {
    const both = ['a recorder', 'a reporter', 'later, a recorder', 'one that throws', 'later, one that throws', 'one that rejects']
    const others = how === 'throws' ? ['a monitor that throws', ...both] : ['one that makes exceptions of rejections', ...both]
    const modes = how === 'throws' ? [] : ['strict', 'warn', 'none'].map((mode) => [`--unhandled-rejections=${mode}`])
    const ended = await Promise.all([
      ...others.map((other) => inOrder(how, other)),
      ...modes.map((nodeOptions) => inOrder(how, 'a recorder', nodeOptions)),
    ])
    const said = ['heard: this is not caught', 'hook', 'destroyed']
    expect(ended).toEqual(ended.map(({ crash }) => ({ crash, answer: 'whole', code: 1, said, forced: null, reason: 'crash', crashes: 1 })))
  })

  test('one that ends the process does, and it is said by what', async () => {
    const { program, ...end } = await crashed('throws', 'one that ends the process')
    expect(end).toEqual({ answer: 'lost', code: 9 })
    expect(program.report()).toMatchObject({ forced: 'process-exit', reason: { kind: 'crash' } })
    expect(program.stderr).toMatch(/1 in flight cut off.*a listener of uncaughtException/)
  })

  test('a subscriber whose failure is the next crash does not go on for ever', async () => {
    const { program, ...end } = await crashed('throws', 'a subscriber that fails')
    expect(end).toEqual({ answer: 'whole', code: 1 })
    const { forced, reason, warnings } = program.report()
    expect([forced, reason]).toMatchObject([null, { kind: 'crash', error: { message: 'this is not caught' } }])
    expect(warnings.map(({ details }) => details?.['code'])).toContain('WARN_CRASH_LOOP')
    expect(program.lines.filter((line) => line.startsWith('heard: thrown')).length).toBeLessThan(100)
  })

  test('a capture callback takes exceptions from all of them, and the server goes on', async () => {
    const program = startSpeaking('crashes.mjs', ['throws', 'a capture callback'])
    const port = await program.number('serving')
    program.signal('SIGUSR2')
    await program.said('heard: this is not caught')
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200)
    program.signal('SIGTERM')
    await program.ended()
    expect(program.report().warnings.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('setUncaughtExceptionCaptureCallback'),
    )
  })
})

test('a handler that throws or rejects is no crash', async () => {
  const program = startServer()
  const client = await program.connect()
  expect(await client.ask('GET', '/broken')).toMatchObject({ status: 500 })
  expect(await client.ask('GET', '/hello')).toMatchObject({ body: 'hello' })
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(0)
})

test('with nobody left to read its standard error it still ends in order', async () => {
  const program = spawn(process.execPath, [fileURLToPath(new URL('../fixtures/crashes.mjs', import.meta.url)), 'throws'])
  onTestFinished(() => void program.kill('SIGKILL'))
  program.stderr.destroy()
  const ended = once(program, 'close')
  const said: string[] = []
  for await (const line of createInterface({ input: program.stdout })) {
    said.push(line)
    if (line.startsWith('serving')) program.kill('SIGUSR2')
  }
  expect(await ended).toEqual([1, null])
  expect(said).toContain('destroyed')
})
