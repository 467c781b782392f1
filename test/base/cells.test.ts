// How wide text is on a terminal. Fails when: a script, an emoji or a combining mark is counted too
// narrow, so that a line wraps, or too wide, so that a column is shifted; when what a reader takes
// for one character is cut in two; or when a control sequence of a user's reaches the terminal.
import { expect, test } from 'vitest'
import { cells, clip, column, oneLine } from '#src/base/cells.ts'

test.each([
  ['', 0],
  ['plain ASCII', 11],
  ['ümläut', 6],
  ['キューを空にする', 16],
  ['한국어', 6],
  // The same, decomposed, as macOS spells file names.
  ['한국어'.normalize('NFD'), 6],
  ['全角ＡＢＣ', 10],
  ['ｶﾀｶﾅ', 4],
  ['𠮷野家', 6],
  ['u\u0308', 1],
  ['नमस्ते', 4],
  ['привет — мир…', 13],
  ['🚀', 2],
  ['❤', 1],
  ['❤\ufe0f', 2],
  ['🚀\ufe0f', 2],
  ['👍🏽', 4],
  ['👨‍👩‍👧', 6],
  ['🇯🇵', 4],
])('%s takes %d cells', (text, width) => {
  expect(cells(text)).toBe(width)
})

test.each([
  ['short', 10, 'short'],
  ['exactly ten', 11, 'exactly ten'],
  ['too long a text', 8, 'too lon…'],
  ['日本語の名前', 7, '日本語…'],
  ['日本語の名前', 8, '日本語…'],
  ['🚀🚀🚀', 4, '🚀…'],
  ['née', 2, 'n…'],
  ['ae\u0301e\u0301e\u0301', 3, 'ae\u0301…'],
  ['👨‍👩‍👧 and more', 9, '👨‍👩‍👧 a…'],
  ['👨‍👩‍👧 and more', 5, '…'],
  ['x', 0, ''],
])('%s in %d cells is %s', (text, width, clipped) => {
  expect(clip(text, width)).toBe(clipped)
  expect(cells(clipped)).toBeLessThanOrEqual(width)
  expect(cells(column(text, width))).toBe(width)
})

test.each([
  ['a colour', 'red \u001b[31mname', 'red name'],
  ['a link', '\u001b]8;;http://evil.test\u0007text\u001b]8;;\u0007', 'text'],
  ['control characters', 'a\u0000\tb\u009c', 'a b '],
  ['line breaks', 'a\r\nb\u2028c', 'a b c'],
  ['a turned direction', 'a\u202eb\u2066c', 'a b c'],
  ['half of a character', 'a\ud83d', 'a '],
  ['joiners, which are kept', '👨‍👩 नमस्‍ते', '👨‍👩 नमस्‍ते'],
])('%s in one line', (_, text, safe) => {
  expect(oneLine(text)).toBe(safe)
})
