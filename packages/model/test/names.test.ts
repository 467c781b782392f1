// Fails when: an option, an event, a child, a state or a said name that names nothing is taken, so
// that something holds of nothing; or is refused without saying what there is.
import { describe, expect, test } from 'vitest'
import { type AnyStateMachine, assign, createMachine, emit, fromCallback, fromPromise, sendTo, setup } from 'xstate'
import {
  type ActorView,
  always,
  assertHolds,
  atMostOnce,
  check,
  type Effect,
  explore,
  handlesOrIgnores,
  inOrder,
  noErrors,
  type Property,
  resolves,
  terminates,
  timersAnd,
  within,
} from '../src/index.ts'
import { hint } from '../src/near.ts'

const inner = setup({ actors: { ask: fromPromise(() => Promise.resolve()) } }).createMachine({
  id: 'inner',
  initial: 'asking',
  states: { asking: { invoke: { id: 'asked', src: 'ask', onDone: 'over', onError: 'over' }, on: { greet: {} } }, over: { type: 'final' } },
})
const shop: AnyStateMachine = setup({
  actions: { say: (_, _params: { readonly text: string }) => {} },
  actors: { inner, feed: fromCallback(() => {}) },
  types: {} as { emitted: { readonly type: 'sold' } },
}).createMachine({
  id: 'shop',
  initial: 'closed',
  states: {
    closed: { on: { open: 'open' } },
    open: {
      initial: 'quiet',
      entry: { type: 'say', params: { text: 'opens' } },
      invoke: [
        { id: 'first', src: 'inner', onDone: { actions: emit({ type: 'sold' }) } },
        { id: 'news', src: 'feed', onError: 'closed' },
      ],
      states: { quiet: { on: { item: 'busy' } }, busy: {} },
      on: { 'price.*': {}, hello: { actions: sendTo('first', { type: 'greet' }) }, close: 'closed' },
    },
    burnt: { entry: { type: 'say', params: { text: 'burns' } } },
  },
}) as unknown as AnyStateMachine

const EVENTS = [{ type: 'open' }, { type: 'hello' }, { type: 'price.up' }]
const refusal = (code: string, message: string) =>
  expect.objectContaining({ code, message: expect.stringContaining(message) as string }) as unknown
const opened = () => explore(shop, { events: EVENTS })
const said = ({ type, params }: Effect) => (type === 'emit' ? (params as { type: string }).type : (params as { text?: string }).text)

