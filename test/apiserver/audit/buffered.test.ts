// Fails when: a batch leaves too early, too late, too large or never; the queue blocks, or counts
// wrong what it drops; an end loses what was accepted, or waits past its signal.
import { describe, expect, test } from 'vitest'
import { type BatchSettings, BufferedBackend } from '#apiserver/audit/buffered.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { row } from '../../support/row.ts'
import { events, Sink } from './sink.ts'

/** A buffered backend that runs, on a clock of its own. */
async function scene(settings: Partial<BatchSettings> = {}, sink = new Sink()) {
  const clock = new VirtualClock()
  const failures: string[] = []
  const backend = new BufferedBackend(
    sink,
    { bufferSize: 100, maxBatchSize: 10, maxWaitMs: 1_000, isAsync: false, ...settings },
    { clock, failed: (plugin, error, count) => void failures.push(`${plugin}: ${error.message} (${count})`) },
  )
  const stop = new AbortController()
  const cut = new AbortController()
  await backend.run({ signal: stop.signal })
  await clock.advance(0)
  let isShutDown = false
  return {
    clock,
    sink,
    backend,
    failures,
    stop: () => stop.abort(),
    cut: () => cut.abort(),
    shutdown: () => {
      const ended = backend.shutdown({ signal: cut.signal }).then(() => {
        isShutDown = true
      })
      return ended
    },
    get isShutDown() {
      return isShutDown
    },
  }
}

describe('a batch', () => {
  row('AU-01', 'leaves when it is whole, at once, and takes no more', async () => {
    const { sink, backend, clock } = await scene()
    expect(backend.processEvents(events(11))).toBe(true)
    await clock.advance(0)
    expect(sink.sizes).toEqual([10])
    await clock.runToEnd()
    expect(sink.sizes).toEqual([10, 1])
    expect(sink.ids).toEqual(events(11).map(({ auditID }) => auditID))
  })

  row('AU-02', 'leaves after the wait when it is not whole', async () => {
    const { sink, backend, clock } = await scene()
    backend.processEvents(events(2))
    await clock.advance(999)
    expect(sink.sizes).toEqual([])
    await clock.advance(1)
    expect(sink.sizes).toEqual([2])
    expect(clock.pending).toBe(0)
  })

  row('AU-03', 'leaves at the stop, whole or not', async () => {
    const { sink, backend, clock, stop } = await scene()
    backend.processEvents(events(3))
    stop()
    await clock.advance(0)
    expect(sink.sizes).toEqual([3])
  })

  row('AU-04', 'of one event leaves at once, each by itself, and none is empty at the stop', async () => {
    const { sink, backend, clock, stop, shutdown } = await scene({ maxBatchSize: 1 })
    backend.processEvents(events(3))
    await clock.advance(0)
    expect(sink.sizes).toEqual([1, 1, 1])
    stop()
    await shutdown()
    expect(sink.sizes).toEqual([1, 1, 1])
  })

  test('of one event, when they keep coming, leaves in a later turn: no request sends, and the machine is not asked for each', async () => {
    const { sink, backend, clock } = await scene({ maxBatchSize: 1 })
    for (let id = 0; id < 5; id++) {
      backend.processEvents(events(1, id))
      for (let tick = 0; tick < 20; tick++) await Promise.resolve()
    }
    expect(sink.ids).toEqual(['0'])
    await clock.advance(0)
    expect(sink.ids).toEqual(['0', '1', '2', '3', '4'])
    await clock.runToEnd()
    expect(clock.pending).toBe(0)
    backend.processEvents(events(1, 5))
    expect(sink.ids).toHaveLength(6)
  })

  row('AU-08', 'is one call of the delegate, whether or not calls wait for each other', async () => {
    for (const isAsync of [false, true]) {
      const { sink, backend, clock } = await scene({ isAsync })
      backend.processEvents(events(50))
      await clock.advance(0)
      expect(sink.sizes).toEqual([10, 10, 10, 10, 10])
    }
  })

  test('waits for the one before it, unless calls are asynchronous', async () => {
    for (const [isAsync, sizes] of [
      [false, [10]],
      [true, [10, 10]],
    ] as const) {
      const sink = new Sink()
      sink.answer = new Promise(() => {})
      const { backend, clock } = await scene({ isAsync }, sink)
      backend.processEvents(events(20))
      await clock.runToEnd()
      expect(sink.sizes).toEqual(sizes)
    }
  })

  test('is collected from its first event on, also when that came while another was sent', async () => {
    const sink = new Sink()
    let done = (_: boolean): void => {}
    sink.answer = new Promise((resolve) => {
      done = resolve
    })
    const { backend, clock } = await scene({}, sink)
    backend.processEvents(events(10))
    await clock.advance(500)
    backend.processEvents(events(1, 10))
    sink.answer = true
    done(true)
    await clock.advance(999)
    expect(sink.sizes).toEqual([10])
    await clock.advance(1)
    expect(sink.sizes).toEqual([10, 1])
  })

  test('is held back by the throttle, which lets a burst through', async () => {
    const { sink, backend, clock } = await scene({ throttle: { qps: 10, burst: 2 }, maxBatchSize: 1 })
    backend.processEvents(events(4))
    await clock.advance(0)
    expect(sink.sizes).toHaveLength(2)
    await clock.advance(99)
    expect(sink.sizes).toHaveLength(2)
    await clock.advance(1)
    expect(sink.sizes).toHaveLength(3)
    await clock.runToEnd()
    expect([sink.sizes.length, clock.now()]).toEqual([4, 200])
  })

  test('that the delegate throws for is told, and the next one goes its way', async () => {
    const sink = new Sink()
    let calls = 0
    sink.answer = () => {
      calls++
      if (calls === 1) throw new Error('no disk')
      return true
    }
    const { backend, clock, failures } = await scene({ maxBatchSize: 1 }, sink)
    backend.processEvents(events(2))
    await clock.advance(0)
    expect([sink.calls.length, failures]).toEqual([2, ['buffered: no disk (1)']])
  })
})

