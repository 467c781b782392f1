import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startServer } from '../support/process.ts'

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

test('a crash that somebody else listens for is left to them, and the log says so', async () => {
  const program = startServer({ ownCrashListener: true })
  const client = await program.connect()
  await client.ask('GET', '/throw')
  await program.said('heard crashed on purpose')
  expect(await client.ask('GET', '/hello')).toMatchObject({ body: 'hello' })
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(0)
  const warnings = program.log.map(({ msg }) => msg).filter((msg) => msg.includes('has a listener already'))
  expect(warnings).toHaveLength(1)
  expect(warnings[0]).toMatch(/^uncaughtException /)
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
