/** What Unicode calls white space; unlike that of `trim`, also U+0085, and not U+FEFF. */
const WHITE_SPACE = /\p{White_Space}/u

/**
 * Looked at from both ends: a pattern for them would look from each place of a long run of spaces,
 * which clients may send.
 * @see strings.TrimSpace of Go's standard library
 */
export function goTrimSpace(text: string): string {
  let from = 0
  let to = text.length
  while (from < to && WHITE_SPACE.test(text.charAt(from))) from++
  while (to > from && WHITE_SPACE.test(text.charAt(to - 1))) to--
  return text.slice(from, to)
}