describe('explore refuses', () => {
  test.each<[string, unknown, string, string]>([
    ['an option', { event: [] }, 'ERR_MODEL_OPTION', 'options.event: unknown (did you mean "events"?); there is events, alike, children'],
    ['options that are none', [], 'ERR_MODEL_OPTION', 'options: got [], allowed: an object'],
    ['a count', { statesMax: Number.NaN }, 'ERR_MODEL_OPTION', 'statesMax: got NaN, allowed: a whole number from 1'],
    ['a rate', { recheckEvery: -1 }, 'ERR_MODEL_OPTION', 'recheckEvery: got -1'],
    ['a listener', { onProgress: true }, 'ERR_MODEL_OPTION', 'onProgress: got true'],
    ['events that are no list', { events: 'open' }, 'ERR_MODEL_OPTION', 'events: got "open", allowed: a list'],
    [
      'an event that is a text',
      { events: ['open'] },
      'ERR_MODEL_OPTION',
      'events[0]: got "open", allowed: an event object: { type: "open" }',
    ],
    ['an event without a type', { events: [{ kind: 'open' }] }, 'ERR_MODEL_OPTION', 'events[0]: got {"kind":"open"}'],
    [
      'an event',
      { events: [{ type: 'opne' }] },
      'ERR_MODEL_UNKNOWN',
      'events[0]: no transition of shop takes the event "opne" (did you mean "open"?)',
    ],
    [
      'an event of a function',
      { events: () => [{ type: 'opne' }] },
      'ERR_MODEL_UNKNOWN',
      'events[0]: no transition of shop takes the event "opne"',
    ],
    ['what a function returns', { events: () => undefined }, 'ERR_MODEL_OPTION', 'events(): got undefined'],
    ['a name that a function returns', { events: () => ['go'] }, 'ERR_MODEL_OPTION', 'events()[0]: got "go", allowed: an event object'],
    ['nothing in the list of a function', { events: () => [null] }, 'ERR_MODEL_OPTION', 'events()[0]: got null'],
    [
      'what a function throws',
      {
        events: () => {
          throw new Error('no list')
        },
      },
      'ERR_MODEL_OPTION',
      'it throws: no list',
    ],
    ['no children at all', { children: null }, 'ERR_MODEL_OPTION', 'children: got null'],
    [
      'a state, in a function',
      { events: (root: { matches(state: string): boolean }) => (root.matches('opn') ? [] : []) },
      'ERR_MODEL_UNKNOWN',
      'there is no state "opn"',
    ],
    ['children that are none', { children: 'ask' }, 'ERR_MODEL_OPTION', 'children: got "ask"'],
    [
      'a child',
      { children: { aks: {} } },
      'ERR_MODEL_UNKNOWN',
      'children.aks: no child has this source or id (did you mean "ask"?); there is ask, asked, feed',
    ],
    [
      'a child that is a machine',
      { children: { inner: {} } },
      'ERR_MODEL_OPTION',
      'children.inner: the child is a machine, which the checker explores itself',
    ],
    [
      'what a child does',
      { children: { ask: { outcome: [] } } },
      'ERR_MODEL_OPTION',
      'children.ask.outcome: unknown (did you mean "outcomes"?)',
    ],
    [
      'an outcome',
      { children: { ask: { outcomes: ['done'] } } },
      'ERR_MODEL_OPTION',
      'children.ask.outcomes: allowed: a list of results of resolves()',
    ],
    ['what a function says of a child', { events: EVENTS, children: { ask: () => null } }, 'ERR_MODEL_OPTION', 'children.ask: got null'],
    [
      'an outcome that the kind has not',
      { events: EVENTS, children: { news: { outcomes: [resolves()] } } },
      'ERR_MODEL_OPTION',
      'children.news.outcomes: a callback never resolves, allowed: rejects',
    ],
    [
      'what the kind does not send',
      { events: EVENTS, children: { ask: { sends: [{ type: 'over' }] } } },
      'ERR_MODEL_OPTION',
      'children.ask.sends: a promise sends its parent no events, only its result',
    ],
    [
      'what the parent does not hear',
      { events: EVENTS, children: { feed: { sends: [{ type: 'itme' }] } } },
      'ERR_MODEL_UNKNOWN',
      'children.feed.sends: no transition of shop takes the event "itme" (did you mean "item"?)',
    ],
  ])('%s', (_, options, code, message) => {
    expect(() => explore(shop, options as object)).toThrow(refusal(code, message))
  })

  test.each([{}, null, 'shop', { getInitialSnapshot: () => ({}) }])('%j, which is no machine', (machine) => {
    expect(() => explore(machine as never, {})).toThrow(refusal('ERR_MODEL_OPTION', 'machine: got'))
  })

  test('a child that nothing starts, before it refuses for the number of states', () => {
    expect(() => explore(shop, { events: EVENTS, statesMax: 2, children: { aks: {} } })).toThrow(
      refusal('ERR_MODEL_UNKNOWN', 'children.aks'),
    )
    expect(() => explore(shop, { events: EVENTS, statesMax: 2 })).toThrow(refusal('ERR_MODEL_LIMIT', 'more than 2 states'))
  })

  test('nothing that is there: by source, by id, by a pattern, in a child of a child', () => {
    for (const name of ['ask', 'asked', 'feed', 'news']) explore(shop, { events: EVENTS, children: { [name]: {} } })
  })
})

