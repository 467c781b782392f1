/** Go's encoder escapes them, so that JSON inside of HTML stays JSON. */
const escaped = (json: string): string => json.replace(/[<>&\u2028\u2029]/g, (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Compact, without a newline. */
export const safeJson = (value: unknown): string => escaped(JSON.stringify(value))

/** One line with its newline, as upstream encodes objects. */
export const compactJson = (value: unknown): string => `${safeJson(value)}\n`

/** Printable ASCII that stands for itself in JSON. */
const PLAIN = /^[ !#-%'-;=?-[\]-~]*$/

/** A text. */
export const jsonText = (text: string): string => (PLAIN.test(text) ? `"${text}"` : safeJson(text))

/** For people: indented by two spaces, without a newline at the end. */
export const prettyJson = (value: unknown): string => escaped(JSON.stringify(value, null, 2))
