// Fails when: hooks run one after the other or before the server serves, a stop ends or waits for
// them, their signals come at another time than the listener's end or not to those that have
// returned, or a failure is not the reason of an orderly stop.
import { describe, expect, test } from 'vitest'
import { type LifePlan, never, rejects, resolves, servingLife } from '../support/fake-effects.ts'

const informers: LifePlan = { postStartHooks: ['informers', 'warm'], script: { 'post-start:informers': never } }

describe('post-start hooks', () => {
  test('run side by side, once the server serves', async () => {
    const life = await servingLife({ postStartHooks: ['a', 'b'], script: { bind: resolves(10), runPostStartHook: resolves(100) } })
    expect(life.hooks()).toEqual([])
    await life.clock.advance(10)
    expect(life.hooks()).toEqual(['started a', 'started b'])
    await life.clock.advance(100)
    expect(life.hooks()).toEqual(['started a', 'started b', 'ok a', 'ok b'])
    expect(life.at('PostStartHooksDone')).toBe(110)
  })

  test('none: done at once', async () => {
    expect((await servingLife()).signals).toContain('PostStartHooksDone')
  })

  test('have no bound: one may run as long as the server does', async () => {
    const life = await servingLife(informers)
    await life.clock.advance(7 * 24 * 3_600_000)
    expect([life.effects.left, life.ended, life.hooks()]).toEqual([[], false, ['started informers', 'started warm', 'ok warm']])
  })

  test('names with dots, stars and prototype names are names like any other', async () => {
    const names = ['a.b', 'a.*', '*', '#a', '%2E', 'constructor', '__proto__']
    const life = await servingLife({ postStartHooks: names, script: { 'post-start:a.b': resolves(10), 'post-start:a.*': resolves(20) } })
    expect(life.hooks().filter((it) => it.startsWith('ok'))).toEqual(['ok *', 'ok #a', 'ok %2E', 'ok constructor', 'ok __proto__'])
    await life.clock.advance(10)
    expect(life.hooks().at(-1)).toBe('ok a.b')
    expect(life.signals).not.toContain('PostStartHooksDone')
    await life.clock.advance(10)
    expect(life.signals).toContain('PostStartHooksDone')
  })
})

describe('a stop', () => {
  const hanging: LifePlan = { ...informers, script: { ...informers.script, drainRequests: resolves(1_000), acceptThenClose: resolves(10) } }

  test.each([
    { mode: 'refuse', abortedAt: 5_000, with: 'NotAcceptingNewRequest' },
    { mode: 'retry-after', abortedAt: 6_000, with: 'InFlightRequestsDrained' },
  ] as const)(
    'aborts the signals of all hooks, running or not, with $with, and waits for none ($mode)',
    async ({ mode, abortedAt, with: signal }) => {
      const life = await servingLife({ ...hanging, mode })
      await life.stop()
      await life.toEnd()
      expect(life.at(signal)).toBe(abortedAt)
      expect(life.effects.calls.filter(({ effect }) => effect === 'abortPostStartHooks')).toMatchObject([{ at: abortedAt }])
      // Who has not ended when the report is due is cut.
      expect(life.effects.calls.find(({ effect }) => effect === 'post-start:informers')).toMatchObject({ leftAt: life.at('AdminClosed') })
      expect(life.facts.find((fact) => fact.type === 'hook.ended' && fact.name === 'informers')).toMatchObject({
        outcome: 'cut',
        at: life.at('AdminClosed'),
      })
      expect(life.phase('post-start-hooks')).toMatchObject({ outcome: 'cut', at: life.at('AdminClosed') })
      expect(life.signals).not.toContain('PostStartHooksDone')
      expect([life.exitCode, life.ended]).toEqual([0, true])
    },
  )

  test.each<[string, LifePlan['script'], string]>([
    ['have returned', {}, 'ok'],
    ['have failed', { 'post-start:informers': rejects('no cache', 10) }, 'failed'],
  ])('aborts the signals of hooks that %s', async (_, script = {}, outcome) => {
    const life = await servingLife({ postStartHooks: ['informers'], script })
    await life.clock.advance(10)
    await life.stop()
    expect(life.outcomes['post-start-hooks']).toBe(outcome)
    expect(life.effects.called).not.toContain('abortPostStartHooks')
    await life.toEnd()
    expect(life.effects.calls.filter(({ effect }) => effect === 'abortPostStartHooks')).toMatchObject([
      { at: life.at('NotAcceptingNewRequest') },
    ])
  })

  test('is what a hook ends by: it has ended in order', async () => {
    const life = await servingLife({ ...hanging, script: { ...hanging.script, 'post-start:informers': resolves(5_500) } })
    await life.stop()
    await life.toEnd()
    expect(life.hooks()).toContain('ok informers')
    expect([life.outcomes['post-start-hooks'], life.at('PostStartHooksDone'), life.exitCode]).toEqual(['ok', 5_500, 0])
  })

  test('does not excuse a hook that fails: exit code 4', async () => {
    const life = await servingLife({ ...hanging, script: { ...hanging.script, 'post-start:informers': rejects('lost', 5_500) } })
    await life.stop()
    await life.toEnd()
    expect(life.hooks()).toContain('failed informers')
    expect([life.exitCode, life.signalFact('StopRequested')?.reason?.kind]).toEqual([4, 'stop'])
  })

  test('lets hooks come to their end before that', async () => {
    const life = await servingLife({ ...informers, script: { 'post-start:informers': resolves(3_000) } })
    await life.stop()
    await life.toEnd()
    expect([life.at('PostStartHooksDone'), life.outcomes['post-start-hooks'], life.exitCode]).toEqual([3_000, 'ok', 0])
  })

  test('what a hook that was cut answers afterwards changes nothing', async () => {
    const life = await servingLife({ ...hanging, script: { ...hanging.script, 'post-start:informers': rejects('lost', 60_000) } })
    await life.stop()
    await life.toEnd()
    await life.clock.advance(60_000)
    expect(life.facts.filter(({ type }) => type === 'late')).toMatchObject([{ what: 'post-start:informers', answer: 'rejected' }])
    expect([life.exitCode, life.outcomes['post-start-hooks']]).toEqual([0, 'cut'])
  })
})