interface Counter {
  readonly tries: number
  readonly last?: string
  readonly because?: string
  readonly woken?: boolean
}
const counter = createMachine({
  id: 'counter',
  type: 'parallel',
  context: { tries: 0 } as Counter,
  states: {
    count: {
      initial: 'low',
      states: {
        low: { on: { up: { target: 'high', actions: assign({ tries: 1, last: () => 'up' }) } } },
        high: { on: { down: { target: 'low', actions: assign(() => ({ because: 'down' })) } } },
      },
    },
    never: { initial: 'asleep', states: { asleep: { on: { wake: { target: 'awake', actions: assign({ woken: true }) } } }, awake: {} } },
  },
}) as unknown as AnyStateMachine
const UP_AND_DOWN = [{ type: 'up' }, { type: 'down' }]
const read = (root: { readonly context: unknown }, key: string): unknown => Reflect.get(root.context as object, key)

describe('a key of a context', () => {
  const asked = (holds: (root: ActorView) => boolean) => check(explore(counter, { events: UP_AND_DOWN }), [always('a', 'a', holds)])

  test.each(['trys', 'Tries', 'woke', 'becuase'])('%s, that is a slip of the hand, is refused', (key) => {
    const message = `counter: no context has a key "${key}" (did you mean "`
    expect(() => asked((root) => read(root, key) === undefined)).toThrow(refusal('ERR_MODEL_UNKNOWN', message))
    const eventsOf = (root: { readonly context: unknown }) => (read(root, key) === undefined ? UP_AND_DOWN : [])
    expect(() => explore(counter, { events: eventsOf })).toThrow(refusal('ERR_MODEL_UNKNOWN', message))
  })

  test.each(['tries', 'last', 'because', 'woken', 'optional'])('%s, that one has, is assigned or is far from all, is not', (key) => {
    expect(asked((root) => [read(root, key)].length === 1)).toMatchObject([{ holds: true }])
    const eventsOf = (root: { readonly context: unknown }) => (read(root, key) === 'never' ? [] : UP_AND_DOWN)
    expect(explore(counter, { events: eventsOf }).graph.stateCount).toBe(4)
  })

  test('may be looked for, and a context may be printed, compared and awaited', async () => {
    const views: ActorView[] = []
    asked((root) => views.push(root) > 0)
    const { context } = views[0] as { readonly context: object }
    expect('trys' in context).toBe(false)
    expect(JSON.stringify(context)).toBe('{"tries":0}')
    expect(context).toEqual({ tries: 0 })
    expect(await Promise.resolve(context)).toBe(context)
    expect(views[0]?.context).toBe(context)
  })
})

describe('where a machine stands', () => {
  const asked = (holds: (value: object) => boolean) =>
    check(explore(counter, { events: UP_AND_DOWN }), [always('a', 'a', ({ value }) => holds(value as object))])

  test('a region that it does not have is refused', () => {
    const message = 'counter: there is no state "cuont" (did you mean "count"?); there is count, never'
    expect(() => asked((value) => Reflect.get(value, 'cuont') === undefined)).toThrow(refusal('ERR_MODEL_UNKNOWN', message))
    const eventsOf = (root: { readonly value: unknown }) => (Reflect.get(root.value as object, 'cuont') === 'high' ? [] : UP_AND_DOWN)
    expect(() => explore(counter, { events: eventsOf })).toThrow(refusal('ERR_MODEL_UNKNOWN', message))
  })

  test('one that it has is not', () => {
    expect(asked((value) => Reflect.get(value, 'count') !== undefined)).toMatchObject([{ holds: true }])
  })
})

test('names that have the given one in them come first', () => {
  const names = [...Array.from({ length: 30 }, (_, i) => `a${i}`), 'pre-shutdown leave starts', 'pre-shutdown leave ends']
  expect(hint('leave', names)).toMatch(
    /^ \(did you mean "pre-shutdown leave ends"\?\); there is pre-shutdown leave ends, pre-shutdown leave starts, a0, /,
  )
})

