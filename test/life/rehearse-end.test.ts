// Fails when: the rehearsal of an end goes on after a stop, never ends, does much in one turn,
// takes other steps or pauses, keeps a process alive, or lets an error of its own out.
import { expect, test } from 'vitest'
import { createMachine, fromPromise } from 'xstate'
import type { LifecycleMachine } from '#src/machines/lifecycle.ts'
import { rehearseEnd } from '#src/process/rehearse-end.ts'
import { composed, PROFILES } from '../support/fake-effects.ts'

const INPUT = { profiles: PROFILES, tell: 'at-once', connectionTimeoutMs: 1_000, preShutdownHooks: [], destroyFunctions: [] } as const

/** Timers that are due when the test says so. */
function turns() {
  const due: (() => void)[] = []
  const pauses: number[] = []
  const kept = new Set<unknown>()
  const setTimeout = (fn: () => void, ms: number) => {
    due.push(fn)
    pauses.push(ms)
    kept.add(fn)
    return { unref: () => kept.delete(fn) }
  }
  const clock = { now: () => 0, wall: () => 0, setTimeout, clearTimeout: () => {} }
  const run = (max: number): number => {
    let count = 0
    for (; count < max && due.length > 0; count++) due.shift()?.()
    return count
  }
  return { clock, run, pauses, keepsAlive: () => kept.size > 0 }
}

/** The pauses of the rehearsals of any machine; none of them keeps a process alive. */
function pausesOf(states: Record<string, object>): readonly number[] {
  const { clock, run, pauses, keepsAlive } = turns()
  const work = fromPromise(() => new Promise(() => {}))
  const machine = createMachine({ initial: 'idle', states }).provide({ actors: { work } as never })
  rehearseEnd(machine as unknown as LifecycleMachine, INPUT, clock, new AbortController().signal)
  run(1_000)
  expect(keepsAlive()).toBe(false)
  return pauses
}

/** One pause, and one for each step: shorter ones the first time than the seventeen times after. */
const pausesFor = (steps: number): readonly number[] => [...Array<number>(1 + steps).fill(20), ...Array<number>(17 * steps).fill(150)]

test('it takes a few steps, one in each turn, and is repeated', () => {
  const { clock, run } = turns()
  rehearseEnd(composed(), INPUT, clock, new AbortController().signal)
  const count = run(1_000)
  // Past the start and into the end; no more than what brings something.
  expect(count).toBeGreaterThan(18 * 10)
  expect(count).toBeLessThan(18 * 20)
})

test.each<[string, number, Record<string, object>]>([
  [
    'a machine that never ends takes 24 steps',
    24,
    {
      idle: { on: { start: 'one' } },
      one: { invoke: { src: 'work', onDone: 'other' } },
      other: { invoke: { src: 'work', onDone: 'one' } },
    },
  ],
  ['one that ends takes no more', 1, { idle: { on: { start: 'over' } }, over: { type: 'final' } }],
  ['one that takes no notice is left alone', 1, { idle: {} }],
  [
    'one that waits for something else after start and signal is waited for once',
    3,
    {
      idle: { on: { start: 'serving' } },
      serving: { on: { 'process.signalled': 'waiting' } },
      waiting: {},
    },
  ],
])('%s, the first time and each later one', (_, steps, states) => {
  expect(pausesOf(states)).toEqual(pausesFor(steps))
})

test('after the start comes the signal of an orchestrator, not a Ctrl-C', () => {
  const heard: unknown[] = []
  const guard = ({ event }: { event: unknown }) => heard.push(event) < 0
  pausesOf({ idle: { on: { start: 'serving' } }, serving: { on: { '*': { guard, target: 'idle' } } } })
  expect(heard[0]).toEqual({ type: 'process.signalled', signal: 'SIGTERM', interactive: false })
})

test('the machine of a second life has been rehearsed', () => {
  const machine = composed()
  const [first, second] = [turns(), turns()]
  rehearseEnd(machine, INPUT, first.clock, new AbortController().signal)
  rehearseEnd(machine, INPUT, second.clock, new AbortController().signal)
  expect(first.run(1)).toBe(1)
  expect(second.run(1)).toBe(0)
})

test('a stop ends it', () => {
  const { clock, run } = turns()
  const stop = new AbortController()
  rehearseEnd(composed(), INPUT, clock, stop.signal)
  expect(run(3)).toBe(3)
  stop.abort()
  expect(run(1_000)).toBe(1)
})

test('a machine that does not go on is none of its business', () => {
  const { clock, run } = turns()
  const broken = { profiles: undefined } as unknown as typeof INPUT
  rehearseEnd(composed(), broken, clock, new AbortController().signal)
  expect(run(1_000)).toBeLessThan(10)
})
