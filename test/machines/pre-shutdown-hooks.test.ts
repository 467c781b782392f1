// Fails when: hooks run in another order than stated, one failure stops the others or is lost, a
// hook has no bound, or a cut leaves a hook running or unnamed.
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { findCycle, type HookOrder, predecessors, preShutdownHooksMachine } from '#src/machines/phases/pre-shutdown-hooks.ts'
import { never, phaseScene, plannedHooks, rejects, resolves, type Script } from '../support/fake-effects.ts'
import { expectOnly } from '../support/illegal-events.ts'

type Hooks = Parameters<typeof plannedHooks>[0]

async function scene(hooks: Hooks, script: Script = {}) {
  const running = await phaseScene(preShutdownHooksMachine, script, { hooks: plannedHooks(hooks) })
  /** `NAME started@MS`, `NAME OUTCOME@MS`, in order. */
  const story = () =>
    running.facts.flatMap((fact) => {
      if (fact.type === 'hook.started') return [`${fact.name} started@${fact.at}`]
      return fact.type === 'hook.ended' ? [`${fact.name} ${fact.outcome}@${fact.at}`] : []
    })
  const errorsSaid = () => running.facts.flatMap((fact) => (fact.type === 'hook.ended' && fact.error ? [fact.error.message] : []))
  return Object.assign(running, { story, errorsSaid })
}

describe('the order of pre-shutdown hooks', () => {
  test('is that of registration, one after the other', async () => {
    const hooks = await scene(['a', 'b', 'c'], { runHook: resolves(2_000) })
    await hooks.clock.runToEnd()
    expect(hooks.story()).toEqual(['a started@0', 'a ok@2000', 'b started@2000', 'b ok@4000', 'c started@4000', 'c ok@6000'])
    expect([hooks.endedAt, hooks.output]).toEqual([6_000, { outcome: 'ok' }])
  })

  test('a hook with `after` starts as soon as those it names have ended', async () => {
    const hooks = await scene(['a', 'b', { name: 'c', after: ['a'] }], { 'pre-shutdown:a': resolves(10), runHook: resolves(20) })
    await hooks.clock.runToEnd()
    expect(hooks.story()).toEqual(['a started@0', 'a ok@10', 'b started@10', 'c started@10', 'b ok@30', 'c ok@30'])
  })

  test('a hook with an empty `after` starts at once', async () => {
    const hooks = await scene(['a', { name: 'b', after: [] }], { 'pre-shutdown:a': resolves(20), 'pre-shutdown:b': resolves(10) })
    await hooks.clock.runToEnd()
    expect(hooks.story()).toEqual(['a started@0', 'b started@0', 'b ok@10', 'a ok@20'])
  })

  test('a hook without `after` does not wait for one that stated its own', async () => {
    const hooks = await scene(['a', { name: 'b', after: ['a'] }, 'c'], { 'pre-shutdown:b': resolves(1_000), runHook: resolves(10) })
    await hooks.clock.runToEnd()
    expect(hooks.story()).toEqual(['a started@0', 'a ok@10', 'b started@10', 'c started@10', 'c ok@20', 'b ok@1010'])
  })

  test('a diamond joins: the last waits for both sides', async () => {
    const diamond = [
      'top',
      { name: 'left', after: ['top'] },
      { name: 'right', after: ['top'] },
      { name: 'bottom', after: ['left', 'right'] },
    ]
    const hooks = await scene(diamond, { 'pre-shutdown:left': resolves(10), 'pre-shutdown:right': resolves(30) })
    await hooks.clock.runToEnd()
    expect(hooks.story()).toEqual([
      'top started@0',
      'top ok@0',
      'left started@0',
      'right started@0',
      'left ok@10',
      'right ok@30',
      'bottom started@30',
      'bottom ok@30',
    ])
  })

  test('names with dots, stars and prototype names are names like any other', async () => {
    const hooks = await scene(['a.b', '*', 'constructor', '__proto__', { name: 'last', after: ['a.b', '*', 'constructor', '__proto__'] }])
    expect(hooks.output).toEqual({ outcome: 'ok' })
    expect(hooks.story()).toHaveLength(10)
  })

  test('predecessors drops names that no hook has', () => {
    expect(predecessors([{ name: 'a', after: ['ghost'] }])).toEqual(new Map([['a', []]]))
  })
})

describe('findCycle', () => {
  const cycle = (...hooks: HookOrder[]) => findCycle(predecessors(hooks))
  test('names the hooks along the cycle, from where it begins to where it closes', () => {
    const hooks = [
      { name: 'x', after: ['a'] },
      { name: 'a', after: ['b'] },
      { name: 'b', after: ['c'] },
      { name: 'c', after: ['a'] },
    ]
    expect(cycle(...hooks)).toEqual(['a', 'b', 'c', 'a'])
  })
  test('finds a hook that waits for itself', () => expect(cycle({ name: 'a', after: ['a'] })).toEqual(['a', 'a']))
  test('finds none in a diamond', () =>
    expect(
      cycle({ name: 'd', after: ['b', 'c'] }, { name: 'b', after: ['a'] }, { name: 'c', after: ['a'] }, { name: 'a' }),
    ).toBeUndefined())
  test('is quick about many ways to one place', () => {
    const layers = Array.from({ length: 60 }, (_, i) =>
      [0, 1].map((side) => ({ name: `${i}.${side}`, after: i === 0 ? [] : [`${i - 1}.0`, `${i - 1}.1`] })),
    )
    expect(cycle(...layers.flat())).toBeUndefined()
  })
})

