// Fails when: a step that changes what it is given, or depends on chance, the clock or a variable
// outside, is explored as if it did not; or chance and the clock stay watched afterwards.
import nodeCrypto, { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { assign, fromPromise, fromTransition, raise, sendTo, setup } from 'xstate'
import { always, check, type ExploreOptions, explore, noErrors, resolves } from '../src/index.ts'
import { events, explored } from './machines.ts'

interface Box {
  list: number[]
  deep: { inside: { n: number }[] }
}
const box = (): Box => ({ list: [], deep: { inside: [{ n: 0 }] } })

/** A machine that does one thing with its context when `go` comes. */
const assigning = (
  change: (context: Box, event: { readonly items?: number[] }) => Partial<Box>,
  guard: (context: Box) => boolean = () => true,
) =>
  setup({ types: {} as { context: Box; events: { readonly type: 'go'; readonly items?: number[] } } }).createMachine({
    id: 'm',
    context: box(),
    initial: 'a',
    states: {
      a: { on: { go: { guard: ({ context }) => guard(context), actions: assign(({ context, event }) => change(context, event)) } } },
    },
  })

const thrownBy = (call: () => unknown): unknown => {
  try {
    call()
  } catch (error) {
    return error
  }
  return undefined
}
const error = (code: string, message: string, details = {}) =>
  expect.objectContaining({
    code,
    message: expect.stringContaining(message) as string,
    details: expect.objectContaining(details) as object,
  }) as unknown
const mutated = (path: string, before: string, after: string) =>
  error('ERR_MODEL_MUTATED', `m, state "a", event go: ${path} was changed in place, from ${before} to ${after}`, {
    machine: 'm',
    value: 'a',
    event: 'go',
    path,
  })

describe('a change in place is refused by its path', () => {
  const go = events('go')
  const push = (context: Box): Partial<Box> => {
    context.list.push(1)
    return { list: context.list }
  }
  test.each<[string, () => unknown, unknown]>([
    ['in an assignment', () => explored(assigning(push), { events: go }), mutated('context.list', '[]', '[1]')],
    [
      'without assigning it',
      () =>
        explored(
          assigning((context) => {
            context.list.push(1)
            return {}
          }),
          { events: go },
        ),
      mutated('context.list', '[]', '[1]'),
    ],
    [
      'deep inside',
      () =>
        explored(
          assigning((context) => {
            ;(context.deep.inside[0] as { n: number }).n++
            return {}
          }),
          { events: go },
        ),
      mutated('context.deep.inside[0]', '{"n":0}', '{"n":1}'),
    ],
    [
      'of a key itself',
      () =>
        explored(
          assigning((context) => {
            context.list = [7]
            return {}
          }),
          { events: go },
        ),
      mutated('context.list', '[]', '[7]'),
    ],
    [
      'in a condition',
      () =>
        explored(
          assigning(
            () => ({}),
            (context) => context.list.push(1) > 0,
          ),
          { events: go },
        ),
      mutated('context.list', '[]', '[1]'),
    ],
    [
      'of an event',
      () =>
        explored(
          assigning((_, event) => {
            event.items?.push(2)
            return {}
          }),
          { events: [{ type: 'go', items: [1] } as { readonly type: 'go' }] },
        ),
      mutated('event.items', '[1]', '[1,2]'),
    ],
    [
      'only in some states, where the assignment is remembered from another',
      () =>
        explored(
          assigning((context) => {
            if (context.list.length < 2) return { list: [...context.list, 1] }
            context.list.reverse()
            context.list.push(3)
            return { list: context.list }
          }),
          { events: go, recheckEvery: 0 },
        ),
      mutated('context.list', '[1,1]', '[1,1,3]'),
    ],
  ])('%s', (_, explore, expected) => {
    expect(thrownBy(explore)).toEqual(expected)
  })

  test('by a function of what is explored', () => {
    const machine = assigning(() => ({}))
    const changing: ExploreOptions<typeof machine> = {
      events: (root) => {
        ;(root.context.list as number[]).push(1)
        return []
      },
    }
    expect(thrownBy(() => explore(machine, changing))).toEqual(
      error('ERR_MODEL_MUTATED', 'm: events(), state "a": context.list was changed in place'),
    )
  })

  test('by a property, which is named', () => {
    const exploration = explore(
      assigning((context) => ({ list: context.list.length > 1 ? [] : [...context.list, context.list.length] })),
      { events: [{ type: 'go' }] },
    )
    const sorts = always<ReturnType<typeof assigning>>('sorted', 'sorted', (root) => (root.context.list as number[]).reverse().length >= 0)
    expect(thrownBy(() => check(exploration, [noErrors(), sorts]))).toEqual(
      error('ERR_MODEL_MUTATED', 'm in no-errors or sorted: context.list was changed in place'),
    )
  })

  test('of a reducer', () => {
    const reducer = fromTransition(
      (state: { n: number }) => {
        state.n++
        return state
      },
      { n: 0 },
    )
    const machine = setup({ actors: { reducer } }).createMachine({
      id: 'm',
      invoke: { id: 'r', src: 'reducer' },
      on: { go: { actions: sendTo('r', { type: 'up' }) } },
    })
    expect(thrownBy(() => explored(machine, { events: go }))).toEqual(
      error('ERR_MODEL_MUTATED', 'reducer, state {"n":1}, event up: context was changed in place, from {"n":0} to {"n":1}'),
    )
  })

  test('data of the user’s is neither frozen nor remembered from one exploration to the next', () => {
    const input = { list: [1] }
    const machine = setup({ types: {} as { input: { list: number[] }; context: { list: number[] } } }).createMachine({
      id: 'm',
      context: ({ input }) => input,
    })
    const first = () => explored(machine, { input }).graph.states[0]?.local.configuration?.context
    expect(first()).toEqual({ list: [1] })
    input.list.push(2)
    expect(first()).toEqual({ list: [1, 2] })
  })
})

describe('chance and the clock are named', () => {
  const counter = (calls: () => unknown) =>
    setup({ types: {} as { context: { n: number } } }).createMachine({
      id: 'm',
      context: { n: 0 },
      initial: 'a',
      states: { a: { on: { go: { guard: () => typeof calls() === 'number', target: 'b' } } }, b: {} },
    })
  const impure = (calls: string) =>
    error('ERR_MODEL_IMPURE', `m, state "a", event go: a condition, assignment, delay or input calls ${calls} (at `, { calls })

  test.each<[string, () => unknown]>([
    ['Math.random()', () => Math.random()],
    ['Date.now()', () => Date.now()],
    // biome-ignore lint/complexity/useDateNow: it is the one that is asked about.
    ['new Date()', () => new Date().getTime()],
    ['Date()', () => Date().length],
    ['performance.now()', () => performance.now()],
    ['crypto.randomUUID()', () => crypto.randomUUID().length],
    ['crypto.getRandomValues()', () => crypto.getRandomValues(new Uint8Array(1))[0]],
    ['process.uptime()', () => process.uptime()],
    ['process.hrtime()', () => process.hrtime()[0]],
    ['process.hrtime.bigint()', () => Number(process.hrtime.bigint())],
    ['process.cpuUsage()', () => process.cpuUsage().user],
    ['process.memoryUsage()', () => process.memoryUsage().rss],
    ['process.memoryUsage.rss()', () => process.memoryUsage.rss()],
    ['crypto.randomUUID()', () => nodeCrypto.randomUUID().length],
    ['crypto.randomBytes()', () => nodeCrypto.randomBytes(1)[0]],
    ['crypto.randomInt()', () => nodeCrypto.randomInt(10)],
  ])('%s, in a condition', (name, calls) => {
    const thrown = thrownBy(() => explored(counter(calls), { events: events('go') }))
    expect(thrown).toEqual(impure(name))
    expect((thrown as Error).message).toContain('pure.test.ts')
  })

  test('wherever a step is computed', () => {
    const setups = setup({ types: {} as { context: { n: number } }, actors: { work: fromPromise(() => Promise.resolve()) } })
    const places = {
      assignment: setups.createMachine({ id: 'm', context: { n: 0 }, on: { go: { actions: assign({ n: () => Math.random() }) } } }),
      context: setups.createMachine({ id: 'm', context: () => ({ n: Date.now() }) }),
      input: setups.createMachine({
        id: 'm',
        context: { n: 0 },
        on: { go: '.b' },
        initial: 'a',
        states: { a: {}, b: { invoke: { src: 'work', input: () => Math.random() } } },
      }),
      delay: setups.createMachine({
        id: 'm',
        context: { n: 0 },
        on: { go: { actions: raise({ type: 'go' }, { delay: () => Math.random() }) } },
      }),
      reducer: setup({
        actors: {
          r: fromTransition(
            (n: number) => n,
            () => Math.random(),
          ),
        },
      }).createMachine({ id: 'm', invoke: { id: 'r', src: 'r' } }),
    }
    for (const [place, machine] of Object.entries(places)) {
      const heard = place === 'context' || place === 'reducer' ? [] : events('go')
      expect([place, thrownBy(() => explored(machine as never, { events: heard }))]).toEqual([place, error('ERR_MODEL_IMPURE', 'calls ')])
    }
    const go = counter(() => 1)
    expect(thrownBy(() => explored(go, { events: () => (Math.random() > 2 ? [] : events('go')) }))).toEqual(
      error('ERR_MODEL_IMPURE', 'm: events()'),
    )
    expect(
      thrownBy(() => explored(places.input, { events: events('go'), children: { work: () => ({ outcomes: [resolves(Date.now())] }) } })),
    ).toEqual(error('ERR_MODEL_IMPURE', ''))
  })

  test('what node looks at by itself is no part of the step', () => {
    const machine = counter(() => {
      console.time('a step')
      return 1
    })
    expect(explored(machine, { events: events('go') }).graph.stateCount).toBe(2)
  })

  test('an instant that was given is none, and what reports progress may look at the clock', () => {
    const times: number[] = []
    const machine = counter(() => new Date(0).getTime() + Date.UTC(2026, 0) + new Date('2026-01-01').getTime())
    explored(machine, { events: events('go'), onProgress: () => void times.push(Date.now(), performance.now(), Math.random()) })
    expect(times).toHaveLength(3)
  })

  test('and left alone afterwards, whether exploring ends well or not', () => {
    const clocks = () => [
      Math.random,
      Date,
      performance.now,
      crypto.randomUUID,
      Object.getOwnPropertyDescriptor(performance, 'now'),
      nodeCrypto.randomUUID,
    ]
    const before = clocks()
    explored(
      counter(() => 1),
      { events: events('go') },
    )
    thrownBy(() => explored(counter(Math.random), { events: events('go') }))
    expect(clocks()).toEqual(before)
    expect(Date.now()).toBeGreaterThan(0)
  })
})

describe('what depends on a variable outside comes out in two ways', () => {
  test('and so does chance by a named import', () => {
    const machine = setup({ types: {} as { context: { id: string } } }).createMachine({
      id: 'm',
      context: { id: '' },
      on: { go: { actions: assign({ id: () => randomUUID() }) } },
    })
    expect(thrownBy(() => explored(machine, { events: events('go') }))).toEqual(
      error('ERR_MODEL_INEXACT', "by name (`import { randomUUID } from 'node:crypto'`)"),
    )
  })

  test('a condition', () => {
    let calls = 0
    const machine = setup({}).createMachine({
      id: 'm',
      initial: 'a',
      states: { a: { on: { go: { guard: () => calls++ % 2 === 0, target: 'b' } } }, b: {} },
    })
    expect(thrownBy(() => explored(machine, { events: events('go') }))).toEqual(
      error('ERR_MODEL_INEXACT', 'm, state "a", event go: this step was computed twice, with two results'),
    )
  })

  test('an initial context', () => {
    let calls = 0
    const machine = setup({ types: {} as { context: { id: number } } }).createMachine({ id: 'm', context: () => ({ id: calls++ }) })
    expect(thrownBy(() => explored(machine))).toEqual(error('ERR_MODEL_INEXACT', 'm, its start: this step was computed twice'))
    expect(explored(machine, { recheckEvery: 0 }).graph.stateCount).toBe(1)
  })
})
