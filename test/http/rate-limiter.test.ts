// Fails when: turns come early, late or out of order, a turn beyond the deadline is waited for, the
// end of a stop leaves somebody waiting, or each waiter has a timer of its own.
import { describe, expect, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { RateLimiter, type Stop, stopAfter, WATCH_DRAIN_RATE_PER_SECOND_MIN, watchDrainRate } from '#src/http/traffic/rate-limiter.ts'
import { row } from '../support/row.ts'

/** Asks for `count` turns at once and records each answer as `index:granted@time`. */
function ask(clock: VirtualClock, limiter: RateLimiter, stop: Stop, count: number): string[] {
  const answers: string[] = []
  for (let index = 0; index < count; index++) {
    void limiter.wait(stop).then((granted) => answers.push(`${index}:${granted ? 'granted' : 'refused'}@${clock.now()}`))
  }
  return answers
}

const forEver = (clock: VirtualClock): Stop => stopAfter(clock, Number.POSITIVE_INFINITY).stop

describe('RateLimiter', () => {
  test('the first turn is free, the next follow at the rate, in the order of asking', async () => {
    const clock = new VirtualClock()
    const answers = ask(clock, new RateLimiter(clock, 100), forEver(clock), 4)
    await clock.runToEnd()
    expect(answers).toEqual(['0:granted@0', '1:granted@10', '2:granted@20', '3:granted@30'])
  })

  test('saves one token and no more while nobody asks', async () => {
    const clock = new VirtualClock()
    const limiter = new RateLimiter(clock, 100)
    ask(clock, limiter, forEver(clock), 1)
    await clock.advance(1000)
    const answers = ask(clock, limiter, forEver(clock), 3)
    await clock.runToEnd()
    expect(answers).toEqual(['0:granted@1000', '1:granted@1010', '2:granted@1020'])
  })

  test('refuses at once a turn that would come after the deadline, and does not use it up', async () => {
    const clock = new VirtualClock()
    const limiter = new RateLimiter(clock, 100)
    const answers = ask(clock, limiter, stopAfter(clock, 20).stop, 5)
    const later = ask(clock, limiter, forEver(clock), 1)
    await clock.advance(0)
    expect(answers).toEqual(['3:refused@0', '4:refused@0', '0:granted@0'].sort())
    await clock.runToEnd()
    expect(later).toEqual(['0:granted@30'])
  })

  test('the end of a stop refuses all who wait under it, and nobody else', async () => {
    const clock = new VirtualClock()
    const limiter = new RateLimiter(clock, 100)
    const { stop, cancel } = stopAfter(clock, 1000)
    ask(clock, limiter, forEver(clock), 1)
    const cut = ask(clock, limiter, stop, 2)
    const kept = ask(clock, limiter, forEver(clock), 2)
    const cutToo = ask(clock, limiter, stop, 1)
    await clock.advance(5)
    cancel()
    await clock.advance(0)
    expect(cut).toEqual(['0:refused@5', '1:refused@5'])
    expect(cutToo).toEqual(['0:refused@5'])
    const next = ask(clock, limiter, forEver(clock), 1)
    await clock.runToEnd()
    expect(kept).toEqual(['0:granted@30', '1:granted@40'])
    expect(next, 'the turn of the refused is free again').toEqual(['0:granted@50'])
  })

  test('turns that are refused at the end of the queue are free again, so that the next who asks waits for none of them', async () => {
    const clock = new VirtualClock()
    const limiter = new RateLimiter(clock, 100)
    const { stop, cancel } = stopAfter(clock, 1000)
    ask(clock, limiter, forEver(clock), 1)
    ask(clock, limiter, stop, 5)
    cancel()
    const next = ask(clock, limiter, forEver(clock), 2)
    await clock.runToEnd()
    expect(next).toEqual(['0:granted@10', '1:granted@20'])
  })

  test('a stop that is over refuses at once', async () => {
    const clock = new VirtualClock()
    const { stop, cancel } = stopAfter(clock, 10)
    cancel()
    expect(await new RateLimiter(clock, 100).wait(stop)).toBe(false)
  })

  test('any number of waiters share one timer', async () => {
    const clock = new VirtualClock()
    const answers = ask(clock, new RateLimiter(clock, 1000), forEver(clock), 1000)
    await clock.advance(0)
    expect(clock.pending).toBe(1)
    await clock.runToEnd()
    expect(answers).toHaveLength(1000)
    expect(clock.now()).toBe(999)
  })

  test('turns that were overslept are granted together: the process was stopped, or the timer is coarser than the rate', async () => {
    let now = 0
    let fire: (() => void) | undefined
    const coarse = { now: () => now, wall: () => now, setTimeout: (fn: () => void) => (fire = fn), clearTimeout: () => undefined }
    const limiter = new RateLimiter(coarse, 8_000)
    const { stop } = stopAfter(coarse, Number.POSITIVE_INFINITY)
    let granted = 0
    for (let n = 0; n < 40; n++) void limiter.wait(stop).then(() => granted++)
    now = 2
    fire?.()
    await new Promise((resolve) => setImmediate(resolve))
    expect(granted).toBe(1 + 2 * 8)
  })

  test.each([0, -1, Number.NaN])('a rate of %d per second is refused', (rate) => {
    expect(() => new RateLimiter(new VirtualClock(), rate)).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID' }))
  })

  test('an infinite rate makes nobody wait', async () => {
    const clock = new VirtualClock()
    const answers = ask(clock, new RateLimiter(clock, Number.POSITIVE_INFINITY), forEver(clock), 3)
    await clock.advance(0)
    expect(answers).toEqual(['0:granted@0', '1:granted@0', '2:granted@0'])
  })
})

describe('stopAfter', () => {
  test('ends at its deadline with ERR_TIMEOUT', async () => {
    const clock = new VirtualClock({ now: 7 })
    const { stop, cancel } = stopAfter(clock, 10)
    expect(stop.deadline).toBe(17)
    await clock.advance(9)
    expect(stop.signal.aborted).toBe(false)
    await clock.advance(1)
    expect(stop.signal.reason).toMatchObject({ code: 'ERR_TIMEOUT', message: 'deadline exceeded' })
    cancel()
    expect(stop.signal.reason).toMatchObject({ code: 'ERR_TIMEOUT' })
  })

  test('cancel ends it now and leaves no timer', () => {
    const clock = new VirtualClock()
    const { stop, cancel } = stopAfter(clock, 10)
    cancel()
    cancel()
    expect(stop.signal.reason).toMatchObject({ code: 'ERR_ABORTED' })
    expect(clock.pending).toBe(0)
  })
})

describe('watchDrainRate', () => {
  row('RL-14', '100 watches within 60 s leave at the floor of 200 per second', () => {
    expect(watchDrainRate(100, 60_000)).toBe(200)
    expect(WATCH_DRAIN_RATE_PER_SECOND_MIN).toBe(200)
  })

  row('RL-15', '60 000 watches within 60 s are told in the first 30 s, at 2 000 per second (V20)', () => {
    expect(watchDrainRate(60_000, 60_000)).toBe(2000)
  })

  test('the floor ends where the watches would not be told within half of the grace; without a grace nothing is spread', () => {
    expect(watchDrainRate(6_000, 60_000)).toBe(200)
    expect(watchDrainRate(6_030, 60_000)).toBe(201)
    expect(watchDrainRate(1, 0)).toBe(Number.POSITIVE_INFINITY)
    expect(watchDrainRate(0, 0)).toBe(Number.POSITIVE_INFINITY)
  })
})
