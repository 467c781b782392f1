// Fails when: a property misses a violation, finds one where there is none, or its trace is not a
// shortest one.

import { describe, expect, test } from 'vitest'
import { type AnyStateMachine, assign, createActor, fromPromise, raise, sendTo, setup, spawnChild } from 'xstate'
import {
  alongEdges,
  always,
  atMostOnce,
  check,
  confluent,
  endReachable,
  handlesOrIgnores,
  inOrder,
  monitored,
  noDeadlock,
  noErrors,
  rejects,
  resolves,
  terminates,
  timersAnd,
  unreached,
  untaken,
  untakenText,
} from '../src/index.ts'
import { alphabet, events, explored, labels, verdict } from './machines.ts'

const say = (_: unknown, _params: { readonly name: string }): void => {}
const saying = (name: string) => ({ type: 'say' as const, params: { name } })
const nameOf = ({ type, params }: { readonly type: string; readonly params: unknown }) =>
  type === 'say' ? (params as { name: string }).name : undefined
const work = fromPromise(() => Promise.resolve())

/** Two jobs that may end in either order or fail, and a deadline. */
const jobs = setup({ actions: { say }, actors: { work } }).createMachine({
  id: 'jobs',
  type: 'parallel',
  states: {
    a: {
      initial: 'running',
      states: {
        running: {
          invoke: { id: 'a', src: 'work', onDone: { target: 'over', actions: saying('a') }, onError: 'over' },
          after: { 100: 'over' },
        },
        over: { type: 'final' },
      },
    },
    b: {
      initial: 'running',
      states: {
        running: {
          invoke: { id: 'b', src: 'work', onDone: { target: 'over', actions: saying('b') }, onError: 'over' },
          after: { 100: 'over' },
        },
        over: { type: 'final' },
      },
    },
  },
})

describe('safety', () => {
  test('a violated invariant comes with a shortest trace', () => {
    const answer = verdict(
      explored(jobs),
      always('x', 'never over together', (root) => !root.matches({ a: 'over', b: 'over' }) || 'both are over'),
    )
    expect(answer).toMatchObject({ holds: false, trace: { finding: 'both are over' } })
    expect(labels(answer)).toHaveLength(3)
  })

  test('one that holds has no trace', () => {
    expect(verdict(explored(jobs), noErrors())).toEqual({ id: 'no-errors', text: 'the root never ends in an error', holds: true })
  })

  test('a child error that no state handles, and a throw, are errors of the root', () => {
    const deaf = setup({ actors: { work } }).createMachine({ id: 'deaf', invoke: { id: 'job', src: 'work' } })
    expect(verdict(explored(deaf), noErrors()).trace?.finding).toBe('the root ends in an error: rejected')
    const throwing = setup({}).createMachine({
      id: 'throwing',
      on: {
        go: {
          actions: assign(() => {
            throw new Error('in an action')
          }),
        },
      },
    })
    const answer = verdict(explored(throwing, { events: events('go') }), noErrors())
    expect([labels(answer), answer.trace?.finding]).toEqual([['start', 'go'], 'the root ends in an error: in an action'])
  })

  test('a step that makes something worse is found where it happens', () => {
    const counter = setup({ types: {} as { context: { readonly n: number } } }).createMachine({
      id: 'counter',
      context: { n: 2 },
      on: { down: { guard: ({ context }) => context.n > 0, actions: assign({ n: ({ context }) => context.n - 1 }) } },
    })
    const exploration = explored(counter, { events: events('down') })
    const n = (view: { readonly context: unknown }) => (view.context as { n: number }).n
    expect(
      verdict(
        exploration,
        alongEdges('x', 'never up', (before, after) => n(after) <= n(before)),
      ).holds,
    ).toBe(true)
    expect(
      labels(
        verdict(
          exploration,
          alongEdges('x', 'never 0', (_, after) => n(after) > 0),
        ),
      ),
    ).toEqual(['start', 'down', 'down'])
  })
})

