// stop() as a program uses it: with a reason, with less time, and "now". Fails when: a second stop
// cannot force the first, a forced one waits for anything or lacks its report, a deadline of its
// own is not kept or gives more time, or what cannot be used is taken in silence.
import { describe, expect, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import type { StopOptions } from '#src/index.ts'
import { never, newLife } from '../support/life.ts'
import { fresh } from '../support/upstream-client.ts'

/** A life with a hook that hangs and a destroy function that notes that it was called. */
async function stuck() {
  const t = newLife({ clock: new VirtualClock() })
  const destroyed: string[] = []
  t.life.addPreShutdownHook('leave', () => never)
  t.life.addDestroy('pool', () => void destroyed.push('pool'))
  await t.life.start()
  return { t, destroyed }
}

describe('stop({ now: true })', () => {
  test('ends a stop that is under way in one step, with exit code 1 and a report', async () => {
    const { t, destroyed } = await stuck()
    const stoppedAt = t.clock.now()
    const first = t.life.stop('maintenance')
    await t.clock.advance(100)
    const second = t.life.stop({ now: true, reason: 'it takes too long' })
    const report = await second
    expect(t.clock.now() - stoppedAt).toBe(100)
    expect(await first).toBe(report)
    expect(report).toMatchObject({
      exitCode: 1,
      reason: { kind: 'stop', reason: 'maintenance' },
      forced: 'stop-now',
      forcedBy: { reason: 'it takes too long' },
      hooks: [{ name: 'leave', outcome: null }],
    })
    expect(t.logged('error')).toContain('ending by force')
    expect(destroyed).toEqual([])
  })

  test('also forces a stop that something else has asked for', async () => {
    const { t } = await stuck()
    const ended = t.life.run().catch(() => t.life.ended)
    t.process.signal('SIGTERM')
    void t.life.stop({ now: true })
    expect(await ended).toMatchObject({ exitCode: 1, reason: { kind: 'os-signal' }, forced: 'stop-now' })
    expect(t.process.exits).toEqual([1])
  })

  test('alone is the stop and its end: what was under way is broken off and named', async () => {
    const t = newLife({ listener: () => {} })
    await t.life.start()
    const request = fresh(t.port, '/slow').catch((error: unknown) => error)
    while (t.life.status.gauges().requests === 0) await new Promise(setImmediate)
    const report = await t.life.stop({ now: true })
    expect(report).toMatchObject({ exitCode: 1, forced: 'stop-now', requests: { after: 1, cut: [{ name: 'GET /slow' }] } })
    expect(await request).toBeInstanceOf(Error)
  })

  test('alone begins nothing: no pre-shutdown hook is called', async () => {
    const t = newLife()
    const called: string[] = []
    t.life.addPreShutdownHook('leave', ({ name }) => void called.push(name))
    await t.life.start()
    expect(await t.life.stop({ now: true })).toMatchObject({ exitCode: 1, hooks: [{ name: 'leave', outcome: null }] })
    await new Promise(setImmediate)
    expect(called).toEqual([])
  })

  test('before the start, and after the end, changes nothing that has been said', async () => {
    const t = newLife()
    const report = await t.life.stop()
    expect(await t.life.stop({ now: true })).toBe(report)
    expect(report).toMatchObject({ exitCode: 0, forced: null, forcedBy: null })
    expect(await newLife().life.stop({ now: true, reason: 'never mind' })).toMatchObject({ exitCode: 1, listeners: [] })
  })

  test('a ladder: in order, and by force when that takes too long', async () => {
    const { t } = await stuck()
    const ended = t.life.stop()
    t.clock.setTimeout(() => void t.life.stop({ now: true, reason: 'after 2 s' }), 2_000)
    await t.end(ended)
    expect(t.sinceStop('ShutdownInitiated')).toBe(0)
    expect(t.events.findLast(({ type }) => type === 'ended')?.at).toBe(2_000)
  })
})

describe('stop({ deadline })', () => {
  test.each([
    ['shortens the deadline, and with it every phase', '4s', 4_000],
    ['never extends it', '1h', 20_000],
  ])('%s', async (_, deadline, atMost) => {
    const t = newLife({ clock: new VirtualClock(), options: { deadline: '20s', shutdownDelay: '2s' } })
    t.life.addPreShutdownHook('leave', () => never, { timeout: '1h' })
    t.life.hold('job')
    const destroyed: number[] = []
    t.life.addDestroy('pool', () => void destroyed.push(t.clock.now()))
    await t.life.start()
    const stoppedAt = t.clock.now()
    const ended = t.life.stop({ deadline, reason: 'in a hurry' })
    expect(t.life.status.progress()?.leftMs).toBe(atMost)
    const report = await t.end(ended)
    expect(report).toMatchObject({ exitCode: 5, forced: null, reason: { reason: 'in a hurry' }, requests: { cut: [{ name: 'job' }] } })
    expect(destroyed).toHaveLength(1)
    expect(t.clock.now() - stoppedAt).toBeLessThan(atMost)
    // Each phase had its part: hooks first, then requests.
    const [hooks = 0, requests = 0] = ['Cut.hooks', 'Cut.requests'].map((name) => t.sinceStop(name))
    expect(hooks).toBeGreaterThan(atMost / 10)
    expect(requests - hooks).toBeGreaterThan(atMost / 20)
  })

  test('of a stop under way changes nothing', async () => {
    const { t } = await stuck()
    const ended = t.life.stop()
    void t.life.stop({ deadline: '1s' })
    await t.clock.advance(1_000)
    expect(t.life.status.progress()?.leftMs).toBe(599_000)
    void t.life.stop({ now: true })
    await ended
  })
})

test.each<[unknown, string]>([
  [42, 'stop: got 42, allowed: a reason as text, or { reason, now, deadline }'],
  [{ nwo: true }, 'nwo of stop(): unknown option (did you mean "now"?)'],
  [{ now: 1 }, 'now of stop(): got 1, allowed: true or false'],
  [{ reason: new Error('no') }, 'reason of stop(): got [object Error], allowed: text'],
  [{ deadline: 'soon' }, 'deadline of stop(): got "soon", allowed: milliseconds'],
  [
    { deadline: 10 },
    'deadline of stop(): got 10, allowed: milliseconds as a number, or text like 500ms, 5s, 1m30s (units ns, us, ms, s, m, h, d); 100ms to 24d',
  ],
])('stop(%j) is refused, and stops nothing', async (given, message) => {
  const t = newLife()
  await t.life.start()
  const error: unknown = await t.life.stop(given as StopOptions).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'ERR_OPTION_INVALID', message: expect.stringContaining(message) })
  expect(t.hasFired('StopRequested')).toBe(false)
})
