// Fails when: something that asks for the end is not heard, its reason or exit code is wrong or
// changes later, forwarded signals or the echo of a crash force, a second signal or crash does not,
// or a crash gives a drain more time.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CUTS, DEADLINE, type FakeLife, type LifePlan, never, PROFILES, resolves, servingLife } from '../support/fake-effects.ts'
import { seed } from '../support/seed.ts'

const draining: LifePlan = { script: { drainRequests: never } }

/** A life in its request drain. */
async function drainingLife(plan: LifePlan = {}): Promise<FakeLife> {
  const life = await servingLife({ ...plan, script: { ...draining.script, ...plan.script } })
  await life.signal()
  await life.clock.advance(6_000)
  return life
}

describe('whatever asks for the end', () => {
  test.each<[string, (life: FakeLife) => Promise<void>, object, number]>([
    ['stop()', (life) => life.stop(), { kind: 'stop', reason: 'test' }, 0],
    ['an OS signal', (life) => life.signal('SIGHUP'), { kind: 'os-signal', signal: 'SIGHUP' }, 0],
    ['a crash', (life) => life.crash(), { kind: 'crash', origin: 'uncaughtException', error: { message: 'boom' } }, 1],
    [
      'a listener that died',
      (life) => life.listenerDied(),
      { kind: 'listener-died', address: '127.0.0.1:8080', error: { message: 'EMFILE' } },
      4,
    ],
  ])('%s is an orderly end with its reason and exit code', async (_, ask, reason, exitCode) => {
    const life = await servingLife({ destroyFunctions: ['pool'], preShutdownHooks: ['leave'] })
    await ask(life)
    await life.toEnd()
    expect(life.signalFact('StopRequested')?.reason).toMatchObject(reason)
    expect(life.hooks()).toEqual(['started leave', 'ok leave', 'started pool', 'ok pool'])
    expect(life.signals.at(-1)).toBe('Ended')
    expect(life.facts.filter(({ type }) => type === 'forced')).toEqual([])
    expect([life.exitCode, life.amiss]).toEqual([exitCode, {}])
  })

  test('the first reason stands', async () => {
    const life = await servingLife()
    await life.stop()
    await life.listenerDied()
    await life.signal()
    await life.toEnd()
    expect(life.signals.filter((name) => name === 'StopRequested')).toHaveLength(1)
    expect([life.signalFact('StopRequested')?.reason?.kind, life.exitCode]).toEqual(['stop', 0])
  })

  test.each([
    ['stop()', (life: FakeLife) => life.stop(), PROFILES.default],
    ['a signal', (life: FakeLife) => life.signal(), PROFILES.default],
    ['Ctrl-C', (life: FakeLife) => life.signal('SIGINT', true), PROFILES.interactive],
    ['a crash', (life: FakeLife) => life.crash(), PROFILES.crash],
  ] as const)('%s chooses delay and deadline once', async (_, ask, profile) => {
    const life = await servingLife({
      script: { drainRequests: never, cutRequests: never, auditShutdown: never, runHook: never },
      destroyFunctions: ['slow'],
    })
    await ask(life)
    await life.clock.advance(1)
    await life.stop()
    await life.toEnd()
    expect(life.at('AfterShutdownDelayDuration')).toBe(profile.delayMs)
    expect(life.at('Cut.hooks')).toBeCloseTo(profile.cutsMs.hooks, 6)
    expect(life.at('Cut.destroy')).toBeCloseTo(profile.cutsMs.destroy, 6)
  })
})

describe('a second OS signal', () => {
  test.each([0, 1, 499])('after %d ms is the first one, forwarded', async (ms) => {
    const life = await servingLife(draining)
    await life.signal('SIGINT')
    await life.clock.advance(ms)
    await life.signal('SIGINT')
    await life.toEnd()
    expect(life.facts.filter(({ type }) => type === 'forced')).toEqual([])
    expect([life.exitCode, life.endedAt]).toEqual([5, CUTS.requests])
  })

  test('after 500 ms ends the life at once, exit code 1', async () => {
    const life = await servingLife(draining)
    await life.signal('SIGTERM')
    await life.clock.advance(500)
    await life.signal('SIGINT')
    expect(life.ended).toBe(true)
    expect(life.facts.slice(-2)).toMatchObject([
      { type: 'forced', why: 'second-signal' },
      { type: 'ended', exitCode: 1, at: 500 },
    ])
    expect(life.effects.called.at(-1)).toBe('force')
    // Nothing is left behind: no timer of the machine, no effect that is still listened to.
    expect(life.clock.pending).toBe(0)
  })

  test('leaves every effect that runs', async () => {
    const life = await servingLife({
      preShutdownHooks: ['leave'],
      postStartHooks: ['informers'],
      script: { runHook: never, runPostStartHook: never, beginNotifying: never },
    })
    await life.signal()
    await life.clock.advance(600)
    await life.signal()
    expect([...life.effects.left].sort()).toEqual(['beginNotifying', 'post-start:informers', 'pre-shutdown:leave'])
  })

  test('the debounce counts from the first: a repeated key does not extend it', async () => {
    const life = await servingLife(draining)
    for (let i = 0; i < 5; i++) {
      await life.signal('SIGINT')
      await life.clock.advance(100)
    }
    await life.signal('SIGINT')
    expect([life.ended, life.exitCode]).toEqual([true, 1])
  })

  test('is not what a first one after stop() is', async () => {
    const life = await servingLife(draining)
    await life.stop()
    await life.clock.advance(2_000)
    await life.signal()
    expect(life.ended).toBe(false)
    await life.clock.advance(600)
    await life.signal()
    expect([life.ended, life.exitCode]).toEqual([true, 1])
  })

  test('ends start-up and failed starts, too', async () => {
    const life = await servingLife({ destroyFunctions: ['slow'], script: { bind: never, runHook: never } })
    await life.signal()
    await life.clock.advance(600)
    await life.signal()
    expect([life.ended, life.exitCode, life.effects.called.at(-1)]).toEqual([true, 1, 'force'])
  })

  test.each([['fails', { kind: 'reject', afterMs: 0, error: new Error('EBADF') }] as const])(
    'ends the life also when forcing %s',
    async (_, force) => {
      const life = await drainingLife({ script: { force } })
      await life.signal()
      expect([life.ended, life.exitCode]).toEqual([true, 1])
    },
  )
})

