// A work queue. Fails when: a key is worked on twice at a time, a change that comes while its key
// is worked on is missed, a failure is tried again at once or never, or an end leaves work or
// timers.
import { describe, expect, test } from 'vitest'
import { createWorkQueue } from '#apiserver/informer/work-queue.ts'
import { deferred } from '#src/base/deferred.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'

function queueOf(options: Parameters<typeof createWorkQueue>[0] = {}) {
  const clock = new VirtualClock()
  return { clock, queue: createWorkQueue({ clock, ...options }) }
}

describe('a work queue', () => {
  test('gives each key once, in the order in which they came', async () => {
    const { queue } = queueOf()
    for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key)
    expect(queue.length).toBe(3)
    expect([await queue.get(), await queue.get(), await queue.get(), queue.length]).toEqual(['a', 'b', 'c', 0])
  })

  test('gives a key that was added while it was worked on once more, when that is over', async () => {
    const { queue } = queueOf()
    queue.add('a')
    await queue.get()
    queue.add('a')
    queue.add('a')
    expect(queue.length).toBe(0)
    const next = queue.get()
    queue.done('a')
    expect(await next).toBe('a')
    queue.done('a')
    expect(queue.length).toBe(0)
  })

  test('gives a key that comes later at the earliest of its times', async () => {
    const { clock, queue } = queueOf()
    queue.addAfter('a', 1_000)
    queue.addAfter('a', '500ms')
    queue.addAfter('a', 2_000)
    await clock.advance(499)
    expect(queue.length).toBe(0)
    await clock.advance(1)
    expect([queue.length, clock.pending]).toEqual([1, 0])
  })

  test('has a key that fails wait twice as long each time, until it is forgotten', async () => {
    const { clock, queue } = queueOf({ maxDelay: 40 })
    const times: number[] = []
    for (let failures = 0; failures < 5; failures++) {
      const from = clock.now()
      queue.addRateLimited('a')
      await clock.runToNext()
      times.push(clock.now() - from)
      queue.done((await queue.get()) as string)
    }
    expect([times, queue.requeues('a')]).toEqual([[5, 10, 20, 40, 40], 5])
    queue.forget('a')
    expect(queue.requeues('a')).toBe(0)
  })

  test('lets so many retries through at once, and then so many a second', async () => {
    const { clock, queue } = queueOf({ initialDelay: 0, retriesPerSecond: 10, retryBurst: 3 })
    for (let at = 0; at < 6; at++) queue.addRateLimited(`key-${at}`)
    expect(queue.length).toBe(3)
    await clock.advance(100)
    expect(queue.length).toBe(4)
    await clock.advance(200)
    expect(queue.length).toBe(6)
    await clock.advance(10_000)
    for (let at = 6; at < 10; at++) queue.addRateLimited(`key-${at}`)
    expect(queue.length).toBe(9)
  })

  test('that is shut down takes nothing more, and is drained when its work is done', async () => {
    const { clock, queue } = queueOf()
    queue.add('a')
    queue.add('b')
    queue.addAfter('later', 1_000)
    await queue.get()
    queue.add('a')
    let isDrained = false
    const drained = queue.shutDown().then(() => (isDrained = true))
    queue.add('c')
    queue.done('a')
    expect([await queue.get(), await queue.get()]).toEqual(['b', 'a'])
    await clock.advance(0)
    expect([isDrained, clock.pending]).toEqual([false, 0])
    queue.done('b')
    queue.done('a')
    await drained
    expect(await queue.get()).toBeUndefined()
  })

  test('wakes all who wait when it is shut down', async () => {
    const { queue } = queueOf()
    const waiting = [queue.get(), queue.get()]
    await queue.shutDown()
    expect(await Promise.all(waiting)).toEqual([undefined, undefined])
  })

  test.each([
    [{ retriesPerSecond: 0 }, 'retriesPerSecond of createWorkQueue(): got 0'],
    [{ retryBurst: 0.5 }, 'retryBurst of createWorkQueue(): got 0.5'],
    [{ initialDelay: 'soon' }, 'initialDelay of createWorkQueue(): got "soon"'],
  ])('refuses %o', (options, message) => {
    expect(() => createWorkQueue(options)).toThrow(message)
  })
})

describe('its workers', () => {
  test('work on several keys at a time, and on none twice', async () => {
    const { queue } = queueOf()
    const stop = new AbortController()
    const working = new Map<string, () => void>()
    const counts = new Map<string, number>()
    const run = queue.run({
      workers: 2,
      signal: stop.signal,
      reconcile: (key) => {
        expect(working.has(key)).toBe(false)
        counts.set(key, (counts.get(key) ?? 0) + 1)
        const over = deferred<void>()
        working.set(key, () => {
          working.delete(key)
          over.resolve()
        })
        return over.promise
      },
    })
    for (const key of ['a', 'b', 'c']) queue.add(key)
    await expect.poll(() => [...working.keys()]).toEqual(['a', 'b'])
    queue.add('a')
    working.get('a')?.()
    await expect.poll(() => [...working.keys()].sort()).toEqual(['b', 'c'])
    working.get('b')?.()
    await expect.poll(() => [...working.keys()].sort()).toEqual(['a', 'c'])
    expect(Object.fromEntries(counts)).toEqual({ a: 2, b: 1, c: 1 })
    stop.abort()
    let isOver = false
    void run.then(() => (isOver = true))
    working.get('a')?.()
    await new Promise((resolve) => setImmediate(resolve))
    expect(isOver).toBe(false)
    working.get('c')?.()
    await run
  })

  test('try a key again that failed, and look at one again when they were asked to', async () => {
    const { clock, queue } = queueOf()
    const stop = new AbortController()
    const failures: string[] = []
    const times: number[] = []
    const run = queue.run({
      signal: stop.signal,
      failed: (key, error) => void failures.push(`${key}: ${(error as Error).message}`),
      reconcile: () => {
        times.push(clock.now())
        if (times.length < 3) throw new Error('not yet')
        return { requeueAfter: '1m' }
      },
    })
    queue.add('a')
    await clock.advance(60_100)
    expect([times, failures, queue.requeues('a')]).toEqual([[0, 5, 15, 60_015], ['a: not yet', 'a: not yet'], 0])
    stop.abort()
    await run
    expect(clock.pending).toBe(0)
  })

  test('drop what waits at the end', async () => {
    const { queue } = queueOf()
    const stop = new AbortController()
    const done: string[] = []
    const run = queue.run({
      signal: stop.signal,
      reconcile: (key) => {
        done.push(key)
        stop.abort()
      },
    })
    for (const key of ['a', 'b']) queue.add(key)
    await run
    expect(done).toEqual(['a'])
  })
})
