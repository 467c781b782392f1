// Lengths of time as people read them. Fails when: one notation becomes several, or what still runs
// is said to be longer than it is.
import { describe, expect, test } from 'vitest'
import { parseDuration } from '#src/base/duration.ts'
import { formatDuration, formatInColumn, formatRunning } from '#src/base/format-duration.ts'

const LENGTHS = [
  [0, '0ms', '0.0s'],
  [0.18, '0.18ms', '0.0s'],
  [99, '99ms', '0.0s'],
  [1_539, '1.539s', '1.5s'],
  [3_000, '3s', '3.0s'],
  [59_999, '59.999s', '59.9s'],
  [60_000, '1m0s', '1m0s'],
  [90_500, '1m30.5s', '1m30s'],
  [3_599_999, '59m59.999s', '59m59s'],
  [7_500_000, '2h5m0s', '2h5m0s'],
] as const

describe('a length of time', () => {
  test.each(LENGTHS)('of %d ms', (ms, over, running) => {
    expect(formatDuration(ms)).toBe(over)
    expect(formatRunning(ms)).toBe(running)
  })

  test.each(LENGTHS)('of %d ms is what an option may be given', (ms, over, running) => {
    expect(parseDuration('x', over)).toBeCloseTo(ms, 6)
    expect(parseDuration('x', running)).toBeLessThanOrEqual(ms)
  })

  test.each([
    [0, '0.000s'],
    [0.4, '0.000s'],
    [62, '0.062s'],
    [3_050, '3.050s'],
    [59_999.6, '1m0.000s'],
    [97_143, '1m37.143s'],
    [7_500_000, '2h5m0.000s'],
  ])('of %d ms is in a column to the millisecond', (ms, shown) => {
    expect(formatInColumn(ms)).toBe(shown)
  })
})
