// Fails when: start-up runs out of order or without a bound, goes on after a failure or a stop, or
// what was acquired is not released (or something is released that never was).
import { describe, expect, test } from 'vitest'
import type { LifecycleEvent } from '#src/base/events.ts'
import { type Answer, CUTS, FakeLife, type LifePlan, never, rejects, resolves, servingLife } from '../support/fake-effects.ts'

const START_BOUND_MS = 10_000
const registered: LifePlan = { preShutdownHooks: ['leave'], destroyFunctions: ['pool', 'cache'], postStartHooks: ['warm'] }

/** What a run did about its resources, in order. */
const doings = ({ effects }: FakeLife): string[] =>
  effects.called.filter(
    (effect) => ['auditRun', 'bind', 'announce', 'acceptThenClose', 'auditShutdown'].includes(effect) || effect.includes(':'),
  )

describe('start-up', () => {
  test('is ordered: audit, listeners, serving, hooks, ready', async () => {
    const life = await servingLife(registered)
    expect(life.signals).toEqual([
      'Start',
      'MuxAndDiscoveryComplete',
      'AuditRunning',
      'Bound',
      'Serving',
      'PostStartHooksLaunched',
      'PostStartHooksDone',
      'Announced',
    ])
    expect(life.effects.called).toEqual(['auditRun', 'bind', 'post-start:warm', 'announce'])
  })

  test('does one step after the other', async () => {
    const life = await servingLife({ script: { auditRun: resolves(100), bind: resolves(50), announce: resolves(10) } })
    expect(life.effects.called).toEqual(['auditRun'])
    await life.clock.advance(100)
    expect(life.effects.called).toEqual(['auditRun', 'bind'])
    await life.clock.advance(50)
    expect([life.at('Serving'), life.at('PostStartHooksLaunched')]).toEqual([150, 150])
    await life.clock.advance(10)
    expect(life.at('Announced')).toBe(160)
  })

  test('tells the platform only after every post-start hook has been started, and does not wait for them', async () => {
    const life = await servingLife({ postStartHooks: ['a', 'b'], script: { 'post-start:a': never, 'post-start:b': never } })
    expect(life.effects.called).toEqual(['auditRun', 'bind', 'post-start:a', 'post-start:b', 'announce'])
    expect(life.signals).toContain('Announced')
    expect(life.signals).not.toContain('PostStartHooksDone')
  })

  test('a platform that cannot be told costs a record and nothing else', async () => {
    const life = await servingLife({ script: { announce: rejects('no socket') } })
    expect(life.phase('announce')).toMatchObject({ outcome: 'failed', error: { message: 'no socket' } })
    await life.stop()
    await life.toEnd()
    expect([life.exitCode, life.signals.includes('Announced')]).toEqual([0, false])
  })

  test('a platform that never answers is left after the bound', async () => {
    const life = await servingLife({ script: { announce: never } })
    await life.clock.advance(START_BOUND_MS)
    expect(life.phase('announce')).toMatchObject({ at: START_BOUND_MS, outcome: 'failed', error: { code: 'ERR_TIMEOUT' } })
    expect([life.effects.left, life.ended]).toEqual([['announce'], false])
  })

  test('HasBeenReady fires at the first passing readiness and no other time', async () => {
    const life = await servingLife()
    await life.send({ type: 'readyz.passed' })
    await life.send({ type: 'readyz.passed' })
    expect(life.signals.filter((name) => name === 'HasBeenReady')).toHaveLength(1)
  })

  test('MuxAndDiscoveryComplete waits for every mux signal, in any order', async () => {
    const life = await servingLife({ muxSignals: ['apis', 'crds'] })
    await life.mux('crds')
    expect(life.signals).not.toContain('MuxAndDiscoveryComplete')
    await life.mux('apis')
    expect(life.signals).toContain('MuxAndDiscoveryComplete')
  })

  test('mux signals that came before the start count', async () => {
    const life = new FakeLife({ muxSignals: ['apis'] })
    await life.mux('apis')
    expect(life.signals).toEqual([])
    await life.start()
    expect(life.signals).toContain('MuxAndDiscoveryComplete')
  })

  test('MuxAndDiscoveryComplete never fires once a stop was requested', async () => {
    const life = await servingLife({ muxSignals: ['apis'] })
    await life.stop()
    await life.mux('apis')
    await life.toEnd()
    expect([life.signals.includes('MuxAndDiscoveryComplete'), life.outcomes['mux-complete']]).toEqual([false, 'skipped'])
  })

  test('a second start changes nothing', async () => {
    const life = await servingLife(registered)
    const before = [...life.facts]
    await life.start()
    expect(life.facts).toEqual(before)
  })
})

