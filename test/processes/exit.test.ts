import { describe, expect, test } from 'vitest'
import { startProgram, startServer } from '../support/process.ts'

/** How a process ends when its life is over: by itself, with the right code, and not later than it has to. */

const PROMPT_MS = 10_000

test('a process that something else keeps alive is told on, and ended, a second after its life', async () => {
  const program = startServer({ staysAliveMs: 60_000, hooks: [{ kind: 'destroy', name: 'pool', does: 'rejects' }] })
  await program.serving()
  const toldAt = program.signal('SIGTERM')
  const { code, at } = await program.ended()
  expect(code).toBe(4)
  expect(at - toldAt).toBeGreaterThan(990)
  expect(at - toldAt).toBeLessThan(PROMPT_MS)
  expect(program.lines).toContain('resolved 4')
  expect(program.lines.at(-1)).toBe('quiesce: ended, but still alive after 1000 ms because of: a timer; exiting')
})

test('what keeps it alive is named', async () => {
  const program = startServer({ leaksServer: true })
  await program.serving()
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(0)
  expect(program.lines.at(-1)).toBe('quiesce: ended, but still alive after 1000 ms because of: TCPServerWrap; exiting')
})

test('with exit: natural it may stay as long as it likes', async () => {
  const program = startServer({ staysAliveMs: 3_000, options: { exit: 'natural' } })
  await program.serving()
  program.signal('SIGTERM')
  await program.said('resolved 0')
  expect((await program.ended()).code).toBe(0)
  expect(program.lines.at(-1)).toBe('had its time')
})

test('a top-level await of run() does not end with 13 when nothing but promises that never settle is left', async () => {
  const program = startServer({
    attached: true,
    options: { deadline: '2s' },
    hooks: [
      { kind: 'pre-shutdown', name: 'leave', does: 'hangs' },
      { kind: 'destroy', name: 'pool', does: 'hangs' },
    ],
  })
  await program.serving()
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(4)
  expect(program.lines.at(-1)).toBe('resolved 4')
})

test('an exit code that the program has set itself is left alone', async () => {
  const program = startServer({ exitCode: 7, hooks: [{ kind: 'destroy', name: 'pool', does: 'rejects' }] })
  await program.serving()
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(7)
  expect(program.report().exitCode).toBe(4)
})

describe('two lives in one process', () => {
  test('end apart: the first that ends leaves the process to the other', async () => {
    const program = startProgram('two-lives.mjs')
    const [first, second] = await Promise.all([program.connect('serving first'), program.connect('serving second')])
    second.request('GET', '/slow?ms=2500')
    await program.said('arrived second')
    program.signal('SIGTERM')
    await program.said('ended first 4')
    expect(await first.closed()).toBe('ended')
    expect(await second.response()).toMatchObject({ body: 'done', headers: { connection: 'close' } })
    // The worse of the two codes is the process's.
    expect(await program.ended()).toMatchObject({ code: 4, signal: null })
    expect(program.lines.slice(-2)).toEqual(['ended second 0', 'resolved 4 0'])
  })

  test('stop apart: the other serves on, also later than the process would have been ended', async () => {
    const program = startProgram('two-lives.mjs')
    await program.serving('serving second')
    const first = await program.connect('serving first')
    await first.ask('GET', '/stop')
    await program.said('1500 ms after the first end')
    const second = await program.connect('serving second')
    expect(await second.ask('GET', '/slow?ms=0')).toMatchObject({ body: 'done', headers: { connection: 'keep-alive' } })
    program.signal('SIGTERM')
    expect(await program.ended()).toMatchObject({ code: 4, signal: null })
    expect(program.stderr).not.toContain('still alive')
  })

  test('are both stopped by a crash, and lose no request by it', async () => {
    const program = startProgram('two-lives.mjs')
    const [first, second] = await Promise.all([program.connect('serving first'), program.connect('serving second')])
    second.request('GET', '/slow?ms=1500')
    await program.said('arrived second')
    await first.ask('GET', '/crash')
    expect(await second.response()).toMatchObject({ body: 'done', headers: { connection: 'close' } })
    expect(await program.ended()).toMatchObject({ code: 1, signal: null })
    expect(program.lines.at(-1)).toBe('resolved 1 1')
  })
})
