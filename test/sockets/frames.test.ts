// Frames of WebSocket as bytes. Fails when: a frame of ours would stand in the middle of another
// one or of a message, a Close frame of either side goes unnoticed, or ours cannot be read.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { closeCodeAtEnd, closeFrame, FrameBoundaries } from '#src/http/upgraded/frames.ts'

/** A frame as servers send it. */
function frame(opcode: number, isFinal: boolean, length: number, fill = 0x88): Buffer {
  const head = Buffer.alloc(length > 65_535 ? 10 : length > 125 ? 4 : 2)
  head[0] = opcode | (isFinal ? 0x80 : 0)
  head[1] = length > 65_535 ? 127 : length > 125 ? 126 : length
  if (length > 65_535) head.writeBigUInt64BE(BigInt(length), 2)
  else if (length > 125) head.writeUInt16BE(length, 2)
  return Buffer.concat([head, Buffer.alloc(length, fill)])
}

/** The same as a client sends it. */
function masked(unmasked: Buffer, mask: readonly number[]): Buffer {
  const payload = unmasked.subarray(2).map((byte, index) => byte ^ (mask[index % 4] as number))
  return Buffer.concat([Buffer.from([unmasked[0] as number, 0x80 | (unmasked[1] as number), ...mask]), payload])
}

const lengths = fc.oneof(fc.nat(130), fc.constantFrom(0, 125, 126, 65_535, 65_536))
/** A message of some frames, with control frames anywhere between them. */
const message = fc
  .record({ lengths: fc.array(lengths, { minLength: 1, maxLength: 3 }), pings: fc.array(fc.nat(3), { maxLength: 2 }) })
  .map(({ lengths, pings }) => {
    const frames = lengths.map((length, index) => ({ bytes: frame(index === 0 ? 1 : 0, index === lengths.length - 1, length) }))
    for (const at of pings) frames.splice(Math.min(at, frames.length), 0, { bytes: frame(9, true, 4) })
    return frames.map(({ bytes }) => bytes)
  })

describe('where one frame ends and the next begins', () => {
  test('is known after every byte, however the bytes are cut into writes', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 3 }), fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1 }), (messages, cuts) => {
        const whole = Buffer.concat(messages.flat())
        // After a whole message, or after a control frame that came between two of them.
        const between = new Set([0])
        let at = 0
        for (const frames of messages) {
          let isOpen = false
          for (const bytes of frames) {
            const opcode = (bytes[0] as number) & 0x0f
            if (opcode < 8) isOpen = ((bytes[0] as number) & 0x80) === 0
            at += bytes.length
            if (!isOpen) between.add(at)
          }
        }
        const boundaries = new FrameBoundaries()
        let next = 0
        for (let from = 0; from < whole.length; ) {
          const to = Math.min(whole.length, from + (cuts[next++ % cuts.length] as number))
          boundaries.passed(whole.subarray(from, to))
          from = to
          expect({ at: from, isBetween: boundaries.isBetween }).toEqual({ at: from, isBetween: between.has(from) })
        }
        expect(boundaries.isLost).toBe(false)
        expect(boundaries.isClosed).toBe(false)
      }),
    )
  })

  test('a Close frame is noticed', () => {
    const boundaries = new FrameBoundaries()
    boundaries.passed(Buffer.concat([frame(1, true, 3), closeFrame(1000, '')]))
    expect(boundaries).toMatchObject({ isClosed: true, isBetween: true, isLost: false })
  })

  test.each([
    ['of reserved bits', [0x90, 0x00]],
    ['of a reserved opcode', [0x83, 0x00]],
    ['of another protocol', [...Buffer.from('some text')]],
  ])('frames %s are none', (_, bytes) => {
    const boundaries = new FrameBoundaries()
    boundaries.passed(Buffer.from(bytes))
    expect(boundaries.isLost).toBe(true)
  })

  test('what permessage-deflate has compressed is an ordinary frame', () => {
    const boundaries = new FrameBoundaries()
    boundaries.passed(Buffer.from([0xc1, 0x01, 0x00]))
    expect(boundaries).toMatchObject({ isLost: false, isBetween: true })
  })
})

describe('a Close frame of ours', () => {
  test('has the code and the reason, and no mask', () => {
    expect([...closeFrame(1001, 'bye')]).toEqual([0x88, 5, 0x03, 0xe9, ...Buffer.from('bye')])
  })

  test('cuts a reason that is too long for one', () => {
    expect(closeFrame(1001, 'x'.repeat(500))).toHaveLength(127)
  })
})

describe("a client's Close frame", () => {
  test('is found at the end of what came, whatever its mask and reason', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1000, max: 4999 }),
        fc.string({ maxLength: 20, unit: 'grapheme-ascii' }),
        // Bytes that may look like the beginning of a Close frame are rare, and left out here.
        fc.array(fc.nat(127), { minLength: 4, maxLength: 4 }),
        fc.array(fc.constantFrom('ping', 'text'), { maxLength: 2 }),
        (code, reason, mask, before) => {
          const frames = before.map((what) => masked(frame(what === 'ping' ? 9 : 1, true, 4, 0x08), mask))
          expect(closeCodeAtEnd(Buffer.concat([...frames, masked(closeFrame(code, reason), mask)]))).toBe(code)
        },
      ),
    )
  })

  test('may have no code', () => {
    expect(closeCodeAtEnd(masked(frame(8, true, 0), [1, 2, 3, 4]))).toBe(1005)
  })

  test.each([
    ['of another frame', masked(frame(1, true, 4), [1, 2, 3, 4])],
    ['of a code that there is not', masked(closeFrame(12, ''), [1, 2, 3, 4])],
    ['of a few bytes', Buffer.from([0x88, 0x80])],
    ['of nothing', Buffer.alloc(0)],
  ])('is not seen at the end %s', (_, bytes) => {
    expect(closeCodeAtEnd(bytes)).toBeUndefined()
  })
})