describe('a start that fails', () => {
  const atOnce: Record<string, Answer> = {}
  /** Which step fails, and what had been acquired before it. */
  const steps = [
    { fails: 'audit-run', effect: 'auditRun', acquired: [] },
    { fails: 'bind', effect: 'bind', acquired: ['audit'] },
  ]

  describe.each(steps)('in $fails', ({ fails, effect, acquired }) => {
    const reverse = ['destroy:cache', 'destroy:pool']
    const released = ['acceptThenClose', ...(acquired.includes('audit') ? ['auditShutdown'] : []), ...reverse]

    test.each([
      { how: 'rejects', answer: rejects('EADDRINUSE', 20), at: 20, error: { message: 'EADDRINUSE' } },
      {
        how: 'never answers',
        answer: never,
        at: START_BOUND_MS,
        error: { code: 'ERR_TIMEOUT', message: `${fails} did not end within its bound` },
      },
    ])('because it $how: rolled back, nothing served, exit code 3', async ({ answer, at, error }) => {
      const life = await servingLife({ ...registered, script: { ...atOnce, [effect]: answer } })
      await life.toEnd()
      expect(life.phase(fails)).toMatchObject({ at, outcome: 'failed', error })
      expect(life.signalFact('StopRequested')).toMatchObject({ at, reason: { kind: 'start-failed', phase: fails, error } })
      expect(doings(life)).toEqual(fails === 'bind' ? ['auditRun', 'bind', ...released] : ['auditRun', ...released])
      expect(life.outcomes).toMatchObject({
        serve: 'skipped',
        'post-start-hooks': 'skipped',
        announce: 'skipped',
        'pre-shutdown-hooks': 'skipped',
      })
      expect([life.endedAt, life.exitCode, life.ended]).toEqual([at, 3, true])
    })

    test('answers late: that changes nothing', async () => {
      const facts = async (answer: Answer): Promise<readonly LifecycleEvent[]> => {
        // A slow destroy function keeps the life going, so that the answer comes before its end.
        const life = await servingLife({ ...registered, script: { [effect]: answer, 'destroy:pool': resolves(2_000) } })
        await life.toEnd()
        expect(life.errors).toEqual([])
        return life.facts
      }
      const withLate = await facts(resolves(START_BOUND_MS + 1_000))
      expect(withLate.filter(({ type }) => type === 'late')).toMatchObject([{ what: effect, lateMs: 1_000 }])
      expect(withLate.filter(({ type }) => type !== 'late')).toEqual(await facts(never))
    })
  })

  test('fails whole when it is refused before it begins: nothing is acquired', async () => {
    const life = new FakeLife(registered)
    await life.send({ type: 'start.refused', error: { name: 'QuiesceError', message: 'after names "x"', code: 'ERR_UNKNOWN_REFERENCE' } })
    await life.toEnd()
    expect(life.signalFact('StopRequested')).toMatchObject({ reason: { kind: 'start-failed', error: { code: 'ERR_UNKNOWN_REFERENCE' } } })
    expect(doings(life)).toEqual(['acceptThenClose', 'destroy:cache', 'destroy:pool'])
    expect([life.exitCode, life.signals.includes('Start')]).toEqual([3, false])
  })

  test('keeps exit code 3 when the roll-back fails, too', async () => {
    const life = await servingLife({ ...registered, script: { bind: rejects('EADDRINUSE'), runHook: rejects('x'), auditShutdown: never } })
    await life.toEnd()
    expect(life.amiss).toEqual({ bind: 'failed', 'audit-shutdown': 'cut', destroy: 'failed' })
    expect([life.exitCode, life.endedAt]).toEqual([3, CUTS.audit])
  })
})

