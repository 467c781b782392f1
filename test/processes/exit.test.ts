import { describe, expect, test } from 'vitest'
import { Pipe } from '../support/pipe.ts'
import { startServer, startSpeaking, type TestProcess } from '../support/process.ts'
import type { RawClient } from '../support/raw-client.ts'

/**
 * How a process ends when its life is over: by itself, with the right code, and not later than it
 * has to.
 */

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
  expect(program.lines.at(-1)).toBe(
    'quiesce: ended, but still alive after 1000 ms because of: Timeout, Timeout; exiting [WARN_STILL_ALIVE]',
  )
})

test('what keeps it alive is named', async () => {
  const program = startServer({ leaksServer: true })
  await program.serving()
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(0)
  expect(program.lines.at(-1)).toBe('quiesce: ended, but still alive after 1000 ms because of: TCPServerWrap; exiting [WARN_STILL_ALIVE]')
})

test('the wait for what keeps it alive comes out of the budget: it is gone by the deadline', async () => {
  // The log never says that it is written: the life ends when its time is over, right before the
  // deadline.
  const program = startServer({ staysAliveMs: 60_000, neverFlushes: true, options: { deadline: '3s', hookTimeout: '3s' } })
  await program.serving()
  program.signal('SIGTERM')
  await program.said('resolved 0')
  const resolvedAt = performance.now()
  const { code, at } = await program.ended()
  expect(code).toBe(0)
  // When there is time it may live on for a second.
  expect(at - resolvedAt).toBeLessThan(800)
  // Behind it may come that the deadline was missed: on a busy machine nothing may be left.
  expect(program.lines.join('\n')).toMatch(
    /^quiesce: ended, (?:but still alive after \d{1,3} ms|out of time, and still alive) because of: .*Timeout.*; exiting \[WARN_STILL_ALIVE\]$/m,
  )
})

test('an orderly end gives what is alive the rest of the budget', async () => {
  const hooks = [{ kind: 'destroy', name: 'pool', does: 'ends', ms: 2_000, timeout: '10s' }] as const
  const program = startServer({ staysAliveMs: 60_000, hooks, options: { deadline: '3s', reserves: { destroy: '2.4s' } } })
  await program.serving()
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(0)
  // Behind it may come that the deadline was missed: on a busy machine nothing may be left.
  const [, graceMs] = /^quiesce: ended, (?:but still alive after (\d+) ms|out of time, and still alive) because of/m.exec(
    program.lines.join('\n'),
  ) ?? ['', '1000']
  expect(Number(graceMs ?? 0)).toBeLessThan(1_000)
})

test('a worker thread that keeps it alive is no stream', async () => {
  const program = startServer({ leaksThread: true })
  await program.serving()
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(0)
  expect(program.lines.at(-1)).toMatch(/^quiesce: ended, but still alive after 1000 ms because of: .*; exiting \[WARN_STILL_ALIVE\]$/)
  expect(program.lines.at(-1)).not.toMatch(/PipeWrap|TTYWrap/)
})

test('a worker of a cluster does not wait for its channel to the primary', async () => {
  const program = startSpeaking('cluster-worker.mjs')
  await program.serving()
  program.signal('SIGTERM')
  expect(await program.said('worker exited')).toBe('0')
  await program.ended()
  expect(program.stderr).toBe('')
})

test('a deadline that was missed because the event loop was blocked is said in the log and in the report', async () => {
  const program = startServer({ hooks: [{ kind: 'destroy', name: 'pool', does: 'blocks', ms: 2_000 }], options: { deadline: '1s' } })
  await program.serving()
  program.signal('SIGTERM')
  const { code } = await program.ended()
  const { exitCode, warnings } = program.report()
  expect(exitCode).toBe(code)
  const missed = /^the deadline was missed by .+: the event loop was blocked, or the process was paused$/
  expect(warnings.map(({ message }) => message)).toEqual([expect.stringMatching(missed)])
  expect(program.log.filter(({ msg }) => missed.test(msg))).toHaveLength(1)
})

