import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Clock } from '#src/base/clock.ts'
import { LogDestination } from '#src/log/log-destination.ts'

/**
 * Many lines wait, and then the reader comes back: everything else must get its turn between the
 * writes.
 */

/**
 * What else is to happen is late by one step at most. It includes the write that is under way when
 * the time of a step is over.
 */
const STEP_MS_MAX = 5
const WRITE_MS = 1
/** What a pipe takes whole or not at all on Linux. */
const WHOLE_BYTES = 4096

/** A clock that moves by what is done, and says how long each timer held it. */
class WorkingClock implements Clock {
  time = 0
  readonly steps: number[] = []
  readonly #timers: { readonly due: number; readonly fn: () => void }[] = []

  now = (): number => this.time
  wall = (): number => this.time

  setTimeout(fn: () => void, ms: number): unknown {
    const timer = { due: this.time + ms, fn }
    this.#timers.push(timer)
    return timer
  }

  clearTimeout(timer: unknown): void {
    const index = this.#timers.indexOf(timer as never)
    if (index >= 0) this.#timers.splice(index, 1)
  }

  /** Runs the next timer; false when there is none. */
  runNext(): boolean {
    const timer = this.#timers.shift()
    if (!timer) return false
    this.time = Math.max(this.time, timer.due)
    const begun = this.time
    timer.fn()
    this.steps.push(this.time - begun)
    return true
  }

  runToEnd(): void {
    while (this.runNext());
  }
}

/** A reader that takes nothing at first, and everything later, which costs a millisecond a time. */
function open() {
  const clock = new WorkingClock()
  const reader = { isBack: false, writes: [] as string[] }
  const destination = new LogDestination({
    fd: 1,
    clock,
    write: (_fd, bytes, offset, length) => {
      if (!reader.isBack) throw Object.assign(new Error('EAGAIN'), { code: 'EAGAIN' })
      clock.time += WRITE_MS
      reader.writes.push(Buffer.from(bytes).toString('utf8', offset, offset + length))
      return length
    },
  })
  return { clock, reader, destination }
}

const LINES = Array.from({ length: 20_000 }, (_, index) => `${JSON.stringify({ level: 50, index, msg: 'x'.repeat(100 + (index % 60)) })}\n`)
const BYTES = LINES.reduce((sum, line) => sum + line.length, 0)

describe('a log destination whose reader comes back to a long queue', () => {
  test('gives way between writes, and keeps the order', () => {
    const { clock, reader, destination } = open()
    for (const line of LINES) destination.write(line)
    expect(destination.pendingBytes).toBe(BYTES)
    reader.isBack = true
    clock.runToEnd()
    expect(reader.writes.join('')).toBe(LINES.join(''))
    expect(Math.max(...clock.steps)).toBeLessThanOrEqual(STEP_MS_MAX)
  })

  test('takes what is logged meanwhile behind the others, at no cost', () => {
    const { clock, reader, destination } = open()
    for (const line of LINES.slice(1)) destination.write(line)
    reader.isBack = true
    const before = clock.time
    destination.write(LINES[0] as string)
    expect(clock.time).toBe(before)
    clock.runToEnd()
    expect(reader.writes.join('')).toBe([...LINES.slice(1), LINES[0]].join(''))
  })

  test.skipIf(process.platform !== 'linux')('writes many lines at once, but never a part of a line that a pipe takes whole', () => {
    const { clock, reader, destination } = open()
    const large = `${'y'.repeat(3 * WHOLE_BYTES)}\n`
    for (const line of [...LINES, large]) destination.write(line)
    reader.isBack = true
    clock.runToEnd()
    expect(reader.writes.pop()).toBe(large)
    expect(reader.writes.filter((text) => text.length > WHOLE_BYTES || !text.endsWith('\n'))).toEqual([])
    expect(reader.writes.length).toBeLessThan((1.1 * BYTES) / WHOLE_BYTES)
  })

  test('looks at the bound of a last flush between two writes, and says how much is lost', () => {
    const { clock, reader, destination } = open()
    for (const line of LINES) destination.write(line)
    reader.isBack = true
    const begun = clock.time
    const lost = destination.flushSync(50)
    expect(clock.time - begun).toBe(50)
    const written = reader.writes.join('')
    expect(written.length + lost).toBe(BYTES)
    expect(LINES.join('').startsWith(written)).toBe(true)
    expect(destination.lostLines).toBe(LINES.length - written.split('\n').length + 1)
  })

  test('is not blocked since its last line, but since its reader did not take one', () => {
    const { clock, reader, destination } = open()
    reader.isBack = true
    destination.write('one\n')
    reader.isBack = false
    clock.time += 3_600_000
    destination.write('two\n')
    expect(destination.blockedMs).toBe(0)
    clock.time += 7
    expect(destination.blockedMs).toBe(7)
  })
})

