// Fails when: the explorer delivers events, starts or stops children, sets timers or orders what is
// said in any other way than xstate does.

import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type AnyStateMachine, raise, sendParent, sendTo, setup } from 'xstate'
import { type ExploreOptions, explore, mismatches, rejects, resolves } from '../src/index.ts'
import { alphabet, events } from './machines.ts'
import { REACHING } from './reaching.ts'
import { delaying, erring, nested, replacing, spawning, talking } from './systems.ts'

type System = readonly [name: string, machine: AnyStateMachine, options: ExploreOptions, statesMin: number]

const SYSTEMS: readonly System[] = [
  [
    'nested children',
    nested,
    { events: events('begin', 'stop'), children: { work: { outcomes: [resolves('a'), resolves('b'), rejects()] } } },
    8,
  ],
  ['spawned children', spawning, { events: events('hire', 'dismiss', 'quit', 'close') }, 10],
  ['delays', delaying, { events: events('start', 'calm', 'again') }, 20],
  ['errors', erring, {}, 4],
  ['a child replaced at work', replacing, { events: events('poke') }, 5],
  [
    'callbacks, conditions, history',
    talking,
    { events: events('hush', 'pause', 'resume'), children: { feed: { sends: events('feed.item'), outcomes: [rejects()] } } },
    8,
  ],
  ...Object.entries(REACHING).map(([name, machine]): System => [name, machine, { events: alphabet(machine) }, 2]),
]

describe('what has no end is said, and no wait for ever', () => {
  const error = (message: string) => expect.objectContaining({ code: 'ERR_MODEL_LIMIT', message: expect.stringContaining(message) })

  test('actors that answer each other', () => {
    const kid = setup({}).createMachine({ id: 'kid', on: { ping: { actions: sendParent({ type: 'pong' }) } } })
    const pings = sendTo('kid', { type: 'ping' })
    const parent = (entry: object) =>
      setup({ actors: { kid } }).createMachine({
        id: 'parent',
        invoke: { id: 'kid', src: 'kid' },
        on: { go: { actions: pings }, pong: { actions: pings } },
        ...entry,
      } as never)
    expect(() => explore(parent({}) as never, { events: [{ type: 'go' }] } as never)).toThrow(error('actors answer each other without end'))
    expect(() => explore(parent({ entry: pings }) as never)).toThrow(error('actors answer each other without end'))
  })

  test('an actor that starts itself', () => {
    const nested = setup({ actors: { again: setup({}).createMachine({}) } }).createMachine({
      id: 'nested',
      invoke: { id: 'again', src: 'again' },
    })
    // One that has itself among its actors.
    Object.assign(nested.implementations.actors, { again: nested })
    expect(() => explore(nested as never)).toThrow(error('its start starts it again'))
  })

  test('timers that are only ever set', () => {
    const machine = setup({}).createMachine({ id: 'm', on: { go: { actions: raise({ type: 'late' }, { delay: 10 }) }, late: {} } })
    expect(() => explore(machine, { events: [{ type: 'go' }], statesMax: 50 } as never)).toThrow(error('m has 49 timers pending at once'))
  })
})

describe('every edge of the explored graph, taken by live actors', () => {
  test.each(SYSTEMS)('%s', (_, machine, options, statesMin) => {
    // xstate says so on the console when a timer is due for an actor that is gone; here that is
    // meant.
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => {})
    onTestFinished(() => warned.mockRestore())
    const exploration = explore(machine, { statesMax: 2_000, ...options })
    expect(exploration.graph.stateCount).toBeGreaterThanOrEqual(statesMin)
    expect(mismatches(exploration, { every: 'edge' }).slice(0, 1)).toEqual([])
  })
})