describe('progress', () => {
  const waitsForTheWrongThing = setup({ actors: { work } }).createMachine({
    id: 'joins',
    initial: 'first',
    states: {
      first: { invoke: { id: 'one', src: 'work', onDone: 'second', onError: 'never' } },
      second: { type: 'final' },
      never: { on: { unsent: 'second', noise: {} } },
    },
  })

  test('a state in which nothing can happen is a deadlock', () => {
    expect(labels(verdict(explored(waitsForTheWrongThing), noDeadlock()))).toEqual(['start', 'one rejects: rejected'])
    expect(verdict(explored(jobs), noDeadlock()).holds).toBe(true)
  })

  test('an event that changes nothing is no way out of one, and is named', () => {
    const stuck = verdict(explored(waitsForTheWrongThing, { events: events('noise') }), noDeadlock())
    expect(labels(stuck)).toEqual(['start', 'one rejects: rejected'])
    expect(stuck.trace?.finding).toBe('nothing can happen in this state (noise would change nothing), and the root is not done')
  })

  test.each([
    ['says something', { actions: saying('noise') }, true],
    ['has a condition that never comes true', { guard: () => false, target: 'over' }, false],
    ['comes back to the same state', { target: 'idle', reenter: true }, false],
  ] as const)('an event that %s', (_, noise, holds) => {
    const machine = setup({ actions: { say } }).createMachine({
      id: 'm',
      initial: 'idle',
      states: { idle: { on: { noise } }, over: { type: 'final' } },
    })
    expect(verdict(explored(machine, { events: events('noise') }), noDeadlock()).holds).toBe(holds)
  })

  test('a state that cannot reach the end, though something can happen in it', () => {
    const exploration = explored(waitsForTheWrongThing, { events: events('noise') })
    expect(verdict(exploration, endReachable('x', 'the end stays reachable'))).toMatchObject({
      holds: false,
      trace: { finding: 'the end cannot be reached from this state (1 of 3 states cannot reach it)' },
    })
    expect(verdict(explored(jobs), endReachable('x', 'the end stays reachable')).holds).toBe(true)
  })

  test('an effect that never answers is a wait for ever; a timer is none', () => {
    const exploration = explored(waitsForTheWrongThing)
    expect(verdict(exploration, terminates('x', 'ends')).trace?.finding).toMatch(
      'nothing has to happen in this state; the system may wait for ever for: one resolves',
    )
    expect(verdict(explored(jobs), terminates('x', 'ends')).holds).toBe(true)
    const always = explored(waitsForTheWrongThing, { children: { work: { outcomes: [resolves()] } } })
    expect(verdict(always, terminates('x', 'ends', { isFair: timersAnd('one') })).holds).toBe(true)
  })

  test('a circle that can be gone round for ever is shown as a circle', () => {
    const poller = setup({}).createMachine({
      id: 'poller',
      initial: 'idle',
      states: { idle: { after: { 10: 'asking' } }, asking: { after: { 10: 'idle' }, on: { enough: 'over' } }, over: { type: 'final' } },
    })
    const answer = verdict(explored(poller, { events: events('enough') }), terminates('x', 'ends'))
    expect(answer.trace).toMatchObject({ finding: 'these steps may repeat for ever', loopsFrom: 1 })
    expect(labels(answer)).toEqual(['start', 'after 10.poller.idle', 'after 10.poller.asking'])
  })

  test('a circle that a timer leads out of is none', () => {
    const bounded = setup({}).createMachine({
      id: 'bounded',
      initial: 'open',
      states: {
        open: { initial: 'a', after: { 100: 'over' }, states: { a: { on: { x: 'b' } }, b: { on: { x: 'a' } } } },
        over: { type: 'final' },
      },
    })
    expect(verdict(explored(bounded, { events: events('x') }), terminates('x', 'ends')).holds).toBe(true)
  })
})