describe('a stop during start-up', () => {
  const releases = { listener: 'acceptThenClose', audit: 'auditShutdown' }
  const points: readonly {
    at: string
    script: LifePlan['script']
    began: readonly string[]
    released: readonly string[]
    left: readonly string[]
    served: boolean
  }[] = [
    {
      at: 'auditRun is pending',
      script: { auditRun: never },
      began: ['auditRun'],
      released: [releases.listener],
      left: ['auditRun'],
      served: false,
    },
    {
      at: 'bind is pending',
      script: { bind: never },
      began: ['auditRun', 'bind'],
      released: [releases.listener, releases.audit],
      left: ['bind'],
      served: false,
    },
    {
      at: 'announce is pending',
      script: { announce: never },
      began: ['auditRun', 'bind', 'post-start:warm', 'announce'],
      released: [releases.listener, releases.audit],
      left: ['announce'],
      served: true,
    },
  ]

  test.each(points)('while $at releases exactly what was acquired', async ({ script = {}, began, released, left, served }) => {
    const life = await servingLife({ ...registered, script })
    await life.clock.advance(100)
    await life.stop()
    await life.toEnd()
    const hooks = served ? ['pre-shutdown:leave'] : []
    expect(doings(life)).toEqual([...began, ...hooks, ...released, 'destroy:pool', 'destroy:cache'])
    expect(life.effects.left).toEqual(left)
    expect(life.outcomes['pre-shutdown-hooks']).toBe(served ? 'ok' : 'skipped')
    expect([life.exitCode, life.ended]).toEqual([0, true])
  })

  test.each(points)('while $at: its late answer changes nothing', async ({ script = {}, left: [pending = ''] }) => {
    const facts = async (answer: Answer): Promise<readonly LifecycleEvent[]> => {
      const life = await servingLife({ ...registered, script: { ...script, [pending]: answer } })
      await life.clock.advance(100)
      await life.stop()
      await life.toEnd()
      // Long after the life itself: nothing was served, so nothing delays its end.
      await life.clock.advance(2_000)
      expect(life.errors).toEqual([])
      return life.facts
    }
    for (const answer of [resolves(1_000), rejects('too late', 1_000)]) {
      const withLate = await facts(answer)
      expect(withLate.filter(({ type }) => type === 'late')).toMatchObject([{ what: pending, lateMs: 900 }])
      expect(withLate.filter(({ type }) => type !== 'late')).toEqual(await facts(never))
    }
  })

  test('before it: nothing is acquired, and a start that follows does nothing', async () => {
    const life = new FakeLife(registered)
    await life.stop()
    await life.start()
    await life.toEnd()
    expect(doings(life)).toEqual(['acceptThenClose', 'destroy:pool', 'destroy:cache'])
    expect(life.signals).not.toContain('Start')
    expect([life.exitCode, life.ended]).toEqual([0, true])
  })

  test('is no failed start: destroy keeps the order of registration', async () => {
    const life = await servingLife({ ...registered, script: { bind: never } })
    await life.stop()
    await life.toEnd()
    expect(life.hooks('destroy')).toEqual(['started pool', 'ok pool', 'started cache', 'ok cache'])
  })

  test('skips every start phase that had not ended and fires none of their signals, and skips what only a server that served has to do', async () => {
    const life = await servingLife({ ...registered, script: { bind: never } })
    await life.stop()
    await life.toEnd()
    const skipped = Object.entries(life.outcomes).flatMap(([phase, outcome]) => (outcome === 'skipped' ? [phase] : []))
    expect(skipped.sort()).toEqual([
      'announce',
      'bind',
      'has-been-ready',
      'notify-clients',
      'post-start-hooks',
      'post-start-launch',
      'pre-shutdown-hooks',
      'serve',
      'shutdown-delay',
    ])
    for (const signal of ['Bound', 'Serving', 'PostStartHooksLaunched', 'Announced']) expect(life.signals).not.toContain(signal)
    expect(life.signalFact('PreShutdownHooksStopped')).toMatchObject({ outcome: 'skipped' })
  })
})
