/**
 * The first value of a parameter of a request's query, one character per byte; empty when there is
 * none. As Go reads a query: what has a semicolon or an escape that is none is passed over.
 * @see Go's net/url parseQuery
 */
export function queryValue(url: string, name: string): string {
  const from = url.indexOf('?')
  if (from < 0 || !url.includes(name, from)) return ''
  const to = url.indexOf('#', from)
  for (const pair of url.slice(from + 1, to < 0 ? undefined : to).split('&')) {
    if (pair.includes(';')) continue
    const equals = pair.indexOf('=')
    if (unescaped(equals < 0 ? pair : pair.slice(0, equals)) !== name) continue
    const value = equals < 0 ? '' : unescaped(pair.slice(equals + 1))
    if (value !== undefined) return value
  }
  return ''
}

/** Undefined for an escape that is none. */
function unescaped(text: string): string | undefined {
  if (/%(?![\da-f]{2})/i.test(text)) return undefined
  return text.replaceAll('+', ' ').replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