describe('a crash', () => {
  test('in a drain costs exit code 1 and goes on in order', async () => {
    const life = await servingLife({ destroyFunctions: ['pool'] })
    await life.stop()
    await life.crash()
    await life.toEnd()
    expect([life.exitCode, life.signals.at(-1), life.hooks()]).toEqual([1, 'Ended', ['started pool', 'ok pool']])
    expect(life.signalFact('StopRequested')?.reason?.kind).toBe('stop')
  })

  test('in a drain brings the cuts forward', async () => {
    const life = await drainingLife()
    await life.crash()
    await life.toEnd()
    expect(life.at('Cut.requests')).toBeCloseTo(6_000 + PROFILES.crash.cutsMs.requests, 6)
    expect(life.amiss).toEqual({ 'request-drain': 'cut' })
  })

  const instants = ['hooks', 'requests', 'connections', 'audit', 'destroy', 'flush'] as const
  test('never moves a cut or the deadline further away, whenever it comes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: DEADLINE - 1 }), async (crashAt) => {
        const everything = [
          'drainRequests',
          'cutRequests',
          'auditShutdown',
          'acceptThenClose',
          'closeAdmin',
          'flushLogs',
          'writeReport',
          'writeReportNow',
        ]
        const life = await servingLife({
          script: Object.fromEntries([...everything, 'runHook', 'startRest'].map((name) => [name, never])),
          destroyFunctions: ['slow'],
        })
        await life.stop()
        await life.clock.advance(crashAt)
        await life.crash()
        await life.toEnd()
        const { cutsMs, deadlineMs } = PROFILES.crash
        for (const instant of instants) expect(life.at(`Cut.${instant}`)).toBeCloseTo(Math.min(CUTS[instant], crashAt + cutsMs[instant]), 6)
        expect(life.endedAt).toBeCloseTo(Math.min(DEADLINE, crashAt + deadlineMs), 6)
        expect(life.exitCode).toBe(1)
      }),
      { seed, numRuns: 25 },
    )
  })

  test('in start-up stops it', async () => {
    const life = await servingLife({ script: { bind: never } })
    await life.crash()
    await life.toEnd()
    expect([life.outcomes['bind'], life.exitCode]).toEqual(['skipped', 1])
  })
})

describe('a second crash', () => {
  const ORIGINS = ['uncaughtException', 'unhandledRejection'] as const
  const other = (origin: (typeof ORIGINS)[number]) => ORIGINS[origin === ORIGINS[0] ? 1 : 0]

  describe.each(ORIGINS)('after an %s', (origin) => {
    test.each([0, 1, 499])('of the same origin after %d ms is the same defect again: the drain goes on', async (ms) => {
      const life = await servingLife({ script: { drainRequests: resolves(1_000) } })
      await life.crash('first', origin)
      await life.clock.advance(ms)
      await life.crash('second', origin)
      await life.toEnd()
      expect(life.facts.filter(({ type }) => type === 'forced')).toEqual([])
      expect([life.exitCode, life.endedAt, life.amiss]).toEqual([1, 1_000, {}])
      expect(life.signalFact('StopRequested')?.reason).toMatchObject({ origin, error: { message: 'first' } })
    })

    test.each(ORIGINS)('leaves nothing to trust after 500 ms: the life ends at once (%s)', async (second) => {
      const life = await servingLife(draining)
      await life.crash('first', origin)
      await life.clock.advance(500)
      await life.crash('second', second)
      expect(life.facts.slice(-2)).toMatchObject([
        { type: 'forced', why: 'second-crash' },
        { type: 'ended', exitCode: 1, at: 500 },
      ])
      expect(life.effects.called.at(-1)).toBe('force')
      expect(life.clock.pending).toBe(0)
    })

    test('of the other origin is one whenever it comes', async () => {
      const life = await drainingLife()
      await life.crash('first', origin)
      expect(life.ended).toBe(false)
      await life.crash('second', other(origin))
      expect([life.ended, life.exitCode]).toEqual([true, 1])
    })
  })

  test('is counted from the first: crashes that never stop are no echo for ever', async () => {
    const life = await servingLife(draining)
    for (let i = 0; i < 5; i++) {
      await life.crash()
      await life.clock.advance(100)
    }
    expect(life.ended).toBe(false)
    await life.crash()
    expect([life.ended, life.exitCode, life.endedAt]).toEqual([true, 1, 500])
  })
})
