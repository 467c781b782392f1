// Process signals, and everything else that stops a process from outside (the PG rows; upstream's
// pkg/server/signal.go), with real processes. Fails when: a signal kills instead of stopping, the
// second one does not end the process at once or without its logs, one life's end takes another one
// with it, or a process does not end, or not with the code that the README promises.
import { describe, expect, onTestFinished, test } from 'vitest'
import { startSpeaking, type TestProcess } from '../support/process.ts'
import { row } from '../support/row.ts'

const GRACEFUL = { code: 0, signal: null }

/** A program that serves, with a request under way. */
async function withRequest(...started: Parameters<typeof startSpeaking>) {
  const program = startSpeaking(...started)
  const port = await program.number('serving')
  const answer = fetch(`http://127.0.0.1:${port}/slow`).then(async (response) => [response.status, await response.text()])
  // Judged when it is awaited; a program that is killed breaks it before.
  answer.catch(() => undefined)
  await program.said('slow')
  return { program, port, answer }
}

describe('a stop signal', () => {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    row('PG-01', `${signal} stops the server, and the process lives until everything has ended`, async () => {
      const { program, answer } = await withRequest('run.mjs')
      program.signal(signal)
      expect(await answer).toEqual([200, 'whole'])
      expect(await program.ended()).toMatchObject(GRACEFUL)
      expect(program.lines).toContain('destroyed')
      // A signal that still comes finds the end there already: it must not kill, and the exit code
      // with it.
      expect(program.lines.slice(-3)).toEqual(['Ended', 'listeners left 1,1,1,0,0,0', 'exit event'])
      expect(program.report()).toMatchObject({
        reason: { kind: 'os-signal', signal },
        exitCode: 0,
        requests: { before: 1, after: 0 },
      })
      expect(program.stderr).toBe('')
    })
  }

  test('finds nothing of ours on the process once a life that leaves the end to others is over', async () => {
    const program = startSpeaking('run.mjs', [JSON.stringify({ exit: 'natural' })])
    await program.said('serving')
    program.signal('SIGTERM')
    expect(await program.ended()).toMatchObject(GRACEFUL)
    expect(program.lines).toContain('listeners left 0,0,0,0,0,0')
  })

  row('PG-02', 'that comes a second time ends the process at once with 1, after its logs and its report are written (V10)', async () => {
    const { program, answer } = await withRequest('hook-that-hangs.mjs')
    const begun = performance.now()
    program.signal('SIGTERM')
    await program.said('StopRequested')
    // As a user who loses patience; the first half second counts as one.
    const impatience = setInterval(() => program.child.kill('SIGINT'), 50)
    const end = await program.ended()
    clearInterval(impatience)
    expect(end).toMatchObject({ code: 1, signal: null })
    expect(performance.now() - begun).toBeGreaterThanOrEqual(500)
    await expect(answer).rejects.toThrow()
    expect(program.lines).not.toContain('destroyed')
    expect(program.log.map(({ msg }) => msg)).toEqual(expect.arrayContaining(['ending by force', 'connections closed by force']))
    expect(program.report()).toMatchObject({
      exitCode: 1,
      forced: 'second-signal',
      hooks: [{ name: 'hangs', outcome: null }],
      connections: { forced: 1 },
    })
  })

  row(
    'PG-02',
    'that is delivered twice within half a second is one: Ctrl-C reaches a process from its terminal and its parent (V10)',
    async () => {
      const { program, answer } = await withRequest('run.mjs')
      program.signal('SIGINT')
      program.signal('SIGTERM')
      program.signal('SIGHUP')
      expect(await answer).toEqual([200, 'whole'])
      expect(await program.ended()).toMatchObject(GRACEFUL)
      expect(program.report()).toMatchObject({ forced: null })
    },
  )

  row('PG-03', 'reaches every server of a process, and the slowest of them ends it (V14)', async () => {
    const program = startSpeaking('two-servers.mjs')
    await bothServe(program)
    program.signal('SIGTERM')
    expect(await program.ended()).toMatchObject(GRACEFUL)
    expect(program.lines.filter((line) => line.startsWith('destroyed'))).toEqual(['destroyed first', 'destroyed second'])
    expect(JSON.parse(program.lines.at(-1) ?? '')).toMatchObject([
      { reason: { kind: 'os-signal' }, exitCode: 0 },
      { reason: { kind: 'os-signal' }, exitCode: 0 },
    ])
    expect(program.stderr).toBe('')
  })

  test.each(['fails', 'fails-first'])('ends a process of two servers with the most severe of their codes (%s)', async (which) => {
    const program = startSpeaking('two-servers.mjs', [which])
    await bothServe(program)
    program.signal('SIGTERM')
    expect(await program.ended()).toMatchObject({ code: 4, signal: null })
  })

  test('kills a process that only has start(): then its end is its own business', async () => {
    const program = startSpeaking('start-only.mjs')
    await program.said('listeners 0')
    program.signal('SIGTERM')
    expect(await program.ended()).toMatchObject({ code: null, signal: 'SIGTERM' })
  })
})