describe('what begins anew has not stayed possible', () => {
  const ends = (options = {}) => terminates('x', 'it ends', options)

  test('a timer that each event sets again', () => {
    const debounce = setup({}).createMachine({
      id: 'debounce',
      initial: 'waiting',
      states: {
        waiting: { on: { key: { target: 'waiting', reenter: true }, other: {} }, after: { 100: 'over' } },
        over: { type: 'final' },
      },
    })
    expect(verdict(explored(debounce, { events: events('other') }), ends()).holds).toBe(true)
    expect(labels(verdict(explored(debounce, { events: events('key', 'other') }), ends()))).toEqual(['start', 'key'])
  })

  test('a timer that another timer sets again', () => {
    const beat = setup({}).createMachine({
      id: 'beat',
      initial: 'on',
      states: { on: { after: { 10: { target: 'on', reenter: true }, 100: 'over' } }, over: { type: 'final' } },
    })
    expect(labels(verdict(explored(beat), ends()))).toEqual(['start', 'after 10.beat.on'])
  })

  test('a child that is started again, and what is below it', () => {
    const answered = { isFair: timersAnd('work') }
    const inner = setup({ actors: { work } }).createMachine({
      id: 'inner',
      initial: 'busy',
      states: { busy: { invoke: { id: 'work', src: 'work', onDone: 'over', onError: 'over' } }, over: { type: 'final' } },
    })
    const search = setup({ actors: { inner } }).createMachine({
      id: 'search',
      initial: 'asking',
      states: {
        asking: { invoke: { id: 'inner', src: 'inner', onDone: 'over' }, on: { again: { target: 'asking', reenter: true } } },
        over: { type: 'final' },
      },
    })
    expect(verdict(explored(search), ends(answered)).holds).toBe(true)
    expect(labels(verdict(explored(search, { events: events('again') }), ends(answered)))).toEqual(['start', 'again'])
  })

  test('a circle of events from which each state has another way out', () => {
    const swing = setup({}).createMachine({
      id: 'swing',
      initial: 'left',
      states: {
        left: { on: { go: 'right' }, after: { 10: 'over' } },
        right: { on: { go: 'left' }, after: { 20: 'over' } },
        over: { type: 'final' },
      },
    })
    expect(labels(verdict(explored(swing, { events: events('go') }), ends()))).toEqual(['start', 'go', 'go'])
  })

  test('and the circle that is shown comes by what keeps it fair', () => {
    const machine = setup({}).createMachine({
      id: 'm',
      initial: 'busy',
      states: {
        busy: {
          type: 'parallel',
          states: {
            t: { initial: 'on', states: { on: { after: { 1000: '#over' }, on: { off: 'off' } }, off: { on: { on: 'on' } } } },
            b: { initial: 'x', states: { x: { after: { 10: 'y' } }, y: { after: { 10: 'x' } } } },
          },
        },
        over: { id: 'over', type: 'final' },
      },
    })
    expect(labels(verdict(explored(machine, { events: events('on', 'off') }), ends()))).toEqual([
      'start',
      'after 10.m.busy.b.x',
      'after 10.m.busy.b.y',
      'off',
      'on',
    ])
  })
})

test('a property that sorts what it is shown does not change what the next one sees', () => {
  const firstIds = (id: string) => always(id, 'the first child', ({ children }) => children[0]?.id !== 'b')
  const sorting = always('sorting', 'sorts', ({ children }) => (children as unknown[]).reverse().length > 0)
  const exploration = explored(jobs)
  expect(() => check(exploration, [sorting])).toThrow(expect.objectContaining({ code: 'ERR_MODEL_PROPERTY' }))
  expect(verdict(exploration, firstIds('after')).trace?.steps.length).toBe(verdict(explored(jobs), firstIds('alone')).trace?.steps.length)
})

