// How wide text is on a terminal. Fails when: a script, an emoji or a combining mark is counted too
// narrow, so that a line wraps, or too wide, so that a column is shifted; when what a reader takes
// for one character is cut in two; or when a control sequence of a user's reaches the terminal.
import { expect, test } from 'vitest'
import { cells, clip, column, oneLine, painter, wrap } from '#src/base/cells.ts'

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

test.each([
  ['', 10, ['']],
  ['fits as it is', 13, ['fits as it is']],
  ['is broken between words', 10, ['is broken', 'between', 'words']],
  ['label    and text', 12, ['label    and', 'text']],
  // One that fits no line is broken where it stands, or in the next line when little room is left.
  ['a abcdefghijklm', 8, ['a abcdef', 'ghijklm']],
  ['abcdef abcdefghijklm', 8, ['abcdef', 'abcdefgh', 'ijklm']],
  ['日本語の名前', 5, ['日本', '語の', '名前']],
  ['キューを 空にする', 8, ['キューを', '空にする']],
  ['👨‍👩‍👧👨‍👩‍👧 x', 6, ['👨‍👩‍👧', '👨‍👩‍👧', 'x']],
])('%s in lines of %d cells is %j', (text, width, lines) => {
  expect(wrap(text, width)).toEqual(lines)
  for (const line of lines) expect(cells(line)).toBeLessThanOrEqual(width)
})

test('the first line of a wrapped text may be of another width', () => {
  expect(wrap('one two three four', 9, 3)).toEqual(['one', 'two three', 'four'])
  expect(wrap('one two three four', 9, 14)).toEqual(['one two three', 'four'])
})

test('a character that is wider than a line has one of its own', () => {
  expect(wrap('日本', 1)).toEqual(['日', '本'])
})

test('codes of colour take no cell of a line, and are not broken', () => {
  const paint = painter(true)
  const name = paint(90, 'name=')
  expect(wrap(`${name}value and ${name}value`, 14)).toEqual([`${name}value and`, `${name}value`])
  expect(wrap(`${name}value`, 4)).toEqual(['\u001b[90mname', '=\u001b[0mval', 'ue'])
})
