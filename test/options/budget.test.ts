import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deadlineThatFits, delayFits, longestDelayMs, RESERVES_DEFAULT_MS, stopProfile } from '../../src/options/budget.ts'

const ms = fc.integer({ min: 0, max: 3_600_000 })
const plan = fc.record({
  delayMs: ms,
  watchGraceMs: ms,
  deadlineMs: fc.integer({ min: 1, max: 3_600_000 }),
  reserves: fc.record({ connections: ms, audit: ms, destroy: ms, flush: ms }),
})
const order = (p: ReturnType<typeof stopProfile>): number[] => [
  0,
  p.cutsMs.hooks,
  p.cutsMs.requests,
  p.cutsMs.connections,
  p.cutsMs.audit,
  p.cutsMs.destroy,
  p.cutsMs.flush,
  p.deadlineMs,
]

describe('the budget', () => {
  test('keeps the default reserves in front of a deadline of 25 s', () => {
    const profile = stopProfile({ delayMs: 5_000, deadlineMs: 25_000, watchGraceMs: 8_000, reserves: RESERVES_DEFAULT_MS })
    expect(profile).toEqual({
      delayMs: 5_000,
      watchGraceMs: 8_000,
      deadlineMs: 25_000,
      cutsMs: { hooks: 13_250, requests: 21_250, connections: 21_500, audit: 22_500, destroy: 24_500, flush: 24_900 },
    })
  })

  test('gives requests half of what is left when the deadline is short', () => {
    const { cutsMs } = stopProfile({ delayMs: 0, deadlineMs: 8_000, watchGraceMs: 8_000, reserves: RESERVES_DEFAULT_MS })
    expect(cutsMs).toEqual({ hooks: 2_125, requests: 4_250, connections: 4_500, audit: 5_500, destroy: 7_500, flush: 7_900 })
  })

  test('scales the reserves together when they exceed half the deadline', () => {
    const { cutsMs } = stopProfile({ delayMs: 0, deadlineMs: 2_000, watchGraceMs: 0, reserves: RESERVES_DEFAULT_MS })
    expect(cutsMs.requests).toBeCloseTo(1_000)
    expect((cutsMs.destroy - cutsMs.audit) / (cutsMs.audit - cutsMs.connections)).toBeCloseTo(2)
  })

  test('orders its instants strictly, whatever it is given', () => {
    fc.assert(
      fc.property(plan, (given) => {
        const instants = order(stopProfile(given))
        for (let i = 1; i < instants.length; i++) expect(instants[i]).toBeGreaterThan(instants[i - 1] as number)
      }),
    )
  })

  test('never plans a delay past the cut of the hooks', () => {
    fc.assert(
      fc.property(plan, (given) => {
        const { delayMs, cutsMs } = stopProfile(given)
        expect(delayMs).toBeLessThanOrEqual(Math.min(given.delayMs, cutsMs.hooks))
      }),
    )
  })

  test('leaves a delay that fits whole, and watches their grace after it', () => {
    fc.assert(
      fc.property(plan, (given) => {
        fc.pre(delayFits(given))
        const { delayMs, cutsMs } = stopProfile(given)
        expect(delayMs).toBeCloseTo(given.delayMs, 3)
        expect(delayMs + given.watchGraceMs).toBeLessThanOrEqual(cutsMs.requests)
      }),
    )
  })

  test('allows the longest delay that it names, and none that is longer', () => {
    fc.assert(
      fc.property(plan, (given) => {
        const delayMs = longestDelayMs(given)
        fc.pre(delayMs > 1)
        expect(delayFits({ ...given, delayMs: delayMs - 1 })).toBe(true)
        expect(delayFits({ ...given, delayMs: delayMs + 2 })).toBe(false)
      }),
    )
  })

  test('finds a deadline that fits any delay, grace and reserves', () => {
    fc.assert(
      fc.property(plan, (given) => {
        // A millisecond more than computed, because the sums are of doubles.
        const deadlineMs = deadlineThatFits(given) + 1
        expect(delayFits({ ...given, deadlineMs })).toBe(true)
      }),
    )
  })

  test('a later deadline moves no cut forward', () => {
    fc.assert(
      fc.property(plan, ms, (given, more) => {
        const before = order(stopProfile(given))
        const after = order(stopProfile({ ...given, deadlineMs: given.deadlineMs + more }))
        for (const [i, instant] of before.entries()) expect(after[i]).toBeGreaterThanOrEqual(instant - 1e-6)
      }),
    )
  })
})