describe('what is said', () => {
  test('twice', () => {
    const exploration = explored(jobs)
    expect(verdict(exploration, atMostOnce('x', 'once', nameOf)).holds).toBe(true)
    const repeating = setup({ actions: { say } }).createMachine({ id: 'repeating', on: { go: { actions: saying('again') } } })
    const answer = verdict(explored(repeating, { events: events('go') }), atMostOnce('x', 'once', nameOf))
    expect([labels(answer), answer.trace?.finding]).toEqual([['start', 'go', 'go'], 'again is said a second time'])
  })

  test('in the wrong order', () => {
    const answer = verdict(explored(jobs), inOrder('x', 'a before b', nameOf, ['a'], 'b'))
    expect([labels(answer), answer.trace?.finding]).toEqual([['start', 'b resolves'], 'b is said before a'])
    const chained = setup({ actions: { say } }).createMachine({
      id: 'chained',
      initial: 'one',
      states: {
        one: { on: { go: { target: 'two', actions: [saying('a'), raise({ type: 'on' })] } } },
        two: { on: { on: { actions: saying('b') } } },
      },
    })
    expect(verdict(explored(chained, { events: events('go', 'on') }), inOrder('x', 'a before b', nameOf, ['a'], 'b')).holds).toBe(true)
  })

  test.each(['next', 'heard'])('by a monitor whose %s forgets to return', (which) => {
    const forgetful = { initial: 'idle', next: (state: string) => state, [which]: () => undefined }
    expect(() => check(explored(jobs), [monitored('x', 'it says something', forgetful as never)])).toThrow(
      expect.objectContaining({
        code: 'ERR_MODEL_PROPERTY',
        message: expect.stringMatching(
          new RegExp(`^x: ${which} of its monitor fails at .+ in its state "idle": it returns undefined, allowed: the next state`),
        ),
      }),
    )
  })

  test('in a step of its own, where one step had to say both', () => {
    const both = (name: string) =>
      monitored('x', `a and ${name} together`, {
        initial: '',
        next: (said, effect) => said + (nameOf(effect) ?? ''),
        atRest: (said) => (said === '' || said === `a${name}` ? undefined : `a comes without ${name}`),
      })
    const together = setup({ actions: { say } }).createMachine({
      id: 'together',
      initial: 'one',
      states: { one: { on: { go: { target: 'two', actions: [saying('a'), saying('b')] } } }, two: {} },
    })
    const exploration = explored(together, { events: events('go') })
    expect(verdict(exploration, both('b')).holds).toBe(true)
    expect(verdict(exploration, both('c')).trace).toMatchObject({ finding: 'a comes without c' })
  })
})

describe('confluence', () => {
  const independent = (one: { kind: string }, other: { kind: string }) => one.kind === 'outcome' && other.kind === 'outcome'

  test('of jobs side by side', () => {
    const onlyResolves = explored(jobs, { children: { work: { outcomes: [resolves()] } } })
    expect(verdict(onlyResolves, confluent('x', 'either order', independent)).holds).toBe(true)
  })

  test('not of the outcomes of one job', () => {
    const both = explored(jobs, { children: { work: { outcomes: [resolves(), rejects()] } } })
    expect(verdict(both, confluent('x', 'either order', independent)).trace?.finding).toBe(
      'after "a resolves", "a rejects: rejected" is no longer possible',
    )
  })
})

