// Fails when: the explorer delivers events, starts or stops children, sets timers or orders what is
// said in any other way than xstate does.

import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { AnyStateMachine } from 'xstate'
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
