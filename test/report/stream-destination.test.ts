// Log lines that go to a stream: of a worker thread, or of a program that has its own. Fails when:
// a line is lost that a slow reader could still have, the end waits for a reader that takes
// nothing, or lines that are lost are not counted, or not named where they are missing.
import { Writable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { StreamDestination } from '#src/log/stream-destination.ts'

/** A stream whose reader takes a chunk when it is told to. */
function open(pendingBytesMax = 1_000) {
  const taken: string[] = []
  const waiting: ((error?: Error) => void)[] = []
  const stream = new Writable({
    decodeStrings: false,
    write: (text: string, _, done) => {
      taken.push(text)
      waiting.push(done)
    },
  })
  stream.on('error', () => {})
  const take = async (): Promise<void> => {
    waiting.shift()?.()
    await new Promise((resolve) => process.nextTick(resolve))
  }
  const clock = new VirtualClock()
  const describeLoss = (lines: number): string => `${lines} lost\n`
  return { stream, taken, take, clock, destination: new StreamDestination({ stream, clock, pendingBytesMax, describeLoss }) }
}

describe('a slow reader', () => {
  test('gets all lines, in order, and is waited for', async () => {
    const { taken, take, destination } = open()
    for (const line of ['a\n', 'b\n', 'c\n']) destination.write(line)
    let isFlushed = false
    const flushed = destination.flushBounded(500).then((bytes) => {
      isFlushed = true
      return bytes
    })
    await take()
    await take()
    expect({ isFlushed, pending: destination.pendingBytes }).toEqual({ isFlushed: false, pending: 2 })
    await take()
    expect(await flushed).toBe(0)
    expect(taken).toEqual(['a\n', 'b\n', 'c\n'])
  })

  test('that takes nothing is waited for only so long, and loses nothing', async () => {
    const { taken, take, clock, destination } = open()
    destination.write('a\n')
    destination.write('b\n')
    const flushed = destination.flushBounded(500)
    await clock.advance(499)
    expect(destination.blockedMs).toBe(499)
    await clock.advance(1)
    expect(await flushed).toBe(0)
    expect(destination.flushSync()).toBe(0)
    await take()
    await take()
    expect({ taken, lost: destination.lostLines }).toEqual({ taken: ['a\n', 'b\n'], lost: 0 })
    await destination.flushed()
  })
})

test('lines beyond what may wait are counted, and named where they are missing', async () => {
  const { taken, take, destination } = open(3)
  for (const line of ['a\n', 'b\n', 'c\n', 'd\n']) destination.write(line)
  expect(destination.lostLines).toBe(2)
  for (let at = 0; at < 2; at++) await take()
  destination.write('e\n')
  for (let at = 0; at < 2; at++) await take()
  expect(taken).toEqual(['a\n', 'b\n', '2 lost\n', 'e\n'])
  expect(destination.lostLines).toBe(2)
})

test('lines that the stream does not take are counted', async () => {
  const { stream, destination } = open()
  stream.destroy()
  destination.write('a\n')
  await destination.flushed()
  await new Promise((resolve) => process.nextTick(resolve))
  expect(destination.lostLines).toBe(1)
})
