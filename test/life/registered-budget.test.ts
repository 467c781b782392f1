// What a stop has: nothing is kept for what is not registered, and what was asked for is said and
// kept. Fails when: time is kept for a phase that has nothing to do, or not kept for one that has;
// when it is said wrongly; when the limit of the request drain is not heeded, or what it breaks off
// is not told, not named, or waited for.
import { expect, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import type { Lifecycle } from '#src/lifecycle/lifecycle.ts'
import { aborted, NotedAudit, never, newLife } from '../support/life.ts'

const stopped = async (register: (life: Lifecycle) => unknown = () => {}, options = {}) => {
  const t = newLife({ clock: new VirtualClock(), options: { deadline: '8s', ...options } })
  register(t.life)
  await t.life.start()
  return { t, report: await t.end() }
}

test('requests have all but what connections and the report need, when nothing else is registered', async () => {
  const { t, report } = await stopped()
  expect(report.budget).toEqual({
    delay: 0,
    watchGrace: 2_666,
    deadline: 8_000,
    cuts: { hooks: 4_581.333, requests: 7_248, connections: 7_498, audit: 7_499, destroy: 7_500, flush: 7_900 },
  })
  expect(t.logged('info')).toContain('stop requested: requests have until +7.248s, everything until +8s')
})

test.each([
  ['a destroy function', (life: Lifecycle) => life.addDestroy('pool', () => {}), {}, 5_249],
  ['a destroy function that was taken back', (life: Lifecycle) => life.addDestroy('pool', () => {})[Symbol.dispose](), {}, 7_248],
  ['an audit backend', () => {}, { audit: new NotedAudit() }, 6_249],
  ['a phase that destroy waits for', (life: Lifecycle) => life.addPhase('flush queue', () => {}), {}, 6_249],
  ['a phase that the report waits for', (life: Lifecycle) => life.addPhase('send', () => {}, { before: ['report'] }), {}, 5_249],
  [
    'a phase among the first',
    (life: Lifecycle) => life.addPhase('leave', () => {}, { before: ['not-accepting'], after: ['StopRequested'] }),
    {},
    7_248,
  ],
])('%s is kept its time', async (_, register, options, requests) => {
  expect((await stopped(register, options)).report.budget?.cuts.requests).toBe(requests)
})

test('what is registered counts until the stop is requested; after that nothing moves', async () => {
  const t = newLife({ clock: new VirtualClock(), options: { deadline: '8s' } })
  await t.life.start()
  expect(t.life.plan().input.profiles.default.cutsMs.requests).toBe(7_248)
  t.life.addDestroy('pool', () => {})
  const ended = t.life.stop()
  t.life.addDestroy('late', () => {})
  expect((await t.end(ended)).budget?.cuts.requests).toBe(5_249)
  const other = newLife({ clock: new VirtualClock(), options: { deadline: '8s' } })
  await other.life.start()
  const otherEnded = other.life.stop()
  other.life.addDestroy('late', () => {})
  expect((await other.end(otherEnded)).budget?.cuts.requests).toBe(7_248)
})

test('a last call may begin at once without pre-shutdown hooks, and keeps their time with some', () => {
  const lastCallMs = (...hooks: string[]): number => {
    const { life } = newLife({ clock: new VirtualClock(), options: { deadline: '8s', lastCall: '3s' } })
    for (const name of hooks) life.addPreShutdownHook(name, () => {})
    return life.plan().input.profiles.default.lastCallMs
  }
  expect(lastCallMs()).toBe(3_000)
  expect(lastCallMs('leave')).toBeLessThan(lastCallMs())
})

test('a request that needs nearly all of the deadline has it', async () => {
  const t = newLife({ clock: new VirtualClock(), options: { deadline: '8s' } })
  await t.life.start()
  const job = t.life.hold('job', () => new Promise<void>((resolve) => void t.clock.setTimeout(resolve, 7_000)))
  const report = await t.end()
  await job
  expect(report).toMatchObject({ exitCode: 0, requests: { before: 1, after: 0 } })
})

test('the limit of the request drain breaks off what is left: told, named, its connection closed, its handler not waited for', async () => {
  const t = newLife({
    clock: new VirtualClock(),
    options: { deadline: '60s', requestDrainTimeout: '2s' },
    listener: (request, response) => (request.url === '/hangs' ? never : response.end('hello')) as never,
  })
  await t.life.start()
  const notified = t.life.hold('job', ({ signal }) => aborted(signal))
  const answer = t.get('/hangs').then(
    () => 'answered',
    (error: { code?: string }) => error.code,
  )
  while (t.life.status.gauges().requests === 0) await t.clock.advance(1)
  const ended = t.life.stop()
  while (!t.hasFired('NotAcceptingNewRequest')) await t.clock.advance(1)
  expect(t.life.status.progress()).toMatchObject({
    phases: [{ name: 'request-drain', leftMs: expect.closeTo(2_000, -2) }],
    blockers: [{ name: 'GET /hangs' }, { name: 'job' }],
    headline: expect.stringMatching(/^GET \/hangs and 1 more block the exit; cut in (2\.0|1\.9)s$/),
  })
  const report = await t.end(ended)
  await notified
  expect(await answer).toBe('ECONNRESET')
  expect(report).toMatchObject({
    exitCode: 5,
    forced: null,
    requests: { before: 2, after: 2, cut: [{ name: 'GET /hangs' }, { name: 'job' }] },
    platform: { defaults: { requestDrainTimeout: { ms: 2_000, because: 'given' } } },
  })
  expect(t.sinceStop('RequestsDrained')).toBeGreaterThanOrEqual(2_000)
  expect(t.sinceStop('Ended')).toBeLessThan(10_000)
})

test('a crash has the deadline that was given', async () => {
  const t = newLife({ clock: new VirtualClock(), options: { deadline: '20s' } })
  t.life.addDestroy('flush', () => new Promise((resolve) => void t.clock.setTimeout(() => resolve(undefined), 10_000)), { timeout: '15s' })
  await t.life.start()
  t.life.root.send({ type: 'process.crashed', origin: 'uncaughtException', error: { name: 'Error', message: 'boom' } })
  const report = await t.end(t.life.ended)
  expect(report).toMatchObject({ exitCode: 1, forced: null, budget: { deadline: 20_000 } })
  expect(report.hooks).toMatchObject([{ name: 'flush', outcome: 'ok' }])
})