describe('coverage', () => {
  test('knows which events a pattern is for', () => {
    const machine = setup({}).createMachine({
      id: 'm',
      initial: 'a',
      states: { a: { on: { 'x.*': { guard: () => false, target: 'b' }, 'z.*': 'b', '*': { guard: () => false, target: 'b' } } }, b: {} },
    })
    const heard = untaken(explored(machine, { events: events('x.y') as never }))
    expect(heard.map(({ event, why }) => [event, why])).toEqual([
      ['x.*', 'constant'],
      ['z.*', 'unheard'],
      ['*', 'constant'],
    ])
  })

  test('tells what a configuration makes impossible from what nothing makes possible', () => {
    const machine = setup({
      types: {} as { context: { readonly grace: number }; input: { readonly grace: number } },
      guards: { hasGrace: ({ context }) => context.grace > 0 },
      actors: { work },
    }).createMachine({
      id: 'waits',
      context: ({ input }) => input,
      initial: 'idle',
      states: {
        idle: { on: { go: [{ guard: 'hasGrace', target: 'waiting' }, { target: 'over' }], nobodySaysThis: 'over' } },
        waiting: { after: { 10: 'over' } },
        over: { type: 'final' },
      },
    })
    const why = (grace: number) =>
      untaken(explored(machine, { input: { grace }, events: events('go') })).map(({ source, event, why }) => [source, event, why])
    // The condition is folded: under this input its answer never changes.
    expect(why(0)).toEqual([
      ['waits.idle', 'go', 'constant'],
      ['waits.idle', 'nobodySaysThis', 'unheard'],
      ['waits.waiting', 'xstate.after.10.waits.waiting', 'unreached'],
    ])
    expect(why(1)).toEqual([
      ['waits.idle', 'go', 'refused'],
      ['waits.idle', 'nobodySaysThis', 'unheard'],
    ])
    const reached = (grace: number) => unreached(explored(machine, { input: { grace }, events: events('go') })).map(({ state }) => state)
    expect([reached(0), reached(1)]).toEqual([['waits.waiting'], []])
    const texts = untaken(explored(machine, { input: { grace: 1 }, events: events('go') })).map(untakenText)
    expect(texts).toEqual(['waits.idle on go → waits.over (refused)', 'waits.idle on nobodySaysThis → waits.over (unheard)'])
  })

  test('names the states below one that is never entered, and a machine that is never started', () => {
    const idle = setup({}).createMachine({ id: 'idle', initial: 'a', states: { a: {} } })
    const machine = setup({ actors: { idle } }).createMachine({
      id: 'm',
      initial: 'a',
      states: { a: {}, b: { initial: 'c', states: { c: { invoke: { src: 'idle' } }, h: { type: 'history' } } } },
    })
    expect(unreached(explored(machine))).toEqual([
      { machine: 'm', state: 'm.b' },
      { machine: 'm', state: 'm.b.c' },
      { machine: 'idle', state: 'idle' },
    ])
  })
})

describe('handled or ignored', () => {
  const door = setup({}).createMachine({
    id: 'door',
    initial: 'open',
    states: { open: { on: { close: 'closed' } }, closed: { on: { open: 'open' } } },
  })
  const exploration = explored(door, { events: events('close', 'open') })

  test('an event that reaches a state which does not know it', () => {
    const answer = verdict(exploration, handlesOrIgnores('x'))
    expect([labels(answer), answer.trace?.finding]).toEqual([['start'], 'door ignores open in "open"'])
  })

  test('is no violation where it is listed, and only there', () => {
    const open = { machine: 'door', event: 'open', in: 'open' }
    expect(verdict(exploration, handlesOrIgnores('x', [open])).trace?.finding).toBe('door ignores close in "closed"')
    expect(verdict(exploration, handlesOrIgnores('x', [open, { machine: 'door', event: 'close' }])).holds).toBe(true)
  })
})

/** A machine whose context holds that. */
const holding = (data: object) => setup({}).createMachine({ id: 'm', context: { data } })

function cyclic(): object {
  const data: { of?: object } = {}
  data.of = data
  return data
}

function nested(levels: number): object {
  let data: object = {}
  for (let i = 0; i < levels; i++) data = { in: data }
  return data
}