async function bothServe(program: TestProcess): Promise<void> {
  while (program.lines.filter((line) => line.startsWith('serving')).length < 2) await program.next()
}

describe('stop() is upstream`s RequestShutdown without its queue', () => {
  row('PG-04', 'with nothing set up, it ends what never began (V14)', async () => {
    const program = startSpeaking('requests-shutdown.mjs', ['never started'])
    expect(await program.ended()).toMatchObject(GRACEFUL)
    expect(program.lines.filter((line) => line === 'destroyed')).toEqual(['destroyed'])
    expect(JSON.parse(program.lines.at(-1) ?? '')).toMatchObject({
      exitCode: 0,
      listeners: [],
      reason: { kind: 'stop', reason: 'nothing was set up' },
    })
    expect(program.stderr).toBe('')
  })

  row(
    ['PG-05', 'PG-06', 'PG-07'],
    'once has the effect of one signal; a thousand times as well, without blocking or forcing anything (V14)',
    async () => {
      const [stopped, signalled] = [startSpeaking('requests-shutdown.mjs'), startSpeaking('run.mjs')]
      await Promise.all([stopped.said('serving'), signalled.said('serving')])
      stopped.signal('SIGUSR2')
      signalled.signal('SIGTERM')
      expect(await stopped.ended()).toMatchObject(GRACEFUL)
      expect(await signalled.ended()).toMatchObject(GRACEFUL)
      const [report, other] = [stopped.report(), signalled.report()]
      expect(report).toMatchObject({ reason: { kind: 'stop', reason: 'call 0' }, forced: null })
      const fired = ({ signals }: typeof report): string[] => signals.map(({ name, outcome }) => `${name} ${outcome}`).sort()
      expect(fired(report)).toEqual(fired(other))
      expect(await stopped.number('reports')).toBe(1)
      expect(await stopped.number('blocked for')).toBeLessThan(1_000)
    },
  )

  test('of one server leaves the other one serving', async () => {
    const program = startSpeaking('two-servers.mjs', ['stop-first'])
    await bothServe(program)
    const [first, second] = program.lines.filter((line) => line.startsWith('serving')).map((line) => Number(line.slice('serving '.length)))
    program.signal('SIGUSR2')
    await program.said('exit code of the first 0')
    await expect(fetch(`http://127.0.0.1:${first}/`)).rejects.toThrow('fetch failed')
    // Longer than a process is given after the end of its last life.
    const end = performance.now() + 1_200
    while (performance.now() < end) expect((await fetch(`http://127.0.0.1:${second}/`)).status).toBe(200)
    program.signal('SIGTERM')
    expect(await program.ended()).toMatchObject(GRACEFUL)
    expect(JSON.parse(program.lines.at(-1) ?? '')).toMatchObject([
      { reason: { kind: 'stop', reason: 'alone' } },
      { reason: { kind: 'os-signal' } },
    ])
  })
})

