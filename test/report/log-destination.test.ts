import { describe, expect, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { LogDestination, type LogDestinationOptions } from '#src/log/log-destination.ts'

/**
 * A pipe with room for so many bytes, a reader that takes them when told, and none when it is gone.
 */
class FakePipe {
  received = ''
  room = 0
  /** What every write fails with. */
  broken: 'EPIPE' | 'ENOSPC' | undefined

  readonly write = (_fd: number, bytes: Uint8Array, offset: number, length: number): number => {
    if (this.broken) throw Object.assign(new Error(this.broken), { code: this.broken })
    if (this.room === 0) throw Object.assign(new Error('EAGAIN'), { code: 'EAGAIN' })
    const taken = bytes.subarray(offset, offset + Math.min(length, this.room))
    this.received += Buffer.from(taken).toString()
    this.room -= taken.length
    return taken.length
  }
}

const describeLoss = (lines: number): string => `${lines} lost\n`

function open(options: Partial<LogDestinationOptions> = {}) {
  const pipe = new FakePipe()
  const clock = new VirtualClock()
  return { pipe, clock, destination: new LogDestination({ fd: 1, clock, write: pipe.write, ...options }) }
}

describe('a log destination', () => {
  test('writes at once when the reader keeps up, and needs no timer', async () => {
    const { pipe, clock, destination } = open()
    pipe.room = 100
    destination.write('one\n')
    expect(pipe.received).toBe('one\n')
    expect(clock.pending).toBe(0)
    await destination.flushed()
  })

  test('keeps order and loses nothing when the reader is slow', async () => {
    const { pipe, clock, destination } = open()
    pipe.room = 2
    destination.write('one\n')
    destination.write('two\n')
    expect(pipe.received).toBe('on')
    expect(destination.pendingBytes).toBe(6)
    let flushed = false
    const whenFlushed = destination.flushed().then(() => {
      flushed = true
    })
    pipe.room = 3
    await clock.advance(5)
    expect(pipe.received).toBe('one\nt')
    expect(flushed).toBe(false)
    pipe.room = 3
    await clock.advance(5)
    await whenFlushed
    expect(pipe.received).toBe('one\ntwo\n')
  })

  test('flushes letters of several bytes whole', async () => {
    const pieces: Buffer[] = []
    const clock = new VirtualClock()
    const destination = new LogDestination({
      fd: 1,
      clock,
      write: (_fd, bytes, offset) => {
        pieces.push(Buffer.from(bytes.subarray(offset, offset + 1)))
        return 1
      },
    })
    destination.write('größe\n')
    expect(Buffer.concat(pieces).toString()).toBe('größe\n')
  })

  test('gives up after its bound, without leaving a timer that holds the process', async () => {
    const { clock, destination } = open()
    destination.write('nobody reads this\n')
    const flush = destination.flushBounded(400)
    await clock.advance(400)
    expect(await flush).toBe(18)
    expect(clock.pending).toBe(0)
    await destination.flushed()
    destination.write('nor this\n')
    expect(clock.pending).toBe(0)
  })

  test('ends a bounded flush early when all is written', async () => {
    const { pipe, clock, destination } = open()
    destination.write('late\n')
    const flush = destination.flushBounded(400)
    pipe.room = 100
    await clock.advance(5)
    expect(await flush).toBe(0)
    expect(clock.pending).toBe(0)
  })

  test('waits on while a slow reader still takes something', async () => {
    const { pipe, clock, destination } = open()
    destination.write('123')
    const flush = destination.flushBounded(400)
    for (let i = 0; i < 3; i++) {
      await clock.advance(300)
      pipe.room = 1
    }
    await clock.advance(300)
    expect(await flush).toBe(0)
    expect(pipe.received).toBe('123')
  })

  test('does not continue in the middle of a line that it gave up', async () => {
    const { pipe, clock, destination } = open({ describeLoss })
    pipe.room = 4
    destination.write('one two three\n')
    const flush = destination.flushBounded(10)
    await clock.advance(10)
    expect(await flush).toBe(10)
    destination.write('four\n')
    pipe.room = 100
    destination.write('five\n')
    expect(pipe.received).toBe('one \n2 lost\nfive\n')
    expect(destination.lostLines).toBe(2)
  })

  test('flushes synchronously, for its bound at most', () => {
    const pipe = new FakePipe()
    const destination = new LogDestination({ fd: 1, write: pipe.write, describeLoss })
    destination.write('gone\n')
    const begun = performance.now()
    expect(destination.flushSync(50)).toBe(5)
    expect(performance.now() - begun).toBeGreaterThanOrEqual(50)
    pipe.room = 100
    destination.write('kept\n')
    expect(destination.flushSync(50)).toBe(0)
    expect(pipe.received).toBe('1 lost\nkept\n')
  })

  test('bounds its memory, and says how many lines are missing', async () => {
    const { pipe, clock, destination } = open({ pendingBytesMax: 10, describeLoss })
    for (const line of ['1234567890\n', 'a\n', 'b\n']) destination.write(line)
    expect(destination.pendingBytes).toBe(11)
    pipe.room = 1_000
    await clock.advance(5)
    destination.write('c\n')
    expect(pipe.received).toBe('1234567890\n2 lost\nc\n')
  })

  test('does not mind that its reader is gone', async () => {
    const { pipe, clock, destination } = open()
    destination.write('waiting\n')
    pipe.broken = 'EPIPE'
    await clock.advance(5)
    await destination.flushed()
    destination.write('more\n')
    expect(destination.pendingBytes).toBe(0)
    expect(clock.pending).toBe(0)
    expect(destination.lostLines).toBe(2)
  })

  test('writes on when a full disk has room again, and says where lines are missing and how many', () => {
    const { pipe, destination } = open({ describeLoss })
    pipe.room = 100
    destination.write('one\n')
    pipe.broken = 'ENOSPC'
    for (const line of ['two\n', 'three\n', 'four\n']) destination.write(line)
    expect(destination.pendingBytes).toBe(0)
    pipe.broken = undefined
    destination.write('five\n')
    destination.write('six\n')
    expect(pipe.received).toBe('one\n3 lost\nfive\nsix\n')
    expect(destination.lostLines).toBe(3)
  })
})
