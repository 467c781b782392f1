// Pre-shutdown hooks against a server that serves (the PS rows; upstream's pkg/server/hooks.go),
// and what ours can do beyond upstream's: an order, a bound, an end. Fails when: a hook meets a
// closed door, one failing or hanging hook costs requests, audit events, another hook or the end,
// or a failure does not stand in the report and the exit code.
import { describe, expect, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { loopbackHeaders } from '#src/index.ts'
import { aborted, NotedAudit, never, newLife } from '../support/life.ts'
import { startSpeaking } from '../support/process.ts'
import { row } from '../support/row.ts'
import { fresh, REFUSED } from '../support/upstream-client.ts'
import { Roadblock } from '../support/upstream-server.ts'

const fails = (text: string) => () => Promise.reject(new Error(text))
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

describe.each([
  ['PS-01', 'plain mode', 'refuse'],
  ['PS-02', 'retry-after mode', 'retry-after'],
] as const)('%s', (id, mode, whileDraining) => {
  row(id, `a hook that calls the server long after the delay is answered each time, in ${mode}`, async () => {
    const t = newLife({ options: { whileDraining, shutdownDelay: 30 } })
    const statuses: number[] = []
    t.life.addPreShutdownHook('calls-the-server', async () => {
      await t.fired('AfterShutdownDelayDuration')
      for (let i = 0; i < 5; i++) {
        statuses.push((await t.get('/')).status)
        await pause(20)
      }
      expect(t.hasFired('NotAcceptingNewRequest')).toBe(false)
    })
    const run = t.life.run()
    await t.fired('Serving')
    t.process.signal('SIGTERM')
    const report = await t.end(run)
    expect(statuses).toEqual([200, 200, 200, 200, 200])
    expect(report).toMatchObject({ exitCode: 0, errors: [] })
  })
})

describe('a hook that never returns', () => {
  row('PS-03', 'holds the door open until its bound, and no longer (V2)', async () => {
    const t = newLife({ clock: new VirtualClock(), options: { shutdownDelay: '1s' } })
    let notified: AbortSignal | undefined
    t.life.addPreShutdownHook(
      'hangs',
      ({ signal }) => {
        notified = signal
        return never
      },
      { timeout: '5s' },
    )
    await t.life.start()
    void t.life.stop()

    await t.clock.advance(4_999)
    expect(t.hasFired('ShutdownInitiated')).toBe(true)
    expect(t.hasFired('AfterShutdownDelayDuration')).toBe(true)
    expect(t.hasFired('NotAcceptingNewRequest')).toBe(false)
    expect((await t.get('/')).status).toBe(200)
    expect((await t.get('/readyz')).status).toBe(500)
    expect((await t.get('/livez')).status).toBe(200)
    expect(notified?.aborted).toBe(false)

    await t.clock.advance(1)
    expect(notified?.reason).toMatchObject({ message: 'pre-shutdown hook "hangs" is out of time' })
    expect(t.hasFired('NotAcceptingNewRequest')).toBe(true)
    await expect(t.get('/')).rejects.toEqual(REFUSED)
    const report = await t.end()
    expect(report.exitCode).toBe(4)
    expect(report.hooks).toEqual([
      expect.objectContaining({
        name: 'hangs',
        outcome: 'failed',
        durationMs: 5_000,
        error: expect.objectContaining({ code: 'ERR_TIMEOUT' }),
      }),
    ])
  })

  test('is cut when the budget needs the time, the hooks behind it are skipped, and the drain still has its share', async () => {
    const t = newLife({ clock: new VirtualClock(), options: { deadline: '8s', hookTimeout: '1m' } })
    const called: string[] = []
    t.life.addPreShutdownHook('hangs', () => never)
    t.life.addPreShutdownHook('behind', () => void called.push('behind'))
    await t.life.start()
    const report = await t.end()
    expect(called).toEqual([])
    expect(report.hooks).toMatchObject([
      { name: 'hangs', outcome: 'cut' },
      { name: 'behind', outcome: 'skipped' },
    ])
    expect(report.exitCode).toBe(5)
    const [hooks, drain] = ['pre-shutdown-hooks', 'request-drain'].map((name) => report.phases.find((phase) => phase.name === name))
    expect(hooks).toMatchObject({ outcome: 'cut' })
    expect(drain).toMatchObject({ outcome: 'ok' })
    expect(drain?.budget).toBeGreaterThan(1_000)
  })

  test('and then answers late is reported, and changes nothing', async () => {
    const clock = new VirtualClock()
    const t = newLife({ clock, options: { audit: new NotedAudit({ shutdown: () => later(clock, 50) }) } })
    t.life.addPreShutdownHook('late', () => later(t.clock, 1_020), { timeout: '1s' })
    t.life.addPreShutdownHook('late-and-wrong', () => later(t.clock, 1_010).then(fails('too late')), { timeout: '1s', after: [] })
    await t.life.start()
    const report = await t.end()
    expect(report.exitCode).toBe(4)
    expect(report.lateAnswers).toMatchObject([
      { what: 'pre-shutdown hook "late-and-wrong"', answer: 'rejected', lateMs: 10, error: { message: 'too late' } },
      { what: 'pre-shutdown hook "late"', answer: 'resolved', lateMs: 20 },
    ])
  })
})

const later = (clock: VirtualClock, ms: number): Promise<void> => new Promise((resolve) => void clock.setTimeout(() => resolve(), ms))

describe('a hook that fails', () => {
  row('PS-04', 'stops no other hook, and run() returns its error with the rest of the story (V1)', async () => {
    const t = newLife()
    const called: string[] = []
    t.life.addPreShutdownHook('first', () => {
      called.push('first')
      return Promise.reject(new Error('no way'))
    })
    t.life.addPreShutdownHook('second', () => void called.push('second'))
    const run = t.life.run()
    await t.fired('Serving')
    t.process.signal('SIGTERM')
    const report = await t.end(run)
    expect(called).toEqual(['first', 'second'])
    expect(t.hasFired('PreShutdownHooksStopped')).toBe(true)
    expect(report.exitCode).toBe(4)
    expect(report.errors).toEqual([{ where: 'pre-shutdown hook "first"', error: expect.objectContaining({ message: 'no way' }) }])
    expect(report.phases.find(({ name }) => name === 'pre-shutdown-hooks')?.error?.message).toBe('PreShutdownHook "first" failed: no way')
    expect(t.logged('error')).toContain('PreShutdownHook "first" failed: no way')
    expect(t.process.exitCode).toBe(4)
  })

  row(['PS-05', 'PS-06'], 'costs neither the request in flight nor the audit events nor the order of the rest (V1)', async () => {
    const order: string[] = []
    const audit = new NotedAudit({ shutdown: () => void order.push('audit shut down') })
    const slow = new Roadblock()
    const t = newLife({ options: { audit }, listener: (_, response) => void slow.pass().then(() => response.end('whole')) })
    t.life.addPreShutdownHook('fails', fails('no way'))
    t.life.addDestroy('pool', () => void order.push('destroyed'))
    await t.life.start()
    const answer = t.get('/slow').then((got) => {
      order.push('answered')
      return got
    })
    await slow.reached
    const ended = t.life.stop()
    await t.fired('HTTPServerStoppedListening')
    expect(t.hasFired('NotAcceptingNewRequest')).toBe(true)
    expect(t.hasFired('InFlightRequestsDrained')).toBe(false)
    expect(order).toEqual([])
    slow.release()

    const report = await t.end(ended)
    expect(await answer).toMatchObject({ status: 200, body: 'whole' })
    expect(order.at(-1)).toBe('destroyed')
    expect([...order].sort()).toEqual(['answered', 'audit shut down', 'destroyed'])
    expect(audit.calls).toEqual(['run', 'shutdown'])
    expect(t.signals.indexOf('InFlightRequestsDrained')).toBeLessThan(t.signals.indexOf('AuditStopped'))
    expect(report).toMatchObject({ exitCode: 4, requests: { before: 1, after: 0 } })
  })

  row('PS-07', 'is told of together with others that failed, as upstream joins them', async () => {
    const t = newLife()
    t.life.addPreShutdownHook('x', fails('a'))
    t.life.addPreShutdownHook('y', fails('b'))
    await t.life.start()
    const report = await t.end()
    expect(report.phases.find(({ name }) => name === 'pre-shutdown-hooks')?.error?.message).toBe(
      '[PreShutdownHook "x" failed: a, PreShutdownHook "y" failed: b]',
    )
    expect(report.errors.map(({ error }) => error.message)).toEqual(['a', 'b'])
  })

  row('PS-09', 'by throwing ends like any other: the hooks stop, destroy runs, and the process exits with 4 (V13)', async () => {
    const program = startSpeaking('hook-that-throws.mjs')
    await program.said('serving')
    program.signal('SIGTERM')
    expect(await program.ended()).toMatchObject({ code: 4, signal: null })
    expect(program.lines).toEqual(expect.arrayContaining(['PreShutdownHooksStopped', 'destroyed']))
    expect(program.report()).toMatchObject({
      exitCode: 4,
      hooks: [
        { kind: 'pre-shutdown', name: 'throws', outcome: 'failed', error: { name: 'TypeError', message: 'thrown, not rejected' } },
        { kind: 'pre-shutdown', name: 'next', outcome: 'ok' },
        { kind: 'destroy', name: 'pool', outcome: 'ok' },
      ],
    })
    expect(program.stderr).toBe('')
  })

  row('PS-10', 'by throwing is never a success, whatever it throws (V13)', async () => {
    const t = newLife()
    const thrown: unknown[] = [new Error('an error'), 'text', undefined, null, { toString: () => never }]
    for (const [i, what] of thrown.entries()) {
      t.life.addPreShutdownHook(`throws-${i}`, () => {
        throw what
      })
    }
    await t.life.start()
    const report = await t.end()
    expect(report.exitCode).toBe(4)
    expect(report.hooks.map(({ outcome }) => outcome)).toEqual(thrown.map(() => 'failed'))
    expect(report.hooks.map(({ error }) => error?.message)).toEqual(['an error', 'text', 'undefined', 'null', '{}'])
  })
})

describe('the order of hooks', () => {
  row('PS-08', 'is that of registration, one after the other: two of 2 s take 4 s', async () => {
    const t = newLife({ clock: new VirtualClock() })
    for (const name of ['one', 'two']) t.life.addPreShutdownHook(name, () => later(t.clock, 2_000))
    await t.life.start()
    void t.life.stop()
    await t.clock.advance(3_999)
    expect(t.hasFired('PreShutdownHooksStopped')).toBe(false)
    await t.clock.advance(1)
    expect(t.hasFired('PreShutdownHooksStopped')).toBe(true)
    expect((await t.end()).hooks.map(({ name, durationMs }) => [name, durationMs])).toEqual([
      ['one', 2_000],
      ['two', 2_000],
    ])
  })

  test('is what `after` says where it is given: side by side unless one names the other', async () => {
    const t = newLife({ clock: new VirtualClock() })
    const order: string[] = []
    const hook =
      (ms: number) =>
      async ({ name }: { readonly name: string }) => {
        order.push(`${name} begins`)
        await later(t.clock, ms)
        order.push(`${name} ends`)
      }
    // Named before it is registered: the order of registration is not an order of knowledge.
    t.life.addPreShutdownHook('leave', hook(10), { after: ['flush', 'drain-queue'] })
    t.life.addPreShutdownHook('flush', hook(20), { after: [] })
    t.life.addPreShutdownHook('drain-queue', hook(30), { after: [] })
    await t.life.start()
    expect((await t.end()).exitCode).toBe(0)
    expect(order).toEqual(['flush begins', 'drain-queue begins', 'flush ends', 'drain-queue ends', 'leave begins', 'leave ends'])
    expect(t.sinceStop('PreShutdownHooksStopped')).toBe(40)
  })

  test('goes on behind a hook that failed or timed out', async () => {
    const t = newLife({ clock: new VirtualClock() })
    const called: string[] = []
    t.life.addPreShutdownHook('fails', fails('no way'), { after: [] })
    t.life.addPreShutdownHook('hangs', () => never, { after: [], timeout: 100 })
    t.life.addPreShutdownHook('last', () => void called.push('last'), { after: ['fails', 'hangs'] })
    await t.life.start()
    expect((await t.end()).exitCode).toBe(4)
    expect(called).toEqual(['last'])
  })
})

test('hooks do not run when the server never served, because what they would undo was never done', async () => {
  const t = newLife({ options: { audit: new NotedAudit({ run: () => never }) } })
  const called: string[] = []
  t.life.addPreShutdownHook('leave', () => void called.push('leave'))
  const started = t.life.start()
  const report = await t.end()
  await expect(started).rejects.toMatchObject({ code: 'ERR_STOPPED_DURING_START' })
  expect(called).toEqual([])
  expect(report.phases.find(({ name }) => name === 'pre-shutdown-hooks')).toMatchObject({ outcome: 'skipped' })
})

test('a hook that runs into the drain is answered by its own server as its own client', async () => {
  // The other hook's bound ends the phase; this one is aborted, goes on all the same, and calls in
  // retry-after mode.
  const slow = new Roadblock()
  const t = newLife({
    options: { whileDraining: 'retry-after' },
    listener: (request, response) => {
      if (request.url === '/slow') void slow.pass().then(() => response.end())
      else response.end('hello')
    },
  })
  const answers: number[] = []
  const called = new Promise<void>((resolve) => {
    t.life.addPreShutdownHook(
      'deregister',
      async ({ signal }) => {
        await aborted(signal)
        await t.fired('NotAcceptingNewRequest')
        for (const headers of [{}, loopbackHeaders()]) answers.push((await fresh(t.port, '/', { headers })).status)
        resolve()
      },
      { timeout: 20 },
    )
  })
  await t.life.start()
  const inFlight = t.get('/slow')
  await slow.reached
  const ended = t.life.stop()
  await called
  slow.release()
  await t.end(ended)
  expect(answers).toEqual([429, 200])
  expect((await inFlight).status).toBe(200)
})
