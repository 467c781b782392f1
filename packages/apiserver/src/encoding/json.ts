/** Go's encoder escapes them, so that JSON inside of HTML stays JSON. */
const escaped = (json: string): string => json.replace(/[<>&\u2028\u2029]/g, (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Compact, without a newline. */
export const safeJson = (value: unknown): string => escaped(JSON.stringify(value))

/** One line with its newline, as upstream encodes objects. */
export const compactJson = (value: unknown): string => `${safeJson(value)}\n`

/** Printable ASCII that stands for itself in JSON. */
const PLAIN = /^[ !#-%'-;=?-[\]-~]*$/

/**
 * Texts with something to escape: the reasons of authorization, for one, are the same for many
 * requests.
 */
const ESCAPED = new Map<string, string>()
/**
 * What clients send comes here, too: it is forgotten when there is so much of it, and never kept
 * when it is long.
 */
const ESCAPED_MAX = 256
const ESCAPED_LENGTH_MAX = 512

/** A text. */
export function jsonText(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`
  if (text.length > ESCAPED_LENGTH_MAX) return safeJson(text)
  const known = ESCAPED.get(text)
  if (known !== undefined) return known
  const json = safeJson(text)
  if (ESCAPED.size >= ESCAPED_MAX) ESCAPED.clear()
  ESCAPED.set(text, json)
  return json
}

/** JSON for people: indented by two spaces, without a newline at the end. */
export const prettyJson = (value: unknown): string => escaped(JSON.stringify(value, null, 2))