describe('other ways to be stopped', () => {
  test('the IPC message `shutdown`; others mean nothing, and the channel does not keep the process alive', async () => {
    const { program, port, answer } = await withRequest('run.mjs', [], { ipc: true })
    program.child.send('hello')
    await program.said('heard hello')
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200)
    expect(program.lines).not.toContain('StopRequested')
    program.child.send('shutdown')
    expect(await answer).toEqual([200, 'whole'])
    expect(await program.ended()).toMatchObject(GRACEFUL)
    expect(program.report()).toMatchObject({ reason: { kind: 'ipc' } })
    expect(program.stderr).toBe('')
  })

  test('the option `signal`, aborted while it serves', async () => {
    const { program, answer } = await withRequest('abort-signal.mjs')
    program.signal('SIGUSR2')
    expect(await answer).toEqual([200, 'whole'])
    expect(await program.ended()).toMatchObject(GRACEFUL)
    expect(program.report()).toMatchObject({ reason: { kind: 'abort-signal', reason: 'enough' } })
  })

  test('the option `signal`, aborted before it could start', async () => {
    const program = startSpeaking('abort-signal.mjs', ['before'])
    expect(await program.ended()).toMatchObject(GRACEFUL)
    expect(program.lines).not.toContain('Bound')
    expect(program.lines).toContain('destroyed')
    expect(program.report()).toMatchObject({ reason: { kind: 'abort-signal', reason: 'changed my mind' }, listeners: [] })
  })
})

describe('a crash', () => {
  test.each([
    ['throws', 'uncaughtException'],
    ['rejects', 'unhandledRejection'],
  ])('that %s stops the server in order but soon, whatever the delay, with exit code 1', async (how, origin) => {
    const { program, answer } = await withRequest('crashes.mjs', [how])
    program.signal('SIGUSR2')
    expect(await answer).toEqual([200, 'whole'])
    expect(await program.ended()).toMatchObject({ code: 1, signal: null })
    expect(program.lines).toEqual(expect.arrayContaining(['hook', 'destroyed']))
    const report = program.report()
    expect(report).toMatchObject({
      exitCode: 1,
      forced: null,
      reason: { kind: 'crash', origin, error: { name: 'TypeError', message: 'this is not caught' } },
      errors: [{ where: origin, error: { message: 'this is not caught', stack: expect.stringContaining('crashes.mjs') } }],
    })
    expect(report.phases.find(({ name }) => name === 'shutdown-delay')).toMatchObject({ outcome: 'ok' })
    expect(report.signals.find(({ name }) => name === 'AfterShutdownDelayDuration')?.at).toBeLessThan(5_000)
  })

  test('after another one ends the process at once, with its logs and its report', async () => {
    const { program } = await withRequest('hook-that-hangs.mjs')
    program.signal('SIGUSR2')
    await program.said('StopRequested')
    // Until time has passed they are echoes of the first.
    const again = setInterval(() => program.signal('SIGUSR2'), 100)
    onTestFinished(() => clearInterval(again))
    expect(await program.ended()).toMatchObject({ code: 1, signal: null })
    expect(program.lines).not.toContain('destroyed')
    expect(program.log.map(({ msg }) => msg)).toEqual(expect.arrayContaining(['ending by force', 'connections closed by force']))
    expect(program.report()).toMatchObject({
      exitCode: 1,
      forced: 'second-crash',
      reason: { kind: 'crash', error: { message: 'crash 1' } },
    })
  })

  test('of a process with two servers stops both', async () => {
    const program = startSpeaking('two-servers.mjs', ['crash'])
    await bothServe(program)
    program.signal('SIGUSR2')
    expect(await program.ended()).toMatchObject({ code: 1, signal: null })
    expect(JSON.parse(program.lines.at(-1) ?? '')).toMatchObject([{ reason: { kind: 'crash' } }, { reason: { kind: 'crash' } }])
  })
})

test('run() in a worker thread is refused; start() and stop() work there', async () => {
  const program = startSpeaking('in-a-worker.mjs')
  expect(await program.ended()).toMatchObject(GRACEFUL)
  expect(program.lines).toContain(
    'ERR_WORKER_THREAD run() owns the process and works in the main thread only; use start() and stop() in a worker',
  )
  expect(program.lines).toContain('answered hello')
  expect(program.lines).toContain('ended with 0')
})
