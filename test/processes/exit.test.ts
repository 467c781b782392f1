import { expect, test } from 'vitest'
import { startServer } from '../support/process.ts'

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
  expect(program.lines.at(-1)).toBe('quiesce: ended, but still alive after 1000 ms because of: Timeout, Timeout; exiting')
})

test('what keeps it alive is named', async () => {
  const program = startServer({ leaksServer: true })
  await program.serving()
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(0)
  expect(program.lines.at(-1)).toBe('quiesce: ended, but still alive after 1000 ms because of: TCPServerWrap; exiting')
})

test('with exit: natural it may stay as long as it likes', async () => {
  const program = startServer({ staysAliveMs: 2_000, options: { exit: 'natural' } })
  await program.serving()
  program.signal('SIGTERM')
  await program.said('resolved 0')
  expect((await program.ended()).code).toBe(0)
  expect(program.lines.at(-1)).toBe('had its time')
})

test('a top-level await of run() does not end with 13 when nothing but promises that never settle is left', async () => {
  const program = startServer({
    attached: true,
    hooks: [
      { kind: 'pre-shutdown', name: 'leave', does: 'hangs', timeout: '300ms' },
      { kind: 'destroy', name: 'pool', does: 'hangs', timeout: '300ms' },
    ],
  })
  await program.serving()
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(4)
  expect(program.lines).toContain('resolved 4')
})

test('an exit code that the program has set itself is left alone', async () => {
  const program = startServer({ exitCode: 7, hooks: [{ kind: 'destroy', name: 'pool', does: 'rejects' }] })
  await program.serving()
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(7)
  expect(program.report().exitCode).toBe(4)
})
