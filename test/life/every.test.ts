// every(): recurring work joins the drain. Fails when: work runs before the server serves or after
// the drain, is not done as long as the drain waits for other work, two runs overlap, the rhythm
// drifts, a run is cut off that the drain could have waited for, or a failure ends the rhythm, the
// process, or nothing at all.
import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { deferred } from '#src/base/deferred.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import type { RecurringOptions } from '#src/lifecycle/life.ts'
import { newLife } from '../support/life.ts'

const virtual = (options = {}) => newLife({ clock: new VirtualClock(), options })

describe('every()', () => {
  test('begins when the server serves, a period later, and keeps its rhythm', async () => {
    const t = virtual()
    const at: number[] = []
    t.life.every('tick', '1s', () => void at.push(t.clock.now()))
    await t.clock.advance(5_000)
    expect(at).toEqual([])
    await t.life.start()
    const begun = t.clock.now()
    await t.clock.advance(3_500)
    expect(at).toEqual([1_000, 2_000, 3_000].map((ms) => begun + ms))
    await t.end()
    expect(at).toHaveLength(3)
  })

  test('added while serving, it begins a period later', async () => {
    const t = virtual()
    await t.life.start()
    await t.clock.advance(700)
    let runs = 0
    t.life.every('tick', 1_000, () => runs++)
    await t.clock.advance(999)
    expect(runs).toBe(0)
    await t.clock.advance(1)
    expect(runs).toBe(1)
    await t.end()
  })

  test('never overlaps itself: beats within a run are left out, and the next one is on the beat', async () => {
    const t = virtual()
    await t.life.start()
    const begun = t.clock.now()
    const at: number[] = []
    let run = deferred<void>()
    t.life.every('tick', '1s', () => {
      at.push(t.clock.now() - begun)
      return run.promise
    })
    await t.clock.advance(3_300)
    expect(at).toEqual([1_000])
    run.resolve()
    run = deferred()
    run.resolve()
    await t.clock.advance(1_000)
    expect(at).toEqual([1_000, 4_000])
    await t.end()
  })

  test('the drain waits for a run that is under way, and nothing begins after that', async () => {
    const t = virtual({ shutdownDelay: '2.5s', deadline: '60s' })
    const run = deferred<void>()
    let runs = 0
    t.life.every('tick', '1s', () => {
      runs++
      return runs === 2 ? run.promise : undefined
    })
    await t.life.start()
    const ended = t.life.stop()
    await t.clock.advance(2_499)
    // Both beats of the delay, in which the server still serves.
    expect(runs).toBe(2)
    await t.clock.advance(5_000)
    expect(t.hasFired('NotAcceptingNewRequest')).toBe(true)
    expect(t.hasFired('RequestsDrained')).toBe(false)
    run.resolve()
    expect(await t.end(ended)).toMatchObject({ exitCode: 0, errors: [], requests: { before: 1, after: 0 } })
    expect(runs).toBe(2)
  })

  test('a failure is reported with its name, and the next run comes', async () => {
    const t = virtual()
    await t.life.start()
    let runs = 0
    t.life.every('tick', '1s', () => {
      runs++
      throw new Error(`run ${runs}`)
    })
    await t.clock.advance(2_000)
    const { errors, exitCode } = await t.end()
    expect(errors.map(({ where, error }) => [where, error.message])).toEqual([
      ['every "tick"', 'run 1'],
      ['every "tick"', 'run 2'],
    ])
    expect(exitCode).toBe(0)
  })

  test('work that ends by the cut’s signal has not failed', async () => {
    const t = virtual({ deadline: '3s' })
    await t.life.start()
    t.life.every(
      'tick',
      '1s',
      ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    )
    await t.clock.advance(1_000)
    const report = await t.end()
    expect(report).toMatchObject({ exitCode: 5, errors: [] })
    expect(report.requests.cut.map(({ name }) => name)).toEqual(['tick'])
  })

  test('disposed of, it ends; what is under way goes on', async () => {
    const t = virtual()
    await t.life.start()
    let runs = 0
    const recurring = t.life.every('tick', '1s', () => runs++)
    await t.clock.advance(1_000)
    recurring[Symbol.dispose]()
    recurring[Symbol.dispose]()
    await t.clock.advance(5_000)
    expect(runs).toBe(1)
    expect((await t.end()).exitCode).toBe(0)
  })

  test('disposed of while a run is under way, it has no next one', async () => {
    const t = virtual()
    await t.life.start()
    const run = deferred<void>()
    let runs = 0
    const recurring = t.life.every('tick', '1s', () => {
      runs++
      return run.promise
    })
    await t.clock.advance(1_000)
    recurring[Symbol.dispose]()
    run.resolve()
    await t.clock.advance(5_000)
    expect(runs).toBe(1)
  })

  test('disposed of before the server serves, it never begins', async () => {
    const t = virtual()
    let runs = 0
    t.life.every('tick', '1s', () => runs++)[Symbol.dispose]()
    await t.life.start()
    await t.clock.advance(5_000)
    expect(runs).toBe(0)
  })

  describe('while the drain waits for other work', () => {
    /** A drain that waits for a hold, at its beginning. */
    async function draining(options?: RecurringOptions) {
      const t = virtual({ deadline: '60s' })
      let runs = 0
      t.life.every('renew', '1s', () => void runs++, options)
      await t.life.start()
      const job = t.life.hold('job')
      const ended = t.life.stop()
      await t.clock.advance(0)
      expect(t.hasFired('NotAcceptingNewRequest')).toBe(true)
      return { t, job, ended, runs: () => runs }
    }

    test('it goes on until that is over', async () => {
      const { t, job, ended, runs } = await draining()
      await t.clock.advance(4_000)
      expect(runs()).toBe(4)
      job[Symbol.dispose]()
      expect(await t.end(ended)).toMatchObject({ exitCode: 0, errors: [], requests: { before: 1, after: 0 } })
      await t.clock.advance(5_000)
      expect(runs()).toBe(4)
    })

    test('it does not, where it is to end before', async () => {
      const { t, job, ended, runs } = await draining({ until: 'draining' })
      await t.clock.advance(4_000)
      expect(runs()).toBe(0)
      job[Symbol.dispose]()
      expect(await t.end(ended)).toMatchObject({ exitCode: 0, errors: [] })
    })

    test('a run that has begun is waited for, and two of them do not wait for each other', async () => {
      const t = virtual({ deadline: '60s' })
      const slow = deferred<void>()
      let runs = 0
      t.life.every('slow', '1s', () => slow.promise)
      t.life.every('quick', '1s', () => void runs++)
      await t.life.start()
      const job = t.life.hold('job')
      const ended = t.life.stop()
      await t.clock.advance(2_000)
      expect(runs).toBe(2)
      job[Symbol.dispose]()
      await t.clock.advance(3_000)
      expect([runs, t.hasFired('RequestsDrained')]).toEqual([2, false])
      slow.resolve()
      expect(await t.end(ended)).toMatchObject({ exitCode: 0 })
    })

    test('a cut ends it', async () => {
      const t = virtual({ deadline: '3s' })
      let runs = 0
      t.life.every('renew', '100ms', () => void runs++)
      await t.life.start()
      t.life.hold('hangs')
      const report = await t.end()
      expect(report).toMatchObject({ exitCode: 5, requests: { cut: [{ name: 'hangs' }] } })
      const before = runs
      expect(before).toBeGreaterThan(10)
      await t.clock.advance(5_000)
      expect(runs).toBe(before)
    })
  })

  test('disposed of, it leaves nothing at the signals of the life', () => {
    const t = virtual()
    const names = ['Serving', 'RequestsDrained']
    const listening = () => names.map((name) => getEventListeners(t.life.signal(name), 'abort').length)
    const before = listening()
    const recurring = t.life.every('tick', '1s', () => {})
    expect(listening()).not.toEqual(before)
    recurring[Symbol.dispose]()
    expect(listening()).toEqual(before)
  })

  test.each([
    ['', '1s', () => {}, 'ERR_NAME_MISSING', 'missing name'],
    [7, '1s', () => {}, 'ERR_NAME_MISSING', 'name of recurring work: got 7, allowed: text'],
    ['tick', 0, () => {}, 'ERR_OPTION_INVALID', 'period of every("tick"): got 0, allowed: more than 0'],
    ['tick', '1 fortnight', () => {}, 'ERR_OPTION_INVALID', 'period of every("tick"): got "1 fortnight"'],
    ['tick', '1s', undefined, 'ERR_FUNCTION_MISSING', 'work of every("tick"): got undefined, allowed: a function'],
  ])('every(%j, %j, …) is refused', async (name, period, work, code, message) => {
    const t = virtual()
    const call = () => t.life.every(name as string, period, work as () => void)
    expect(call).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) as string }))
  })

  test('an end that there is not is refused', () => {
    const until = 'never' as 'draining'
    expect(() => virtual().life.every('tick', '1s', () => {}, { until })).toThrow(
      'until of every("tick"): got "never", allowed: drained, draining',
    )
  })

  test('while draining it is too late', async () => {
    const t = virtual()
    await t.life.start()
    await t.end()
    expect(() => t.life.every('tick', '1s', () => {})).toThrow(expect.objectContaining({ code: 'ERR_TOO_LATE' }))
  })
})
