// Fails when: what a message says may be written is refused, or what it does not is read.
import { expect, test } from 'vitest'
import { DURATION_ALLOWED, DURATION_MS_MAX, parseDuration } from '#src/base/duration.ts'

test('every unit that the message names is read, and its longest duration', () => {
  const units = /units ([^)]+)\)/.exec(DURATION_ALLOWED)?.[1]?.split(', ') ?? []
  expect(units.map((unit) => [unit, parseDuration('x', `1${unit}`)])).toEqual([
    ['ns', 1e-6],
    ['us', 1e-3],
    ['ms', 1],
    ['s', 1_000],
    ['m', 60_000],
    ['h', 3_600_000],
    ['d', 86_400_000],
  ])
  const longest = / to (\S+)$/.exec(DURATION_ALLOWED)?.[1] ?? ''
  expect(parseDuration('x', longest)).toBeLessThanOrEqual(DURATION_MS_MAX)
  expect(parseDuration('x', '1d12h')).toBe(36 * 3_600_000)
})

test.each(['25d', '1w', '1D', 'd', '1'])('%s is refused', (given) => {
  expect(() => parseDuration('x', given)).toThrow(`x: got "${given}", allowed: ${DURATION_ALLOWED}`)
})
