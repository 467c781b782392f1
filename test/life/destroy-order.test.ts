// The order of destroy functions. Fails when: one runs before another that it was to come after,
// registration or its reverse is not kept among the others, a roll-back does not heed `after`, or
// functions that can never run, or wait for nothing, are taken in silence.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DestroyOptions, ServerOptions } from '#src/index.ts'
import { destroySequence } from '#src/machines/phases/destroy.ts'
import { newLife, refusal } from '../support/life.ts'
import { seed } from '../support/seed.ts'

async function destroyed(functions: readonly [string, DestroyOptions?][], options: ServerOptions = {}, fails = false): Promise<string[]> {
  const t = newLife({ options })
  const order: string[] = []
  for (const [name, own] of functions) t.life.addDestroy(name, ({ name }) => void order.push(name), own)
  if (fails) t.life.addPhase('migrate', () => Promise.reject(new Error('locked')), { after: ['Start'], before: ['bind'] })
  await t.life.start().catch(() => {})
  await t.end()
  return order
}

const CHAIN: readonly [string, DestroyOptions?][] = [['pool', { after: ['repository', 'queue'] }], ['repository'], ['queue'], ['metrics']]

describe('destroy functions run', () => {
  test.each<[string, readonly [string, DestroyOptions?][], ServerOptions, string[]]>([
    ['in the order of registration', [['a'], ['b'], ['c']], {}, ['a', 'b', 'c']],
    ['in reverse when that is wanted', [['a'], ['b'], ['c']], { destroyOrder: 'reverse' }, ['c', 'b', 'a']],
    ['after those they name', CHAIN, {}, ['repository', 'queue', 'pool', 'metrics']],
    ['after those they name in reverse, too', CHAIN, { destroyOrder: 'reverse' }, ['metrics', 'queue', 'repository', 'pool']],
  ])('%s', async (_, functions, options, expected) => {
    expect(await destroyed(functions, options)).toEqual(expected)
  })

  test('in reverse after a failed start, and after those they name all the same', async () => {
    expect(await destroyed([['a'], ['b'], ['c']], {}, true)).toEqual(['c', 'b', 'a'])
    expect(await destroyed([['a'], ['b'], ['c', { after: ['a'] }]], {}, true)).toEqual(['a', 'c', 'b'])
  })

  test('when one of those they name was taken back', async () => {
    const t = newLife()
    const order: string[] = []
    const queue = t.life.addDestroy('queue', () => {})
    t.life.addDestroy('pool', () => void order.push('pool'), { after: ['queue'] })
    await t.life.start()
    queue[Symbol.dispose]()
    expect((await t.end()).exitCode).toBe(0)
    expect(order).toEqual(['pool'])
  })
})

test('those that the cut leaves are all called, also after one that throws', async () => {
  const t = newLife({ options: { deadline: '5s' } })
  const called: string[] = []
  t.life.addDestroy('hangs', () => new Promise(() => {}))
  t.life.addDestroy('throws', () => {
    called.push('throws')
    throw new Error('no time')
  })
  t.life.addDestroy('rejects', () => Promise.reject(new Error('no time either')))
  t.life.addDestroy('last', () => void called.push('last'))
  await t.life.start()
  const { hooks } = await t.end()
  expect(called).toEqual(['throws', 'last'])
  const cut = { kind: 'destroy', outcome: 'cut' }
  expect(hooks.map(({ kind, name, outcome, error }) => ({ kind, name, outcome, error: error?.message }))).toEqual([
    { ...cut, name: 'hangs', error: undefined },
    { ...cut, name: 'throws', error: 'no time' },
    { ...cut, name: 'rejects', error: undefined },
    { ...cut, name: 'last', error: undefined },
  ])
  // It would be a crash of the process if nobody had heard it.
  expect(t.events.filter(({ type }) => type === 'late')).toMatchObject([
    { what: 'destroy hook "rejects"', answer: 'rejected', error: { message: 'no time either' } },
  ])
})

test('every one runs once, after all that it names, whatever they name', () => {
  const plans = fc.array(fc.uniqueArray(fc.nat(9)), { maxLength: 10 }).map((lists) =>
    // Names of earlier ones only: no cycle, before it is shuffled.
    lists.map((list, i) => ({ kind: 'destroy' as const, name: `${i}`, timeoutMs: 1, after: list.filter((j) => j < i).map(String) })),
  )
  const shuffled = plans.chain((list) => fc.shuffledSubarray(list, { minLength: list.length }))
  fc.assert(
    fc.property(shuffled, fc.constantFrom('registration' as const, 'reverse' as const), (functions, order) => {
      const names = destroySequence(functions, order).map(({ name }) => name)
      expect([...names].sort()).toEqual(functions.map(({ name }) => name).sort())
      for (const { name, after } of functions) for (const other of after) expect(names.indexOf(other)).toBeLessThan(names.indexOf(name))
    }),
    { seed },
  )
})

test('a cycle is refused at once, a name that belongs to nothing by start()', async () => {
  const t = newLife()
  t.life.addDestroy('pool', () => {}, { after: ['queue'] })
  const error = refusal(() => t.life.addDestroy('queue', () => {}, { after: ['pool'] }))
  expect(error).toMatchObject({ code: 'ERR_CYCLE', details: { cycle: ['pool', 'queue', 'pool'] } })
  expect(error.message).toBe('destroy functions wait for each other: pool -> queue -> pool')
  await expect(t.life.start()).rejects.toMatchObject({
    message: expect.stringContaining('destroy function "pool": after names "queue", known functions: pool'),
  })
})

test('an after that is no list is refused', () => {
  const t = newLife()
  expect(refusal(() => t.life.addDestroy('pool', () => {}, { after: 'queue' as unknown as string[] })).message).toBe(
    'after of destroy function "pool": got "queue", allowed: a list of names',
  )
})