test('a deadline that is missed after the report was written is said on standard error', async () => {
  const program = startServer({ blocksAtLastMs: 2_000, options: { deadline: '1s' } })
  await program.serving()
  program.signal('SIGTERM')
  const { code } = await program.ended()
  expect(code).toBe(program.report().exitCode)
  expect(program.report().warnings).toEqual([])
  // What it says on its two outputs comes here in any order.
  expect(program.lines).toContainEqual(
    expect.stringMatching(
      /^quiesce: the deadline was missed by .+: the event loop was blocked, or the process was paused \[WARN_DEADLINE_MISSED\]$/,
    ),
  )
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

describe('a process that something else ends in the middle of its life', () => {
  test('keeps its exit code, and leaves a report of what was cut off', async () => {
    const program = startServer()
    await program.requested('GET', '/hang')
    const client = await program.connect()
    client.request('GET', '/exit')
    expect((await program.ended()).code).toBe(3)
    expect(program.report()).toMatchObject({
      exitCode: 1,
      reason: null,
      forced: 'process-exit',
      forcedBy: { exitCode: 3 },
      requests: { before: 2, after: 2, cut: [{ name: 'GET /hang' }, { name: 'GET /exit' }] },
    })
    expect(program.lines.filter((line) => line.startsWith('quiesce:'))).toEqual([
      'quiesce: the process exits with 3 before its server has ended: 2 in flight cut off',
    ])
    expect(program.log).toContainEqual(expect.objectContaining({ msg: 'ending by force', why: 'process-exit' }))
  })

  test('while it ends already, too', async () => {
    const program = startServer({ hooks: [{ kind: 'destroy', name: 'pool', does: 'exits' }] })
    await program.serving()
    program.signal('SIGTERM')
    expect((await program.ended()).code).toBe(9)
    const report = program.report()
    expect(report).toMatchObject({
      exitCode: 1,
      reason: { kind: 'os-signal', signal: 'SIGTERM' },
      forced: 'process-exit',
      forcedBy: { exitCode: 9 },
      requests: { before: 0, cut: [] },
    })
    expect(report.phases.find(({ name }) => name === 'destroy')).toMatchObject({ end: null, outcome: null })
    expect(program.lines.filter((line) => line.startsWith('quiesce:'))).toEqual([
      'quiesce: the process exits with 9 before its server has ended: not run to their end: destroy "pool"',
    ])
  })

  test('writes what is left of its log, or says how much of it is lost', async () => {
    const LINES = 2_000
    const pipe = new Pipe()
    const program = startServer({}, { stdout: pipe.writeEnd })
    pipe.closeWriteEnd()
    const client = await program.connect()
    // More than the pipe holds.
    expect(await client.ask('GET', `/log?lines=${LINES}`)).toMatchObject({ body: 'logged' })
    client.request('GET', '/exit')
    const text = await pipe.readSlowly(32 * 1024)
    expect((await program.ended()).code).toBe(3)
    const said = Number(/^quiesce: (\d+) log lines? (?:was|were) lost$/m.exec(program.stderr)?.[1] ?? 0)
    const reported = Number(program.report().warnings.find(({ message }) => message === 'log lines were lost')?.details?.['lines'] ?? 0)
    expect(reported).toBe(said)
    if (said === 0) expect(text).toContain('ending by force')
    expect(text.split('\n').filter((line) => line.includes('"why":"line ')).length + said).toBeGreaterThanOrEqual(LINES)
  })

  test.each([
    ['by a second signal', (program: TestProcess) => void program.signal('SIGTERM'), 1, /^ *exit code 1: forced by a second signal/m],
    ['by code of its own', (_: TestProcess, client: RawClient) => client.request('GET', '/exit'), 3, /^ *exit code 3: the process ended/m],
  ])('prints its timeline into a pipe that is full, below its log: %s', async (_, end, code, last) => {
    const pipe = new Pipe()
    // A timeline of several pages, as pipes count them.
    const hooks = Array.from(
      { length: 20 },
      (_, n) => ({ kind: 'pre-shutdown', name: `${n} ${'x'.repeat(180)}`, does: 'rejects' }) as const,
    )
    // Requests are let in until then.
    const options = { pretty: true, shutdownDelay: '20s', deadline: '40s' } as const
    const program = startServer({ hooks, options }, { stdout: pipe.writeEnd })
    pipe.closeWriteEnd()
    await program.requested('GET', '/hang')
    const client = await program.connect()
    expect(await client.ask('GET', '/fill')).toMatchObject({ body: 'full' })
    program.signal('SIGTERM')
    // A signal that comes sooner is the same one.
    await program.said('600 ms after the stop request')
    end(program, client)
    const text = await pipe.readSlowly(1024)
    expect((await program.ended()).code).toBe(code)
    expect(text).toMatch(last)
    expect(text.search(last)).toBeGreaterThan(text.indexOf('ending by force'))
    expect(program.stderr).not.toContain('lost')
    // Standard error is read elsewhere; an exit of its own has a reason that the program knows.
    expect(program.lines.filter((line) => line.startsWith('quiesce: exit code'))).toHaveLength(code === 1 ? 1 : 0)
  })
})

test('a process that has nothing left to do, and whose attached server does not listen, ends with exit code 3 and says why', async () => {
  const program = startSpeaking('never-listens.mjs')
  expect((await program.ended()).code).toBe(3)
  expect(program.report()).toMatchObject({
    exitCode: 3,
    reason: {
      kind: 'start-failed',
      phase: 'bind',
      error: { code: 'ERR_NOTHING_TO_SERVE', message: expect.stringContaining('call its listen()') },
    },
  })
})

test('a cut is not followed by an accusation: what quiesce has just destroyed is its own', async () => {
  const program = startServer({ hold: 'work', options: { deadline: '1s', shutdownDelay: 0, admin: { port: 0 } } })
  await program.connect()
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(5)
  expect(program.stderr).not.toContain('still alive')
})