/** What may happen to a destination, in any order. */
const happening = fc.oneof(
  { weight: 5, arbitrary: fc.record({ what: fc.constant('write' as const), length: fc.integer({ min: 1, max: 90 }) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('write' as const), length: fc.constantFrom(4_095, 4_096, 20_000, 70_000) }) },
  { weight: 3, arbitrary: fc.record({ what: fc.constant('room' as const), bytes: fc.constantFrom(0, 1, 50, 5_000, 1_000_000) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('broken' as const), for: fc.integer({ min: 0, max: 2 }) }) },
  { weight: 3, arbitrary: fc.constant({ what: 'turn' as const }) },
  { weight: 1, arbitrary: fc.constant({ what: 'flush' as const }) },
)

test('every line is either written whole, in order, or counted as lost, and the log tells of every loss', () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 60, size: 'max' }), (happenings) => {
      const clock = new WorkingClock()
      let received = ''
      let room = 0
      let brokenFor = 0
      const destination = new LogDestination({
        fd: 1,
        clock,
        pendingBytesMax: 30_000,
        describeLoss: (lines) => `lost ${lines}\n`,
        write: (_fd, bytes, offset, length) => {
          clock.time += WRITE_MS
          if (brokenFor-- > 0) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
          if (room === 0) throw Object.assign(new Error('EAGAIN'), { code: 'EAGAIN' })
          const taken = Math.min(length, room)
          room -= taken
          // Only the newline behind a line that was given up in its middle comes alone: it may have
          // had all but its own.
          received += bytes.length === 1 ? ' (torn)\n' : Buffer.from(bytes).toString('utf8', offset, offset + taken)
          return taken
        },
      })
      const sent: string[] = []
      for (const happened of happenings) {
        if (happened.what === 'write') {
          sent.push(`line ${sent.length} `.padEnd(happened.length, '.'))
          destination.write(`${sent.at(-1)}\n`)
        } else if (happened.what === 'room') room = happened.bytes
        else if (happened.what === 'broken') brokenFor = happened.for
        else if (happened.what === 'turn') clock.runNext()
        // Real time does not pass in it: the virtual one does, with every try.
        else destination.flushSync(3)
      }
      brokenFor = 0
      room = Number.MAX_SAFE_INTEGER
      clock.runToEnd()
      destination.write('end\n')

      const lines = received.split('\n')
      expect(lines.slice(-2)).toEqual(['end', ''])
      const whole = lines.filter((line) => sent.includes(line))
      // In order, each once.
      const places = whole.map((line) => sent.indexOf(line))
      expect(places).toEqual([...new Set(places)].sort((a, b) => a - b))
      expect(whole.length + destination.lostLines).toBe(sent.length)
      const notified = lines.reduce((sum, line) => sum + Number(/^lost (\d+)$/.exec(line)?.[1] ?? 0), 0)
      expect(notified).toBe(destination.lostLines)
    }),
  )
})