describe('what is outside', () => {
  const child = setup({}).createMachine({ id: 'child' })
  test.each([
    [
      'spawn in assign',
      setup({ actors: { child } }).createMachine({ id: 'm', context: ({ spawn }) => ({ ref: spawn('child') }) }),
      'm: spawn() inside assign or an initial context cannot be explored',
    ],
    ['a child without an id', setup({ actors: { child } }).createMachine({ id: 'm', entry: spawnChild('child') }), 'a child without an id'],
    [
      'system',
      setup({ actors: { child } }).createMachine({ id: 'm', entry: sendTo(({ system }) => system.get('x'), { type: 'x' }) }),
      'm: system: reading get cannot be explored',
    ],
    [
      'class instances',
      setup({}).createMachine({ id: 'm', context: { n: new Map() } }),
      'm: context.n: an instance of Map cannot be explored',
    ],
    [
      'snapshots of children',
      setup({ actors: { child } }).createMachine({ id: 'm', invoke: { id: 'c', src: 'child', onSnapshot: {} } }),
      'm: child c: onSnapshot cannot be explored',
    ],
    [
      'an actor without implementation',
      setup({ actors: { child } }).createMachine({ id: 'm', invoke: { id: 'c', src: 'unknown' } } as never),
      'm: child unknown: an actor "unknown" without implementation',
    ],
    [
      'a second child of a name',
      setup({ actors: { child } }).createMachine({ id: 'm', on: { go: { actions: spawnChild('child', { id: 'c' }) } } }),
      'm: a second child "c" while the first is running',
    ],
    [
      'a second timer of a name',
      setup({}).createMachine({ id: 'm', on: { go: { actions: raise({ type: 'later' }, { id: 't', delay: 10 }) } } }),
      'm: a second timer "t" while the first is pending',
    ],
    [
      'an actor from elsewhere',
      setup({}).createMachine({ id: 'm', on: { go: { actions: sendTo(createActor(child), { type: 'hello' }) } } }),
      'm: sending hello to an actor that is not a child, the parent or the sender',
    ],
    [
      'an actor reference in a context',
      setup({}).createMachine({ id: 'm', context: { ref: createActor(child) } }),
      'm: context.ref: an actor reference cannot be explored',
    ],
    [
      'self',
      setup({}).createMachine({ id: 'm', context: { id: '' }, on: { go: { actions: assign({ id: ({ self }) => self.id }) } } }),
      'm: self: reading id cannot be explored',
    ],
    ['what contains itself', holding(cyclic()), 'm: context.data.of: an object that contains itself cannot be explored'],
    ['what is nested too deep', holding(nested(100_000)), 'an object as deep as this cannot be explored'],
    ['symbols', setup({}).createMachine({ id: 'm', context: { s: Symbol('s') } }), 'm: context.s: a symbol cannot be explored'],
  ])('%s is refused by name', (_, machine, message) => {
    expect(() => explored(machine as AnyStateMachine, { events: alphabet(machine as AnyStateMachine) })).toThrow(
      expect.objectContaining({ code: 'ERR_MODEL_UNSUPPORTED', message: expect.stringContaining(message) as string }),
    )
  })

  test('what contains itself is refused in events and results, too', () => {
    const load = fromPromise<object>(() => Promise.resolve({}))
    const loader = setup({ actors: { load } }).createMachine({ id: 'm', invoke: { src: 'load', id: 'load' }, on: { go: {} } })
    const refused = expect.objectContaining({
      code: 'ERR_MODEL_UNSUPPORTED',
      message: expect.stringContaining('contains itself') as string,
    })
    expect(() => explored(loader, { events: [Object.assign(cyclic(), { type: 'go' })] })).toThrow(refused)
    expect(() => explored(loader, { children: { load: { outcomes: [resolves(cyclic())] } } })).toThrow(refused)
  })

  test.each([
    ['raised events', setup({}).createMachine({ id: 'm', on: { go: { actions: raise({ type: 'go' }) } } })],
    [
      'eventless transitions',
      setup({}).createMachine({ id: 'm', initial: 'a', states: { a: { on: { go: 'b' } }, b: { always: 'c' }, c: { always: 'b' } } }),
    ],
  ])('an endless loop of %s is an error of the machine', (_, machine) => {
    expect(verdict(explored(machine, { events: events('go') }), noErrors()).trace?.finding).toMatch(/(endless|infinite) loop/i)
  })

  test('a system without an end of states names the context key that grows', () => {
    const counter = setup({ types: {} as { context: { readonly n: number; readonly name: string } } }).createMachine({
      id: 'counter',
      context: { n: 0, name: 'x' },
      on: { up: { actions: assign({ n: ({ context }) => context.n + 1 }) } },
    })
    expect(() => explored(counter, { events: events('up'), statesMax: 100 })).toThrow(
      expect.objectContaining({
        code: 'ERR_MODEL_LIMIT',
        message: 'there are more than 100 states (statesMax); the context key with the most values is "counter: n" with 51 values',
      }),
    )
  })
})