describe('a post-start hook that fails', () => {
  test('is the reason of an orderly stop, exit code 4', async () => {
    const life = await servingLife({
      postStartHooks: ['warm'],
      preShutdownHooks: ['leave'],
      destroyFunctions: ['pool'],
      script: { 'post-start:warm': rejects('no cache', 50) },
    })
    await life.toEnd()
    expect(life.signalFact('StopRequested')).toMatchObject({
      at: 50,
      reason: { kind: 'hook-failed', hook: 'warm', error: { message: 'no cache' } },
    })
    expect(life.phase('post-start-hooks')).toMatchObject({ outcome: 'failed', error: { message: 'no cache' }, at: 50 })
    expect(life.hooks()).toEqual(['started warm', 'failed warm', 'started leave', 'ok leave', 'started pool', 'ok pool'])
    expect([life.exitCode, life.endedAt, life.signals.at(-1)]).toEqual([4, 5_050, 'Ended'])
  })

  test('does not let PostStartHooksDone fire, nor end the others', async () => {
    const life = await servingLife({ ...informers, script: { 'post-start:informers': never, 'post-start:warm': rejects('no cache') } })
    await life.clock.advance(4_999)
    expect(life.effects.left).not.toContain('post-start:informers')
    await life.toEnd()
    expect(life.hooks()).toEqual(['started informers', 'started warm', 'failed warm', 'cut informers'])
    expect(life.phase('post-start-hooks')).toMatchObject({ outcome: 'failed', error: { message: 'no cache' }, at: 5_000 })
    expect(life.signals).not.toContain('PostStartHooksDone')
  })

  test('during the drain costs exit code 4 and changes neither reason nor way', async () => {
    const life = await servingLife({ ...informers, script: { 'post-start:informers': rejects('lost', 1_000) } })
    await life.stop()
    await life.toEnd()
    expect([life.exitCode, life.signalFact('StopRequested')?.reason?.kind, life.endedAt]).toEqual([4, 'stop', 5_000])
    expect(life.outcomes['post-start-hooks']).toBe('failed')
  })

  test('twice is one stop with the first one’s reason', async () => {
    const life = await servingLife({
      postStartHooks: ['a', 'b'],
      script: { 'post-start:a': rejects('x', 20), 'post-start:b': rejects('y', 10) },
    })
    await life.toEnd()
    expect(life.signalFact('StopRequested')?.reason).toMatchObject({ hook: 'b', error: { message: 'y' } })
    expect(life.phase('post-start-hooks')).toMatchObject({ outcome: 'failed', error: { message: 'y' } })
    expect(life.hooks()).toEqual(['started a', 'started b', 'failed b', 'failed a'])
  })
})
