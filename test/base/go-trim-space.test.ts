// Fails when: other characters are taken off than by Go, or a client can keep the process busy with
// a long run of spaces.
import { expect, test } from 'vitest'
import { goTrimSpace } from '#apiserver/go-trim-space.ts'

test.each([
  ['', ''],
  [' \t\n\v\f\r\u0085\u00A0', ''],
  ['\u2003 a b \u3000', 'a b'],
  ['\uFEFFa\u200B', '\uFEFFa\u200B'],
])('%j', (text, trimmed) => {
  expect(goTrimSpace(text)).toBe(trimmed)
})

test('a run of spaces inside takes no time', () => {
  const text = `a${' '.repeat(1_000_000)}b`
  const begun = performance.now()
  expect(goTrimSpace(text)).toBe(text)
  expect(performance.now() - begun).toBeLessThan(10_000)
})
