/** From here on, characters may be two cells wide (East Asian scripts, emoji). */
const WIDE_FROM = 0x1100
/** Ours, and narrow although they are beyond. */
const NARROW = new Set(['…'])

/** How many cells of a terminal a text takes at most. Never too few: a line that wraps cannot be redrawn in place. */
export function cells(text: string): number {
  let sum = 0
  for (const character of text) sum += (character.codePointAt(0) as number) >= WIDE_FROM && !NARROW.has(character) ? 2 : 1
  return sum
}

/** As much of a text as fits. Names come from users and clients: none of their control characters reach the terminal. */
export function clip(text: string, width: number): string {
  const safe = text.replace(/\p{C}+/gu, ' ')
  if (cells(safe) <= width) return safe
  let fitted = ''
  let left = width - 1
  for (const character of safe) {
    left -= cells(character)
    if (left < 0) break
    fitted += character
  }
  return width > 0 ? `${fitted}…` : ''
}
