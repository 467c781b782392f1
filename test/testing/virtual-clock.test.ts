// Fails when: timers run out of order or at the clock's end instead of their own time, a
// continuation misses its turn between two timers, real time moves the clock, or a loop without end
// hangs the test run instead of failing it.
import { describe, expect, test, vi } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { FakeProcess } from '#src/testing/fake-process.ts'

/** A clock and a log of `name@time`. */
function scene() {
  const clock = new VirtualClock()
  const log: string[] = []
  const note = (name: string) => () => void log.push(`${name}@${clock.now()}`)
  const sleep = (ms: number) => new Promise<void>((resolve) => void clock.setTimeout(resolve, ms))
  return { clock, log, note, sleep }
}

describe('VirtualClock', () => {
  test('runs timers in order of due time, then in order of setting, each at its own time', async () => {
    const { clock, log, note } = scene()
    clock.setTimeout(note('c'), 20)
    clock.setTimeout(note('a'), 10)
    clock.setTimeout(note('b'), 10)
    clock.setTimeout(note('late'), 31)
    await clock.advance(30)
    expect(log).toEqual(['a@10', 'b@10', 'c@20'])
    expect(clock.now()).toBe(30)
    expect(clock.pending).toBe(1)
  })

  test('a timer set by a continuation of another timer runs at its own time', async () => {
    const { clock, log, note, sleep } = scene()
    const work = async () => {
      await sleep(10)
      note('first')()
      await new Promise((resolve) => setImmediate(resolve))
      await sleep(10)
      note('second')()
    }
    void work()
    clock.setTimeout(note('between'), 15)
    await clock.advance(100)
    expect(log).toEqual(['first@10', 'between@15', 'second@20'])
  })

  test('does not move with real time', async () => {
    const { clock, log, note } = scene()
    clock.setTimeout(note('never'), 1)
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(log).toEqual([])
    expect(clock.now()).toBe(0)
  })

  test('wall time moves with it', async () => {
    const clock = new VirtualClock({ now: 500, wall: 1_000_000 })
    await clock.advance(250)
    expect([clock.now(), clock.wall()]).toEqual([750, 1_000_250])
  })

  test('a cleared timer does not run; clearing one twice, after it ran, or a stranger is harmless', async () => {
    const { clock, log, note } = scene()
    const cleared = clock.setTimeout(note('cleared'), 5)
    const ran = clock.setTimeout(note('ran'), 5)
    clock.clearTimeout(cleared)
    clock.clearTimeout(cleared)
    await clock.advance(5)
    clock.setTimeout(note('kept'), 5)
    for (const handle of [ran, undefined, null, 7, {}]) clock.clearTimeout(handle)
    await clock.advance(5)
    expect(log).toEqual(['ran@5', 'kept@10'])
  })

  test('delays are bounded as on the system clock', async () => {
    const { clock, log, note } = scene()
    clock.setTimeout(note('below'), -5)
    clock.setTimeout(note('nan'), Number.NaN)
    clock.setTimeout(note('above'), Number.POSITIVE_INFINITY)
    await clock.runToEnd()
    expect(log).toEqual(['below@0', 'nan@0', `above@${2 ** 31 - 1}`])
  })

  test('runToNext goes to the next instant and says whether there was one', async () => {
    const { clock, log, note } = scene()
    clock.setTimeout(note('a'), 10)
    clock.setTimeout(note('b'), 10)
    clock.setTimeout(note('c'), 11)
    expect(await clock.runToNext()).toBe(true)
    expect(log).toEqual(['a@10', 'b@10'])
    expect(await clock.runToNext()).toBe(true)
    expect(await clock.runToNext()).toBe(false)
    expect(clock.now()).toBe(11)
  })

  test('moves are queued, never interleaved', async () => {
    const { clock, log, note } = scene()
    clock.setTimeout(note('a'), 10)
    clock.setTimeout(note('b'), 20)
    await Promise.all([clock.advance(10), clock.advance(10)])
    expect(log).toEqual(['a@10', 'b@20'])
    expect(clock.now()).toBe(20)
  })

  test('a timer that throws rejects its move; time and the other timers go on', async () => {
    const { clock, log, note } = scene()
    clock.setTimeout(() => {
      throw new Error('timer failed')
    }, 10)
    clock.setTimeout(note('after'), 20)
    await expect(clock.advance(30)).rejects.toThrow('timer failed')
    expect(clock.now()).toBe(10)
    await clock.runToEnd()
    expect(log).toEqual(['after@20'])
  })

  test.each(['runToEnd', 'advance', 'runToNext'] as const)(
    '%s: a timer that sets itself again for ever fails and names the limit',
    async (move) => {
      const clock = new VirtualClock({ timersMax: 50 })
      let runs = 0
      const again = () => {
        runs++
        clock.setTimeout(again, 0)
      }
      again()
      const moved = move === 'advance' ? clock.advance(1) : clock[move]()
      await expect(moved).rejects.toMatchObject({ code: 'ERR_TIMEOUT', message: expect.stringContaining('50 timers have run') })
      expect(runs).toBe(51)
    },
  )

  test('refuses to move backwards or for ever', async () => {
    const clock = new VirtualClock()
    for (const ms of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      await expect(clock.advance(ms)).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID' })
    }
  })

  test('moves and sleeps take durations as text', async () => {
    const { clock, log, note } = scene()
    void clock.sleep('1.5s').then(note('awake'))
    await clock.advance('2s')
    expect(log).toEqual(['awake@1500'])
    expect(() => clock.sleep('soon')).toThrowError(expect.objectContaining({ code: 'ERR_OPTION_INVALID' }))
  })

  test('runToEnd does not wait for timers that keep nothing alive, but runs those that are due on the way', async () => {
    const { clock, log, note } = scene()
    const unref = (fn: () => void, ms: number): void => void (clock.setTimeout(fn, ms) as { unref(): unknown }).unref()
    unref(note('on the way'), 5)
    clock.setTimeout(note('last'), 10)
    unref(note('too late'), 15)
    await clock.runToEnd()
    expect(log).toEqual(['on the way@5', 'last@10'])
    expect(clock.pending).toBe(1)
  })

  test('runUntil stops as soon as it is over, and says when it never is', async () => {
    const { clock, log, note } = scene()
    for (const ms of [10, 20, 30]) clock.setTimeout(note(String(ms)), ms)
    expect(await clock.runUntil(() => log.length === 2)).toBe(true)
    expect(clock.now()).toBe(20)
    expect(await clock.runUntil(() => false)).toBe(false)
    expect(clock.now()).toBe(30)
  })

  test('gives the code its turn for as long as something is under way, and no longer than that can take', async () => {
    let turnsLeft = 50
    const clock = new VirtualClock({ isQuiet: () => turnsLeft-- <= 0 })
    await clock.advance(0)
    expect(turnsLeft).toBeLessThan(0)
    const restless = new VirtualClock({ isQuiet: () => false })
    await expect(restless.advance(0)).rejects.toMatchObject({ code: 'ERR_TIMEOUT', message: expect.stringContaining('never quiet') })
  })

  test('a timer that ends the process ends the move; nothing runs any more', async () => {
    const { clock, log, note } = scene()
    const process = new FakeProcess()
    clock.setTimeout(() => process.exit(3), 10)
    clock.setTimeout(note('never'), 20)
    await clock.advance(30)
    expect(clock.now()).toBe(10)
    clock.setTimeout(note('nor this'), 1)
    await clock.advance(30)
    expect([log, clock.pending, process.exits]).toEqual([[], 0, [3]])
  })

  test('waitForTimers waits until the code is waiting', async () => {
    const { clock, log, note, sleep } = scene()
    const work = async () => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      await Promise.all([sleep(10), sleep(20)])
      note('done')()
    }
    void work()
    await clock.waitForTimers(2)
    expect(clock.pending).toBe(2)
    expect(clock.now()).toBe(0)
    await clock.runToEnd()
    expect(log).toEqual(['done@20'])
  })

  test('waitForTimers gives up with the numbers it saw', async () => {
    const clock = new VirtualClock({ waitMsMax: 5 })
    clock.setTimeout(() => undefined, 1)
    await expect(clock.waitForTimers(2)).rejects.toMatchObject({ code: 'ERR_TIMEOUT', message: expect.stringContaining('1 of 2 timers') })
  })

  test('works while a test runner fakes the global timers', async () => {
    vi.useFakeTimers()
    try {
      const { clock, log, note } = scene()
      clock.setTimeout(note('a'), 10)
      await clock.runToEnd()
      expect(log).toEqual(['a@10'])
    } finally {
      vi.useRealTimers()
    }
  })
})
