// Fails when: the rehearsal of an end goes on after a stop, never ends, does much in one turn, or
// lets an error of its own out.
import { expect, test } from 'vitest'
import { rehearseEnd } from '#src/process/rehearse-end.ts'
import { composed, PROFILES } from '../support/fake-effects.ts'

const INPUT = { profiles: PROFILES, tell: 'at-once', connectionTimeoutMs: 1_000, preShutdownHooks: [], destroyFunctions: [] } as const

/** Timers that are due when the test says so. */
function turns() {
  const due: (() => void)[] = []
  const clock = { now: () => 0, wall: () => 0, setTimeout: (fn: () => void) => due.push(fn), clearTimeout: () => {} }
  const run = (max: number): number => {
    let count = 0
    for (; count < max && due.length > 0; count++) due.shift()?.()
    return count
  }
  return { clock, run }
}

test('it takes a few steps, one in each turn, and is repeated', () => {
  const { clock, run } = turns()
  rehearseEnd(composed(), INPUT, clock, new AbortController().signal)
  const count = run(1_000)
  // Past the start and into the end; no more than what brings something.
  expect(count).toBeGreaterThan(18 * 10)
  expect(count).toBeLessThan(18 * 20)
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