describe('check refuses', () => {
  test.each<[string, () => Property, string]>([
    [
      'a state',
      () => always('a', 'a', (root) => !root.matches('opne')),
      'shop: there is no state "opne" (did you mean "open"?); there is burnt, closed, open',
    ],
    [
      'a state below',
      () => always('a', 'a', (root) => !root.matches({ open: 'bussy' })),
      'there is no state "open.bussy" (did you mean "open.busy"?)',
    ],
    ['a state below, in a text', () => always('a', 'a', (root) => !root.matches('open.bussy')), 'there is no state "open.bussy"'],
    [
      'a state of a promise',
      () => always('a', 'a', (root) => !root.actor('first')?.actor('asked')?.matches('x')),
      'ask is made as promise: it has no states',
    ],
    [
      'a child',
      () => always('a', 'a', (root) => root.actor('frist') === undefined),
      'shop: no child of the system is called "frist" (did you mean "first"?)',
    ],
    [
      'what comes earlier',
      () => inOrder('a', 'a', said, ['opnes'], 'sold'),
      'a: no action says "opnes" (did you mean "opens"?); there is burns, opens, sold',
    ],
    ['what comes later', () => inOrder('a', 'a', said, ['opens'], 'slod'), 'a: no action says "slod" (did you mean "sold"?)'],
    [
      'a child that is fair',
      () => terminates('a', 'a', { isFair: timersAnd('aksed') }),
      'a: there is no child "aksed" (did you mean "asked"?)',
    ],
    [
      'a child that is prompt',
      () => within('a', 'a', { from: () => true, until: () => false, atMostMs: 1, prompt: ['aks'] }),
      'a: there is no child "aks"',
    ],
    [
      'a machine that ignores',
      () => handlesOrIgnores('a', [{ machine: 'shpo', event: 'open' }]),
      'a: there is no machine "shpo" (did you mean "shop"?)',
    ],
    [
      'an event that is ignored',
      () => handlesOrIgnores('a', [{ machine: 'shop', event: 'opne' }]),
      'a: there is no event "opne" (did you mean "open"?)',
    ],
    ['where it is ignored', () => handlesOrIgnores('a', [{ machine: 'shop', event: 'open', in: 'opne' }]), 'there is no state "opne"'],
  ])('%s', (_, property, message) => {
    expect(() => check(opened(), [property()])).toThrow(refusal('ERR_MODEL_UNKNOWN', message))
  })

  test('what is no property, and no properties at all', () => {
    const exploration = opened()
    expect(() => check(exploration, [(() => true) as never])).toThrow(
      refusal('ERR_MODEL_OPTION', 'properties[0]: allowed: a result of always()'),
    )
    expect(() => check(exploration, [])).toThrow(refusal('ERR_MODEL_OPTION', 'at least one property'))
    expect(() => assertHolds([])).toThrow(refusal('ERR_MODEL_OPTION', 'nothing was checked'))
  })

  test('nothing that is there', () => {
    const exploration = opened()
    const verdicts = check(exploration, [
      noErrors(),
      always(
        'states',
        'states',
        (root) => root.matches('closed') || root.matches('open.quiet') || root.matches({ open: 'busy' }) || root.matches('open'),
      ),
      always(
        'children',
        'children',
        (root) => (root.actor('first', 'asked')?.children ?? []).length === 0 && root.actor('asked') === undefined,
      ),
      inOrder('order', 'order', said, ['opens'], 'sold'),
      terminates('ends', 'ends', { isFair: timersAnd('asked', 'news', 'ask') }),
      handlesOrIgnores('ignored', [
        { machine: 'inner', event: 'greet' },
        { machine: 'shop', event: '*' },
      ]),
      atMostOnce('twice', 'twice', () => undefined),
    ])
    expect(verdicts.map(({ id, holds, vacuous }) => [id, holds, vacuous !== undefined])).toEqual([
      ['no-errors', true, false],
      ['states', true, false],
      ['children', true, false],
      ['order', true, false],
      ['ends', false, false],
      ['ignored', true, false],
      ['twice', false, true],
    ])
  })
})
