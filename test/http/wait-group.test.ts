// Fails when: somebody is let in after wait() and not waited for, a wait ends early or never, a
// member passes the limiter twice or not at all, the visible count falls after the token instead of
// before it, or leaving costs more than O(1).
import { describe, expect, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { RateLimiter, type Stop, stopAfter } from '#src/http/traffic/rate-limiter.ts'
import { type Member, type Pace, RateLimitedWaitGroup, WaitGroup, watchDrainPace } from '#src/http/traffic/wait-group.ts'
import { row } from '../support/row.ts'

const FORBIDDEN = 'add with positive delta after Wait is forbidden'
const FOR_EVER = Number.POSITIVE_INFINITY

/** Lets every promise that can settle now do so. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Whether a promise has settled by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let is = false
  const note = () => {
    is = true
  }
  promise.then(note, note)
  await settled()
  return is
}

describe('WaitGroup', () => {
  row('WG-01', 'two groups make a barrier: nobody passes before the last is done', async () => {
    const first = new WaitGroup()
    const second = new WaitGroup()
    first.add(16)
    second.add(16)
    let passed = 0
    const tasks = Array.from({ length: 16 }, async () => {
      first.done()
      await second.wait()
      passed++
    })
    await first.wait()
    for (let done = 0; done < 16; done++) {
      await settled()
      expect(passed, `after ${done} of 16`).toBe(0)
      second.done()
    }
    await Promise.all(tasks)
    expect(passed).toBe(16)
  })

  row('WG-02', 'add is refused after wait has returned', async () => {
    const group = new WaitGroup()
    group.add(1)
    group.done()
    await group.wait()
    expect(() => group.add(1)).toThrow(expect.objectContaining({ code: 'ERR_WAIT_GROUP' }))
  })

  row('WG-03', 'add is refused from the call of wait on, and the pending wait still ends', async () => {
    const group = new WaitGroup()
    group.add()
    const waited = group.wait()
    expect(() => group.add()).toThrow(expect.objectContaining({ code: 'ERR_WAIT_GROUP', message: FORBIDDEN }))
    expect(group.tryAdd()).toBe(false)
    expect(group.count).toBe(1)
    expect(await isSettled(waited)).toBe(false)
    group.done()
    await waited
  })

  row('WG-04', 'a negative delta is allowed while waiting and ends the wait', async () => {
    const group = new WaitGroup()
    group.add(1)
    const waited = group.wait()
    group.add(-1)
    await waited
  })

  row('WG-05', 'a delta of zero is allowed while waiting and changes nothing', async () => {
    const group = new WaitGroup()
    group.add(1)
    const waited = group.wait()
    group.add(0)
    expect(await isSettled(waited)).toBe(false)
    group.done()
    await waited
  })

  row('WG-06', 'waiting for an empty group returns at once and still closes it', async () => {
    const group = new WaitGroup()
    expect(group.waiting).toBe(false)
    await group.wait()
    expect(group.waiting).toBe(true)
    expect(() => group.add(1)).toThrow(FORBIDDEN)
    await group.wait()
  })

  row('WG-07', 'every add is counted and waited for, or refused', async () => {
    const group = new WaitGroup()
    group.add()
    let inside = 0
    let refused = 0
    const hops = async (count: number) => {
      for (let hop = 0; hop < count; hop++) await Promise.resolve()
    }
    const tasks = Array.from({ length: 200 }, async (_, index) => {
      await hops(index % 20)
      if (!group.tryAdd()) {
        refused++
        return
      }
      inside++
      await hops(30)
      inside--
      group.done()
    })
    await hops(10)
    const waited = group.wait()
    group.done()
    await waited
    expect(inside, 'nobody was inside when the wait ended').toBe(0)
    await Promise.all(tasks)
    expect(refused).toBeGreaterThan(0)
    expect(refused).toBeLessThan(200)
  })

  row('WG-08', 'done below zero fails and leaves the count as it was', () => {
    const group = new WaitGroup()
    expect(() => group.done()).toThrow(expect.objectContaining({ code: 'ERR_WAIT_GROUP' }))
    group.add(1)
    expect(() => group.add(-2)).toThrow(expect.objectContaining({ code: 'ERR_WAIT_GROUP' }))
    expect(() => group.add(Number.NaN)).toThrow(expect.objectContaining({ code: 'ERR_WAIT_GROUP' }))
    expect(group.count).toBe(1)
  })
})

/** A pace whose tokens are given by hand, and that counts. */
function paceByHand(clock: VirtualClock, ms = FOR_EVER) {
  const asked: (() => void)[] = []
  const seen = { factoryGot: [] as number[], cancelled: 0 }
  const factory = (visibleCount: number): Pace => {
    seen.factoryGot.push(visibleCount)
    const { stop, cancel } = stopAfter(clock, ms)
    return {
      limiter: { wait: () => new Promise((resolve) => asked.push(() => resolve(true))) },
      stop,
      cancel: () => {
        seen.cancelled++
        cancel()
      },
    }
  }
  return { asked, seen, factory }
}

const atRate =
  (clock: VirtualClock, ratePerSecond: number, ms = FOR_EVER) =>
  (): Pace => ({ limiter: new RateLimiter(clock, ratePerSecond), ...stopAfter(clock, ms) })

const join = (group: RateLimitedWaitGroup, goodbye?: () => void): Member => group.tryAdd(goodbye) as Member
const joined = (group: RateLimitedWaitGroup, count: number): Member[] => Array.from({ length: count }, () => join(group))

describe('RateLimitedWaitGroup', () => {
  row('RL-01', 'while not waiting, joining and leaving is free', () => {
    const group = new RateLimitedWaitGroup()
    for (const member of joined(group, 100)) member.done()
    expect(group.count).toBe(0)
  })

  row(
    ['RL-02', 'RL-03', 'RL-04', 'RL-05', 'RL-06'],
    'waiting closes the group, tells the factory the count, and takes one token for each',
    async () => {
      const clock = new VirtualClock()
      const group = new RateLimitedWaitGroup()
      const members = joined(group, 101)
      expect(group.count).toBe(101)

      const { asked, seen, factory } = paceByHand(clock)
      const waited = group.wait(factory)
      expect(seen.factoryGot).toEqual([101])
      expect(group.tryAdd()).toBeUndefined()

      for (const member of members) member.done()
      expect(asked).toHaveLength(101)
      expect(group.count, 'the visible count falls before the token').toBe(0)
      for (const grant of asked.slice(0, 100)) grant()
      expect(await isSettled(waited), 'the counter falls with the token').toBe(false)
      asked[100]?.()

      expect(await waited).toEqual({ before: 101, after: 0 })
      expect(group.count).toBe(0)
      expect(seen.cancelled).toBe(1)
    },
  )

  row('RL-07', 'a stop that is over already ends the wait with its reason', async () => {
    const group = new RateLimitedWaitGroup()
    joined(group, 10)
    const { stop, cancel } = stopAfter(new VirtualClock(), FOR_EVER)
    cancel()
    const result = await group.wait(() => ({ limiter: { wait: () => Promise.resolve(false) }, stop, cancel }))
    expect(result).toMatchObject({ before: 10, after: 10, error: { code: 'ERR_ABORTED' } })
  })

  row('RL-08', '200 members at 40 per second with burst 1 take 5 s', async () => {
    const clock = new VirtualClock()
    const group = new RateLimitedWaitGroup()
    const members = joined(group, 200)
    const waited = group.wait(atRate(clock, 40))
    for (const member of members) member.done()
    await clock.runToEnd()
    expect(await waited).toEqual({ before: 200, after: 0 })
    expect(clock.now()).toBe(199 * 25)
  })

  row('RL-09', 'without a factory the wait is an error and the group stays open', async () => {
    const group = new RateLimitedWaitGroup()
    const result = await group.wait()
    expect(result).toMatchObject({ before: 0, after: 0, error: { message: 'rate limiter factory must be specified' } })
    join(group)
    expect(group.count).toBe(1)
  })

  row('RL-10', 'an empty group has been waited for at once', async () => {
    const clock = new VirtualClock()
    const { seen, factory } = paceByHand(clock, 1000)
    expect(await new RateLimitedWaitGroup().wait(factory)).toEqual({ before: 0, after: 0 })
    expect(seen).toEqual({ factoryGot: [0], cancelled: 1 })
    expect(clock.pending).toBe(0)
  })

  row('RL-11', 'a drain that fits fills its grace; tokens beyond the deadline are not waited for', async () => {
    const clock = new VirtualClock()
    const fits = new RateLimitedWaitGroup()
    const members = joined(fits, 300)
    const waited = fits.wait(atRate(clock, 300, 1000))
    for (const member of members) member.done()
    await clock.runToEnd()
    expect(await waited).toEqual({ before: 300, after: 0 })
    expect(clock.now()).toBeGreaterThan(990)
    expect(clock.now()).toBeLessThanOrEqual(1000)

    const began = clock.now()
    const tooMany = new RateLimitedWaitGroup()
    const answered: number[] = []
    const limiter = new RateLimiter(clock, 300)
    const pace = (): Pace => ({
      limiter: {
        wait: async (stop: Stop) => {
          const granted = await limiter.wait(stop)
          if (!granted) answered.push(clock.now() - began)
          return granted
        },
      },
      ...stopAfter(clock, 1000),
    })
    const crowd = joined(tooMany, 400)
    const drained = tooMany.wait(pace)
    for (const member of crowd) member.done()
    await clock.runToEnd()
    expect(await drained).toEqual({ before: 400, after: 0 })
    expect(answered.filter((at) => at === 0).length, 'refused at once').toBeGreaterThanOrEqual(99)
    expect(clock.now() - began).toBeLessThanOrEqual(1000)
  })

  row('RL-12', 'a holder that never leaves costs the grace', async () => {
    const clock = new VirtualClock()
    const group = new RateLimitedWaitGroup()
    group.tryAdd()
    const waited = group.wait(watchDrainPace(clock, 2000))
    await clock.advance(1999)
    expect(await isSettled(waited)).toBe(false)
    await clock.advance(1)
    expect(await waited).toMatchObject({ before: 1, after: 1, error: { code: 'ERR_TIMEOUT', message: 'deadline exceeded' } })
  })

  row('RL-13', 'leaving after the grace is not delayed', async () => {
    const clock = new VirtualClock()
    const group = new RateLimitedWaitGroup()
    const members = joined(group, 3)
    const waited = group.wait(atRate(clock, 0.001, 100))
    members[0]?.done()
    members[1]?.done()
    await clock.advance(100)
    await waited
    members[2]?.done()
    await settled()
    expect(await group.wait(atRate(clock, 0.001))).toEqual({ before: 0, after: 0 })
    expect(clock.now()).toBe(100)
  })

  describe('members with a goodbye', () => {
    /** A group, a log of goodbyes as `name@time`, and members that join it under a name. */
    function scene() {
      const clock = new VirtualClock()
      const group = new RateLimitedWaitGroup()
      const notified: string[] = []
      const join = (name: string): Member => group.tryAdd(() => void notified.push(`${name}@${clock.now()}`)) as Member
      return { clock, group, notified, join }
    }

    test('are told with their token, in the order of joining, and leave at once', async () => {
      const { clock, group, notified, join } = scene()
      const members = ['a', 'b', 'c'].map(join)
      const waited = group.wait(atRate(clock, 100))
      await clock.runToEnd()
      expect(notified).toEqual(['a@0', 'b@10', 'c@20'])
      expect(group.count).toBe(3)
      for (const member of members) member.done()
      expect(await waited).toEqual({ before: 3, after: 0 })
      expect(clock.now()).toBe(20)
    })

    test('that join late queue behind the others, are waited for, and are refused when the wait is over', async () => {
      const { clock, group, notified, join } = scene()
      const late = (name: string): Member | undefined => group.tryAddLate(() => void notified.push(`${name}@${clock.now()}`))
      expect(late('too early'), 'nothing is waited for yet').toBeUndefined()
      const members = ['a', 'b', 'c'].map(join)
      const waited = group.wait(atRate(clock, 100))
      await clock.advance(5)
      members.push(late('d') as Member, late('e') as Member)
      await clock.runToEnd()
      expect(notified).toEqual(['a@0', 'b@10', 'c@20', 'd@30', 'e@40'])
      expect(group.count).toBe(5)
      for (const member of members) member.done()
      expect(await waited).toEqual({ before: 3, after: 0 })
      expect(late('too late')).toBeUndefined()
      expect(group.count).toBe(0)
    })

    test('whose turn would come after the deadline are told at once', async () => {
      const { clock, group, notified, join } = scene()
      for (const name of ['a', 'b', 'c', 'd']) join(name)
      const waited = group.wait(atRate(clock, 100, 15))
      await clock.advance(0)
      expect([...notified].sort()).toEqual(['a@0', 'c@0', 'd@0'])
      await clock.runToEnd()
      expect(notified.at(-1)).toBe('b@10')
      expect(await waited).toMatchObject({ before: 4, after: 4 })
    })

    test('that leave before their turn are not told, and hold the counter until their own token', async () => {
      const { clock, group, notified, join } = scene()
      const [a, b] = ['a', 'b'].map(join)
      const asked: number[] = []
      const limiter = new RateLimiter(clock, 100)
      const waited = group.wait(() => ({
        limiter: {
          wait: (stop) => {
            asked.push(clock.now())
            return limiter.wait(stop)
          },
        },
        ...stopAfter(clock, FOR_EVER),
      }))
      await clock.advance(5)
      a?.done()
      b?.done()
      expect(group.count).toBe(0)
      expect(await isSettled(waited)).toBe(false)
      await clock.runToEnd()
      expect(await waited).toEqual({ before: 2, after: 0 })
      expect(notified).toEqual(['a@0'])
      expect(clock.now()).toBe(10)
      expect(asked, 'each passed the limiter once').toEqual([0, 0])
    })

    test('that left before the drain are neither told nor given a token', async () => {
      const { clock, group, notified, join } = scene()
      join('gone').done()
      const here = join('here')
      const waited = group.wait(atRate(clock, 100))
      await clock.runToEnd()
      expect(notified).toEqual(['here@0'])
      expect(await isSettled(waited)).toBe(false)
      here.done()
      expect(await waited).toEqual({ before: 1, after: 0 })
    })

    test('and members without share one queue', async () => {
      const { clock, group, notified, join } = scene()
      const silent = group.tryAdd() as Member
      const [a, b] = ['a', 'b'].map(join)
      const waited = group.wait(atRate(clock, 100))
      await clock.advance(1)
      silent.done()
      await clock.advance(9)
      expect(notified).toEqual(['a@0', 'b@10'])
      a?.done()
      b?.done()
      expect(group.count).toBe(0)
      expect(await isSettled(waited), 'the silent one asked third').toBe(false)
      await clock.advance(10)
      expect(await waited).toEqual({ before: 3, after: 0 })
    })

    test('a goodbye that throws counts as one, and the others are told', async () => {
      const { clock, group, notified, join } = scene()
      group.tryAdd(() => {
        throw new Error('goodbye failed')
      })
      join('b')
      void group.wait(atRate(clock, 100))
      await clock.runToEnd()
      expect(notified).toEqual(['b@10'])
      expect(group.count).toBe(2)
    })

    test('may leave from within their goodbye', async () => {
      const clock = new VirtualClock()
      const group = new RateLimitedWaitGroup()
      const members: Member[] = []
      for (let index = 0; index < 3; index++) members.push(join(group, () => members[index]?.done()))
      const waited = group.wait(atRate(clock, 100))
      await clock.runToEnd()
      expect(await waited).toEqual({ before: 3, after: 0 })
    })

    test('of more than a thousand, a thousand or a tenth queue at a time: the next one when one has passed', async () => {
      const grants: ((granted: boolean) => void)[] = []
      const limiter = { wait: () => new Promise<boolean>((resolve) => grants.push(resolve)) }
      for (const [members, queued] of [
        [1000, 1000],
        [3000, 1000],
        [20_000, 2000],
      ] as const) {
        grants.length = 0
        const group = new RateLimitedWaitGroup()
        const notified: number[] = []
        for (let index = 0; index < members; index++) {
          const member = join(group, () => {
            notified.push(index)
            member.done()
          })
        }
        const waited = group.wait(() => ({ limiter, ...stopAfter(new VirtualClock(), FOR_EVER) }))
        expect(grants).toHaveLength(queued)
        for (let granted = 0; granted < members; granted += 500) {
          for (const grant of grants.slice(granted, granted + 500)) grant(true)
          await settled()
          expect(grants).toHaveLength(Math.min(members, granted + 500 + queued))
        }
        expect(await waited).toEqual({ before: members, after: 0 })
        expect(notified).toEqual(Array.from({ length: members }, (_, index) => index))
      }
    })

    test('one that leaves before it queues takes its place when it leaves, and is not told', async () => {
      const asked: (() => void)[] = []
      const limiter = { wait: () => new Promise<boolean>((resolve) => asked.push(() => resolve(true))) }
      const group = new RateLimitedWaitGroup()
      let notified = 0
      const members = Array.from({ length: 1002 }, () => join(group, () => notified++))
      const waited = group.wait(() => ({ limiter, ...stopAfter(new VirtualClock(), FOR_EVER) }))
      members[1001]?.done()
      expect(asked).toHaveLength(1001)
      for (let granted = 0; granted < 1002; granted++) {
        asked[granted]?.()
        await settled()
      }
      expect(asked).toHaveLength(1002)
      expect(notified).toBe(1001)
      for (const member of members) member.done()
      expect(await waited).toEqual({ before: 1002, after: 0 })
    })

    test('60 000 of them are told within half of the grace, at 2 000 per second, on one timer beside the deadline', async () => {
      const clock = new VirtualClock()
      const group = new RateLimitedWaitGroup()
      const toldAt: number[] = []
      for (let index = 0; index < 60_000; index++) {
        const member = join(group, () => {
          toldAt.push(clock.now())
          member.done()
        })
      }
      const waited = group.wait(watchDrainPace(clock, 60_000))
      await clock.advance(0)
      expect(clock.pending).toBe(2)
      await clock.runToEnd()
      expect(await waited).toEqual({ before: 60_000, after: 0 })
      expect(toldAt).toEqual(Array.from({ length: 60_000 }, (_, index) => index / 2))
      expect(clock.pending).toBe(0)
    })
  })

  test('done is counted once per member', () => {
    const group = new RateLimitedWaitGroup()
    const [first] = joined(group, 2)
    first?.done()
    first?.done()
    expect(group.count).toBe(1)
  })

  test('a limiter that throws or rejects ends the queueing and nothing else', async () => {
    for (const wait of [() => Promise.reject(new Error('limiter failed')), () => raise(new Error('limiter failed'))]) {
      const clock = new VirtualClock()
      const group = new RateLimitedWaitGroup()
      const [member] = joined(group, 1)
      const waited = group.wait(() => ({ limiter: { wait }, ...stopAfter(clock, FOR_EVER) }))
      member?.done()
      expect(await waited).toEqual({ before: 1, after: 0 })
    }
  })

  test('a factory that throws leaves the group open', async () => {
    const group = new RateLimitedWaitGroup()
    await expect(group.wait(() => raise(new Error('no pace')))).rejects.toThrow('no pace')
    expect(group.tryAdd()).toBeDefined()
  })
})

function raise(error: Error): never {
  throw error
}
