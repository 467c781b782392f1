// Fails when: a destroy function is not called, is called twice or out of order, or a failure, a
// hang or a cut keeps another from being called.
import { describe, expect, test } from 'vitest'
import { destroyMachine } from '#src/machines/phases/destroy.ts'
import { never, phaseScene, rejects, resolves, type Script } from '../support/fake-effects.ts'
import { expectOnly } from '../support/illegal-events.ts'

async function scene(names: readonly string[], script: Script = {}) {
  const functions = names.map((name) => ({ kind: 'destroy', name, timeoutMs: 1_000 }) as const)
  const destroy = await phaseScene(destroyMachine, script, { functions })
  const story = () =>
    destroy.facts.flatMap((fact) => {
      if (fact.type === 'hook.started') return [`${fact.name} started@${fact.at}`]
      return fact.type === 'hook.ended' ? [`${fact.name} ${fact.outcome}@${fact.at}`] : []
    })
  return Object.assign(destroy, { story })
}

describe('destroy', () => {
  test('runs every function, one after the other, in the order given', async () => {
    const destroy = await scene(['pool', 'cache'], { runHook: resolves(100) })
    await destroy.clock.runToEnd()
    expect(destroy.story()).toEqual(['pool started@0', 'pool ok@100', 'cache started@100', 'cache ok@200'])
    expect(destroy.output).toEqual({ outcome: 'ok' })
  })

  test('without functions is over at once', async () => {
    expect((await scene([])).output).toEqual({ outcome: 'ok' })
  })

  test('goes on after a failing function, and each failure is said', async () => {
    const destroy = await scene(['a', 'b', 'c'], { 'destroy:a': rejects('x'), 'destroy:b': rejects('y') })
    expect(destroy.effects.called).toEqual(['destroy:a', 'destroy:b', 'destroy:c'])
    expect(destroy.output).toEqual({ outcome: 'failed' })
    expect(destroy.facts.flatMap((fact) => (fact.type === 'hook.ended' && fact.error ? [fact.error.message] : []))).toEqual(['x', 'y'])
  })

  test('reports a failure of the last function, too', async () => {
    expect((await scene(['a'], { 'destroy:a': rejects('x') })).output).toMatchObject({ outcome: 'failed' })
  })

  test('a function that never ends costs its timeout and no other’s turn', async () => {
    const destroy = await scene(['a', 'b'], { 'destroy:a': never })
    await destroy.clock.runToEnd()
    expect(destroy.story()).toEqual(['a started@0', 'a failed@1000', 'b started@1000', 'b ok@1000'])
    expect(destroy.effects.left).toEqual(['destroy:a'])
  })

  test('a late answer changes nothing but the report', async () => {
    const destroy = await scene(['a', 'b'], { 'destroy:a': rejects('late', 1_200), 'destroy:b': resolves(500) })
    await destroy.clock.runToEnd()
    expect(destroy.story()).toEqual(['a started@0', 'a failed@1000', 'b started@1000', 'b ok@1500'])
    expect(destroy.facts.filter(({ type }) => type === 'late')).toMatchObject([{ what: 'destroy:a', lateMs: 200 }])
  })

  test('cut, it aborts the running function and starts the rest without waiting for them', async () => {
    const destroy = await scene(['a', 'b', 'c', 'd'], { 'destroy:b': never })
    await destroy.cut()
    expect(destroy.effects.left).toEqual(['destroy:b'])
    expect(destroy.effects.calls.at(-1)).toMatchObject({ effect: 'startRest', input: { functions: [{ name: 'c' }, { name: 'd' }] } })
    expect(destroy.story()).toEqual(['a started@0', 'a ok@0', 'b started@0', 'b cut@0'])
    expect(destroy.output).toEqual({ outcome: 'cut' })
  })

  test('a second cut ends a start of the rest that hangs; one that fails leaves it cut', async () => {
    const hanging = await scene(['a'], { runHook: never, startRest: never })
    await hanging.cut()
    expect(hanging.state).toBe('cutting')
    await hanging.cut()
    expect(hanging.output).toEqual({ outcome: 'cut' })
    const failing = await scene(['a'], { runHook: never, startRest: rejects('x') })
    await failing.cut()
    expect(failing.output).toMatchObject({ outcome: 'cut', error: { message: 'x' } })
  })

  test('is moved by nothing else', async () => {
    const destroy = await scene(['a'], { runHook: never, startRest: never })
    await expectOnly(destroy, 'cut')
    await destroy.cut()
    await expectOnly(destroy, 'cut')
    await destroy.cut()
    await expectOnly(destroy)
  })
})
