// Fails when: the explorer delivers events, starts or stops children, sets timers or orders what is said in any other way than xstate does.

import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { AnyStateMachine } from 'xstate'
import { rejects, resolves } from '#src/model/engine/environment.ts'
import { type ExploreOptions, explore } from '#src/model/engine/explore.ts'
import { mismatches } from '#src/model/engine/replay.ts'
import { exploreLifecycle } from '#src/model/life/lifecycle-model.ts'
import { plannedHooks } from '../support/fake-effects.ts'
import { alphabet, events, lifeInput } from './machines.ts'
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
    // xstate says so on the console when a timer is due for an actor that is gone; here that is meant.
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => {})
    onTestFinished(() => warned.mockRestore())
    const exploration = explore(machine, { statesMax: 2_000, ...options })
    expect(exploration.graph.stateCount).toBeGreaterThanOrEqual(statesMin)
    expect(mismatches(exploration, { every: 'edge' }).slice(0, 1)).toEqual([])
  })
})

/** `npm run test:soak` follows every way instead: minutes. */
const sample = process.env['EVERY_STATE'] === undefined ? 150 : 1

test.each(['refuse', 'retry-after'] as const)(
  `our lifecycle on live actors, %s mode: ${sample === 1 ? 'every state' : 'a sample of all states'}`,
  { timeout: 0 },
  (mode) => {
    const input = lifeInput({ preShutdownHooks: plannedHooks(['leave']) })
    const exploration = exploreLifecycle({ mode, input }, { outside: ['start', 'stop', 'ready'] })
    expect(mismatches(exploration, { sample }).slice(0, 1)).toEqual([])
  },
)