describe('failures of pre-shutdown hooks', () => {
  test('one stops no other, and fails the phase when all have ended', async () => {
    const hooks = await scene(['a', 'b'], { 'pre-shutdown:a': rejects('no consul') })
    expect(hooks.story()).toEqual(['a started@0', 'a failed@0', 'b started@0', 'b ok@0'])
    expect(hooks.output).toEqual({ outcome: 'failed' })
  })

  test('are said by each hook', async () => {
    const hooks = await scene(['a', 'b', 'c'], { 'pre-shutdown:a': rejects('x'), 'pre-shutdown:c': rejects('y') })
    expect(hooks.errorsSaid()).toEqual(['x', 'y'])
  })

  test('are all that is remembered of an end, whatever the order of the ends', async () => {
    const hooks = await scene(['a', { name: 'b', after: [] }, { name: 'c', after: [] }], {
      'pre-shutdown:a': rejects('x', 20),
      'pre-shutdown:b': resolves(10),
      'pre-shutdown:c': never,
    })
    await hooks.clock.advance(20)
    expect(hooks.actor.getSnapshot().context).toMatchObject({ running: ['c'], ended: ['a', 'b'], haveFailed: true })
  })

  test('a hook that never ends has failed at its timeout, and the next one runs', async () => {
    const hooks = await scene([{ name: 'a', timeoutMs: 300 }, 'b'], { 'pre-shutdown:a': never })
    await hooks.clock.runToEnd()
    expect(hooks.story()).toEqual(['a started@0', 'a failed@300', 'b started@300', 'b ok@300'])
    expect(hooks.errorsSaid()).toEqual(['pre-shutdown hook "a" did not end within 300ms'])
    expect(hooks.effects.left).toEqual(['pre-shutdown:a'])
  })

  test('a late answer changes nothing but the report', async () => {
    const hooks = await scene([{ name: 'a', timeoutMs: 300 }, 'b'], {
      'pre-shutdown:a': rejects('too late', 400),
      'pre-shutdown:b': resolves(500),
    })
    await hooks.clock.runToEnd()
    expect(hooks.story()).toEqual(['a started@0', 'a failed@300', 'b started@300', 'b ok@800'])
    expect(hooks.facts.filter(({ type }) => type === 'late')).toMatchObject([{ what: 'pre-shutdown:a', answer: 'rejected', lateMs: 100 }])
  })
})

describe('a cut of pre-shutdown hooks', () => {
  test('aborts those that run, skips those that have not begun, and names both', async () => {
    const hooks = await scene(['a', 'b', { name: 'c', after: [] }], { 'pre-shutdown:a': never, 'pre-shutdown:c': never })
    await hooks.clock.advance(10)
    await hooks.cut()
    expect(hooks.output).toEqual({ outcome: 'cut' })
    expect(hooks.story()).toEqual(['a started@0', 'c started@0', 'a cut@10', 'b skipped@10', 'c cut@10'])
    expect(hooks.effects.left).toEqual(['pre-shutdown:a', 'pre-shutdown:c'])
    expect(hooks.clock.pending).toBe(0)
  })

  test('leaves those that have ended as they are', async () => {
    const hooks = await scene(['a', 'b'], { 'pre-shutdown:a': rejects('x'), 'pre-shutdown:b': never })
    await hooks.cut()
    expect(hooks.story()).toEqual(['a started@0', 'a failed@0', 'b started@0', 'b cut@0'])
  })

  test('late answers after it start nothing', async () => {
    const hooks = await scene(['a', 'b'], { runHook: resolves(100) })
    await hooks.cut()
    await hooks.clock.runToEnd()
    expect(hooks.effects.called).toEqual(['pre-shutdown:a'])
  })
})

describe('pre-shutdown hooks', () => {
  test('none: over at once', async () => {
    expect((await scene([])).output).toEqual({ outcome: 'ok' })
  })

  test('that start at once cost what grows with the square of their number, and no faster', async () => {
    const HOOKS = 100
    const { includes } = Array.prototype
    let searched = 0
    const spy = vi.spyOn(Array.prototype, 'includes').mockImplementation(function (this: unknown[], ...given) {
      searched += this.length
      return includes.apply(this, given)
    })
    onTestFinished(() => spy.mockRestore())
    const hooks = await scene(Array.from({ length: HOOKS }, (_, at) => ({ name: `hook-${at}`, after: [] })))
    await hooks.clock.runToEnd()
    expect(hooks.output).toEqual({ outcome: 'ok' })
    expect(searched).toBeLessThan(10 * HOOKS ** 2)
  })

  test('are moved by nothing but their hooks and a cut', async () => {
    const hooks = await scene(['a'], { runHook: never })
    const before = hooks.actor.getSnapshot()
    for (const type of ['start', 'StopRequested', 'Cut.hooks', 'Forced', 'process.signalled', '']) await hooks.send({ type })
    expect(hooks.actor.getSnapshot().value).toBe(before.value)
    expect(hooks.actor.getSnapshot().context).toEqual(before.context)
    await hooks.cut()
    await expectOnly(hooks)
  })
})
