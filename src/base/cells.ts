import { stripVTControlCharacters } from 'node:util'

/**
 * Text on a terminal: how many cells it takes, and as much of it as fits. By code point, as most
 * terminals count, and never too few: a line that wraps cannot be redrawn in place.
 *
 * - East Asian wide and full-width characters and emoji take two cells.
 * - Combining marks, joiners and variation selectors take none; U+FE0F adds a cell to a narrow
 *   character, which it makes an emoji.
 * - An emoji joined of several takes the cells of all of them, as on terminals that do not join;
 *   one
 *   that does leaves the rest empty.
 * - Characters of ambiguous width (`…`, `±`, Greek, Cyrillic) take one, as terminals do unless told
 *   otherwise.
 */
const PRINTABLE_ASCII = /^[ -~]*$/
const ZERO = /[\p{Mn}\p{Me}\u{200b}-\u{200d}\u{1160}-\u{11ff}]/u
const EMOJI_STYLE = '\ufe0f'
/**
 * East_Asian_Width W and F of Unicode 16 but for emoji; blocks that are wide as a whole are one
 * range.
 */
const WIDE =
  /[\u{1100}-\u{115f}\u{2329}\u{232a}\u{2e80}-\u{303e}\u{3041}-\u{a4cf}\u{a960}-\u{a97c}\u{ac00}-\u{d7a3}\u{f900}-\u{faff}\u{fe10}-\u{fe19}\u{fe30}-\u{fe6b}\u{ff01}-\u{ff60}\u{ffe0}-\u{ffe6}\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d376}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u

/** How many cells a text takes at most. */
export function cells(text: string): number {
  if (PRINTABLE_ASCII.test(text)) return text.length
  let sum = 0
  let last = 0
  for (const character of text) {
    if (character === EMOJI_STYLE && last === 1) sum++
    last = cellsOf(character)
    sum += last
  }
  return sum
}

const cellsOf = (character: string): number => (ZERO.test(character) ? 0 : WIDE.test(character) ? 2 : 1)

/**
 * Invisible characters, but for the joiners that words and emoji are made with: line breaks,
 * escapes, marks that turn the direction of a line.
 */
const UNSAFE = /(?:(?![\u200c\u200d])[\p{C}\p{Zl}\p{Zp}])+/gu

/**
 * Names and messages come from users and clients: none of their control sequences reach the
 * terminal.
 */
export const oneLine = (text: string): string => (PRINTABLE_ASCII.test(text) ? text : stripVTControlCharacters(text).replace(UNSAFE, ' '))

/** The beginning of a text that fits, in one line; `…` says that there is more. */
export function clip(text: string, width: number): string {
  const safe = oneLine(text)
  if (cells(safe) <= width) return safe
  let fitted = ''
  let left = width - 1
  // What a reader takes for one character is not cut in two.
  for (const { segment } of new Intl.Segmenter().segment(safe)) {
    left -= cells(segment)
    if (left < 0) break
    fitted += segment
  }
  return width > 0 ? `${fitted}…` : ''
}

/** A text as a column: clipped, and filled up with spaces. */
export function column(text: string, width: number): string {
  const clipped = clip(text, width)
  return clipped + ' '.repeat(width - cells(clipped))
}

/** The parts of a word that are never broken: ANSI codes of colour. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what a terminal reads
const CODE = /(\u001b\[\d*m)/

/**
 * A text in lines that fit: broken between words, and a word that is longer than a line inside. It
 * may hold the codes of {@link painter}, which take no cell; all else is safe to print already.
 *
 * @param first cells that the first line has, where something stands before it. Default: all
 */
export function wrap(text: string, width: number, first = width): string[] {
  const lines: string[] = []
  let line = ''
  let left = first
  const end = (): void => {
    lines.push(line)
    line = ''
    left = width
  }
  for (const [, space = '', word = ''] of text.matchAll(/( *)([^ ]*)/g)) {
    const taken = cells(stripVTControlCharacters(word))
    if (space.length + taken <= left) {
      line += space + word
      left -= space.length + taken
      continue
    }
    // A word that fits no line begins where it stands, unless there is hardly any room.
    if (taken <= width || left < width / 2) {
      if (line !== '' || lines.length === 0) end()
    } else if (left > space.length) {
      line += space
      left -= space.length
    }
    for (const part of pieces(word)) {
      const wide = part.startsWith('\u001b') ? 0 : cells(part)
      if (wide > left && left < width) end()
      line += part
      left -= wide
    }
  }
  if (line !== '' || lines.length === 0) lines.push(line)
  return lines
}

const pieces = (word: string): string[] =>
  word.split(CODE).flatMap((part) => (CODE.test(part) ? [part] : [...new Intl.Segmenter().segment(part)].map(({ segment }) => segment)))

export const RED = 31
export const YELLOW = 33
export const BOLD = 1
export const GREY = 90

/**
 * Colours a text with an ANSI code, when colours are on. Not node's `styleText`: it came with Node
 * 20.12, and asks the process's own standard output by itself from 22 on.
 */
export const painter =
  (isOn: boolean) =>
  (code: number, text: string): string =>
    isOn ? `\u001b[${code}m${text}\u001b[0m` : text