describe('a queue', () => {
  row('AU-06', 'that is full drops what does not fit, counts it, and does not block', async () => {
    const { backend, failures, clock, sink } = await scene({ bufferSize: 1, maxBatchSize: 10 })
    expect(backend.processEvents(events(2))).toBe(true)
    expect(failures).toEqual(['buffered: audit buffer queue blocked (1)'])
    expect(backend.counts()).toEqual({ delivered: 0, lost: 1, pending: 1 })
    await clock.runToEnd()
    expect(backend.counts()).toEqual({ delivered: 1, lost: 1, pending: 0 })
    expect(sink.ids).toEqual(['0'])
  })

  row('AU-05', 'that is closed drops what comes, and says so', async () => {
    const { backend, stop, shutdown, failures } = await scene()
    stop()
    await shutdown()
    expect(backend.processEvents(events(1))).toBe(false)
    expect(failures).toEqual(['buffered: audit backend shut down (1)'])
    expect(backend.counts()).toEqual({ delivered: 0, lost: 1, pending: 0 })
  })

  row('AU-14', 'that is closed answers false: its request is refused', async () => {
    const { backend, stop } = await scene()
    stop()
    expect(backend.processEvents(events(1))).toBe(false)
  })

  test('keeps the order over many batches', async () => {
    const { backend, clock, sink } = await scene({ bufferSize: 10_000, maxBatchSize: 7 })
    for (let at = 0; at < 1_000; at += 10) {
      backend.processEvents(events(10, at))
      if (at % 50 === 0) await clock.advance(1)
    }
    await clock.runToEnd()
    expect(sink.ids).toEqual(events(1_000).map(({ auditID }) => auditID))
  })
})

describe('the end', () => {
  row(['AU-07', 'AU-11'], 'waits until what is under way has been delivered, and shuts the delegate down after it', async () => {
    for (const isAsync of [false, true]) {
      const sink = new Sink()
      let done = (_: boolean): void => {}
      sink.answer = new Promise((resolve) => {
        done = resolve
      })
      const s = await scene({ isAsync }, sink)
      s.backend.processEvents(events(12))
      await s.clock.advance(0)
      s.stop()
      const ended = s.shutdown()
      await s.clock.advance(60_000)
      expect([s.isShutDown, sink.log]).toEqual([false, ['run']])
      done(true)
      await ended
      expect([sink.sizes, sink.log]).toEqual([
        [10, 2],
        ['run', 'shutdown'],
      ])
      expect(s.backend.counts()).toEqual({ delivered: 12, lost: 0, pending: 0 })
    }
  })

  test('sends what the throttle has held back as soon as it lets it', async () => {
    const { backend, clock, sink, stop, shutdown } = await scene({ throttle: { qps: 10, burst: 1 }, maxBatchSize: 1 })
    backend.processEvents(events(3))
    stop()
    const ended = shutdown()
    await clock.runToEnd()
    await ended
    expect([sink.ids, clock.now()]).toEqual([['0', '1', '2'], 200])
  })

  test('of single events that keep coming sends what has not left', async () => {
    const { sink, backend, clock, stop, shutdown } = await scene({ maxBatchSize: 1 })
    for (let id = 0; id < 3; id++) {
      backend.processEvents(events(1, id))
      for (let tick = 0; tick < 20; tick++) await Promise.resolve()
    }
    expect(sink.ids).toEqual(['0'])
    stop()
    const ended = shutdown()
    await clock.runToEnd()
    await ended
    expect([sink.ids, sink.log]).toEqual([
      ['0', '1', '2'],
      ['run', 'shutdown'],
    ])
  })

  test('that is cut waits no longer, and counts what is left', async () => {
    const sink = new Sink()
    sink.answer = new Promise(() => {})
    const s = await scene({}, sink)
    s.backend.processEvents(events(15))
    await s.clock.advance(0)
    s.stop()
    const ended = s.shutdown()
    s.cut()
    await ended
    expect(sink.log).toEqual(['run', 'shutdown'])
    expect(s.backend.counts()).toEqual({ delivered: 0, lost: 0, pending: 15 })
  })

  test('of one that was never used is at once', async () => {
    const { sink, shutdown, stop } = await scene()
    stop()
    await shutdown()
    expect([sink.calls, sink.log]).toEqual([[], ['run', 'shutdown']])
  })
})

test('what is under way is bounded like what waits: further events are dropped, and counted', async () => {
  const sink = new Sink()
  const answers: ((isStored: boolean) => void)[] = []
  sink.answer = () => new Promise((resolve) => answers.push(resolve))
  const { backend, clock, failures } = await scene({ isAsync: true, bufferSize: 20 }, sink)
  for (let at = 0; at < 100; at += 10) {
    backend.processEvents(events(10, at))
    await clock.advance(0)
  }
  expect([sink.sizes, backend.counts()]).toEqual([[10, 10], { delivered: 0, lost: 60, pending: 40 }])
  expect(failures).toHaveLength(6)
  for (const answer of answers.splice(0)) answer(true)
  await clock.advance(0)
  expect([sink.sizes, backend.counts()]).toEqual([[10, 10, 10, 10], { delivered: 20, lost: 60, pending: 20 }])
})
