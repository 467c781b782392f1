import { describe, expect, test } from 'vitest'
import { Pipe } from '../support/pipe.ts'
import { type ServerPlan, startServer } from '../support/process.ts'

/**
 * What becomes of a process whose standard output is slow, unread, gone or closed: it serves and
 * ends like any other.
 */

const PROMPT_MS = 10_000
const MEBIBYTE = 1024 * 1024
/** Its last lines hold an error of 1 MiB each time they mention it. */
const SHOUTING: ServerPlan = { options: { deadline: '40s' }, hooks: [{ kind: 'destroy', name: 'pool', does: 'shouts' }] }

test('a last log line of more than 1 MiB reaches a slow reader whole, and then the process ends', async () => {
  const pipe = new Pipe()
  const program = startServer(SHOUTING, { stdout: pipe.writeEnd })
  pipe.closeWriteEnd()
  await program.serving()
  program.signal('SIGTERM')
  // Nobody reads before everything has been logged.
  await program.said('fired AdminClosed')
  const text = await pipe.readSlowly(32 * 1024)
  expect((await program.ended()).code).toBe(4)
  expect(program.report().errors[0]?.error.message).toHaveLength(MEBIBYTE)

  expect(text.endsWith('\n')).toBe(true)
  const messages = text
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { msg: string }).msg)
  // Of the function that failed; its phase does not say it again.
  expect(messages.filter((message) => message.length > MEBIBYTE)).toHaveLength(1)
  expect(messages.at(-1)).toBe('the server is exiting')
})

test('a reader that does not read holds neither the server nor its end', async () => {
  const pipe = new Pipe()
  const program = startServer({ ...SHOUTING, options: { deadline: '4s' } }, { stdout: pipe.writeEnd })
  await program.serving()
  const client = await program.requested('GET', '/under-way?ms=200')
  const toldAt = program.signal('SIGTERM')
  expect(await client.response()).toMatchObject({ body: 'done' })
  const { code, at } = await program.ended()
  const { exitCode, signals, warnings } = program.report()
  // The wait for the reader ends shortly before the deadline, which may be first on a busy machine.
  expect(code).toBe(signals.find(({ name }) => name === 'ReportWritten')?.outcome === 'cut' ? 5 : 4)
  expect(at - toldAt).toBeLessThan(4_000 + PROMPT_MS)
  expect({ exitCode, warnings }).toMatchObject({ exitCode: code, warnings: [{ message: 'log lines were lost' }] })
})

test('nor does it hold an end by force', async () => {
  const pipe = new Pipe()
  const program = startServer({ ...SHOUTING, options: { deadline: '2500ms' }, hold: 'import' }, { stdout: pipe.writeEnd })
  await program.serving()
  const toldAt = program.signal('SIGTERM')
  const { code, at } = await program.ended()
  expect(code).toBe(5)
  expect(at - toldAt).toBeLessThan(PROMPT_MS)
  const { exitCode, warnings } = program.report()
  expect(exitCode).toBe(5)
  // The report knows of what is lost after it was written first.
  const lost = warnings.find(({ message }) => message === 'log lines were lost')?.details?.['lines']
  expect(program.lines, program.lines.join('\n')).toContain(
    `quiesce: ${lost} log line${lost === 1 ? ' was' : 's were'} lost [WARN_LOG_LOST]`,
  )
})

test('a logger that never says that it has flushed is waited for as a hook is, costs no exit code, and is told of', async () => {
  const program = startServer({ options: { deadline: '1m', hookTimeout: '200ms' }, neverFlushes: true })
  await program.serving()
  const toldAt = program.signal('SIGTERM')
  const { code, at } = await program.ended()
  expect(code).toBe(0)
  expect(at - toldAt).toBeLessThan(PROMPT_MS)
  const message = 'lines of the log may be lost: flush() of the option logger has not ended within 200ms'
  expect(program.report()).toMatchObject({ exitCode: 0, warnings: [{ message, details: { code: 'WARN_LOG_LOST' } }] })
  expect(program.lines).toContain(`quiesce: ${message} [WARN_LOG_LOST]`)
})

