import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RESERVES_DEFAULT_MS } from '#src/base/stop-profile.ts'
import { answersMs, deadlineThatFits, delayFits, exitGraceMs, longestDelayMs, stopProfile } from '#src/options/budget.ts'

const ms = fc.integer({ min: 0, max: 3_600_000 })
const plan = fc.record({
  delayMs: ms,
  lastCallMs: ms,
  watchGraceMs: ms,
  deadlineMs: fc.integer({ min: 1, max: 3_600_000 }),
  reserves: fc.record({ connections: ms, audit: ms, destroy: ms, flush: ms }),
  asked: fc.subarray(['connections', 'audit', 'destroy', 'flush'] as const, { maxLength: 3 }),
})
const registered = fc.record({ hooks: fc.boolean(), audit: fc.boolean(), destroy: fc.boolean() })
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
    const profile = stopProfile({ lastCallMs: 0, delayMs: 5_000, deadlineMs: 25_000, watchGraceMs: 8_000, reserves: RESERVES_DEFAULT_MS })
    expect(profile).toEqual({
      delayMs: 5_000,
      lastCallMs: 0,
      watchGraceMs: 8_000,
      deadlineMs: 25_000,
      cutsMs: { hooks: 13_250, requests: 21_250, connections: 21_500, audit: 22_500, destroy: 24_500, flush: 24_900 },
    })
  })

  test('gives requests half of what is left when the deadline is short', () => {
    const { cutsMs } = stopProfile({ lastCallMs: 0, delayMs: 0, deadlineMs: 8_000, watchGraceMs: 8_000, reserves: RESERVES_DEFAULT_MS })
    expect(cutsMs).toEqual({ hooks: 2_125, requests: 4_250, connections: 4_500, audit: 5_500, destroy: 7_500, flush: 7_900 })
  })

  test('keeps nothing for what is not registered: it is the time of requests', () => {
    const eight = { delayMs: 0, lastCallMs: 0, deadlineMs: 8_000, watchGraceMs: 0, reserves: RESERVES_DEFAULT_MS }
    const requests = (deadlineMs: number, audit: boolean, destroy: boolean): number =>
      stopProfile({ ...eight, deadlineMs }, { hooks: true, audit, destroy }).cutsMs.requests
    expect(requests(8_000, true, true)).toBe(4_250)
    expect(requests(8_000, false, true)).toBe(5_249)
    expect(requests(8_000, true, false)).toBe(6_249)
    expect(requests(8_000, false, false)).toBe(7_248)
    // Scaled reserves of nothing do not make those of the others longer.
    expect(requests(1_400, false, false)).toBeGreaterThan(1_250)
  })

  test('keeps whole what was asked for, and shares the rest as if that were the deadline', () => {
    const asked = {
      delayMs: 0,
      lastCallMs: 0,
      watchGraceMs: 0,
      reserves: { ...RESERVES_DEFAULT_MS, destroy: 20_000 },
      asked: ['destroy'] as const,
    }
    const { cutsMs } = stopProfile({ ...asked, deadlineMs: 30_000 })
    expect(cutsMs).toMatchObject({ requests: 8_250, connections: 8_500, audit: 9_500, destroy: 29_500, flush: 29_900 })
    // Nine tenths of the deadline are the most that can be asked for.
    const short = stopProfile({ ...asked, deadlineMs: 10_000 }).cutsMs
    expect(short.destroy - short.audit).toBeCloseTo(9_000)
    expect(short.requests).toBeCloseTo(500)
  })

  test('scales the reserves together when they exceed half the deadline', () => {
    const { cutsMs } = stopProfile({ lastCallMs: 0, delayMs: 0, deadlineMs: 2_000, watchGraceMs: 0, reserves: RESERVES_DEFAULT_MS })
    expect(cutsMs.requests).toBeCloseTo(1_000)
    expect((cutsMs.destroy - cutsMs.audit) / (cutsMs.audit - cutsMs.connections)).toBeCloseTo(2)
  })

  test('orders its instants strictly, whatever it is given', () => {
    fc.assert(
      fc.property(plan, registered, (given, what) => {
        const instants = order(stopProfile(given, what))
        for (let i = 1; i < instants.length; i++) expect(instants[i]).toBeGreaterThan(instants[i - 1] as number)
      }),
    )
  })

  test('whatever is not registered, no cut but those of its own group and earlier ones move, and those only backwards', () => {
    fc.assert(
      fc.property(plan, registered, (given, what) => {
        const all = stopProfile(given).cutsMs
        const some = stopProfile(given, what).cutsMs
        for (const instant of ['hooks', 'requests', 'connections', 'audit'] as const)
          expect(some[instant]).toBeGreaterThanOrEqual(all[instant] - 1e-6)
        expect([some.destroy, some.flush]).toEqual([all.destroy, all.flush])
      }),
    )
  })

  test('lets a process live on for a second at most, and never beyond its deadline', () => {
    fc.assert(
      fc.property(plan, registered, fc.double({ min: 0, max: 1, noNaN: true }), (given, what, part) => {
        const { cutsMs, deadlineMs } = stopProfile(given, what)
        const since = part * deadlineMs
        const grace = exitGraceMs(cutsMs.flush - since)
        expect(grace).toBeGreaterThanOrEqual(0)
        expect(grace).toBeLessThanOrEqual(1_000)
        expect(since + grace).toBeLessThanOrEqual(deadlineMs)
      }),
    )
    expect([exitGraceMs(5_000), exitGraceMs(300), exitGraceMs(-1)]).toEqual([1_000, 300, 0])
  })

  test('gives a last request the limit of the request drain after the last call, and no time after the cut', () => {
    expect([answersMs(9_000, 300, 500), answersMs(9_000, 300), answersMs(700, 300, 500)]).toEqual([800, 9_000, 700])
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
