const NAMED: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
}

/**
 * A text as Go's `%q` writes it: what can be read as it is, and all else as an escape.
 * @see Go's strconv.Quote
 */
export const goQuote = (text: string): string => `"${text.replace(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, escaped)}"`

function escaped(character: string): string {
  const named = NAMED[character]
  if (named !== undefined) return named
  const code = character.codePointAt(0) as number
  const hex = (digits: number): string => code.toString(16).padStart(digits, '0')
  if (code < 0x80) return `\\x${hex(2)}`
  return code < 0x1_0000 ? `\\u${hex(4)}` : `\\U${hex(8)}`
}