describe('a reader that comes back to 200 000 lines when the server is stopped', () => {
  const LINES = 200_000
  const DEADLINE_MS = 6_000

  async function stopped(pipe: Pipe) {
    const program = startServer({ options: { deadline: `${DEADLINE_MS}ms` } }, { stdout: pipe.writeEnd })
    pipe.closeWriteEnd()
    const client = await program.connect()
    expect(await client.ask('GET', `/log?lines=${LINES}`)).toMatchObject({ body: 'logged' })
    const toldAt = program.signal('SIGTERM')
    const text = pipe.readSlowly(MEBIBYTE)
    return { program, toldAt, text }
  }

  test('does not hold it beyond its deadline, and what the log lacks is counted', async () => {
    const { program, toldAt, text } = await stopped(new Pipe())
    const { code, at } = await program.ended()
    expect([0, 5]).toContain(code)
    expect(at - toldAt).toBeLessThan(DEADLINE_MS + PROMPT_MS)
    const read = (await text).split('\n').filter((line) => /^{"level":30,.*"why":"line .*}$/.test(line)).length
    const lost = Number(program.report().warnings.find(({ message }) => message === 'log lines were lost')?.details?.['lines'] ?? 0)
    // Lines of the life itself may be among those that are lost.
    expect(read + lost).toBeGreaterThanOrEqual(LINES)
  })

  test('does not keep a second signal from it', async () => {
    const { program, toldAt, text } = await stopped(new Pipe())
    await program.said('600 ms after the stop request')
    program.signal('SIGTERM')
    const { code, at } = await program.ended()
    expect(at - toldAt).toBeLessThan(DEADLINE_MS + PROMPT_MS)
    // It has ended in order when it was read so quickly that nothing was left.
    expect([0, 1]).toContain(code)
    if (code === 1) expect(program.report().forced).toBe('second-signal')
    await text
  })
})

test('a reader that is gone does not end the server', async () => {
  const pipe = new Pipe()
  const program = startServer({ options: { deadline: '40s' } }, { stdout: pipe.writeEnd })
  pipe.closeWriteEnd()
  await program.serving()
  pipe.closeReadEnd()
  const client = await program.requested('GET', '/under-way?ms=500')
  program.signal('SIGTERM')
  // What is logged now is written to nobody.
  expect(await client.response()).toMatchObject({ body: 'done' })
  expect(await program.ended()).toMatchObject({ code: 0, signal: null })
  const report = program.report()
  expect(report).toMatchObject({
    exitCode: 0,
    errors: [],
    warnings: [{ message: 'log lines were lost', details: { code: 'WARN_LOG_LOST', lines: expect.any(Number) } }],
  })
  // The log cannot tell any more.
  expect(program.lines).toContain(`quiesce: ${report.warnings[0]?.details?.['lines']} log lines were lost [WARN_LOG_LOST]`)
})

test('nor do the program’s own words to a reader that is gone', async () => {
  const pipe = new Pipe()
  const program = startServer({}, { stdout: pipe.writeEnd })
  pipe.closeWriteEnd()
  await program.serving()
  pipe.closeReadEnd()
  const client = await program.connect()
  await client.ask('GET', '/print')
  expect(await client.ask('GET', '/hello')).toMatchObject({ body: 'hello' })
  program.signal('SIGTERM')
  expect(await program.ended()).toMatchObject({ code: 0, signal: null })
})

test('a process without standard output serves and ends', async () => {
  const program = startServer({}, { via: ['sh', '-c', 'exec "$0" "$@" >&-'] })
  const client = await program.requested('GET', '/under-way?ms=200')
  program.signal('SIGTERM')
  expect(await client.response()).toMatchObject({ body: 'done' })
  expect(await program.ended()).toMatchObject({ code: 0, signal: null })
  expect(program.report()).toMatchObject({ exitCode: 0, errors: [] })
})
