/**
 * The first value of a parameter of a request's query, one character per byte; empty when there is
 * none. As Go reads a query: what has a semicolon or an escape that is none is passed over, and a
 * request has no fragment.
 * @see Go's net/url parseQuery
 */
export function queryValue(url: string, name: string): string {
  return valuesOf(url, name).next().value ?? ''
}

/** All values of a parameter, as text. */
export function queryTexts(url: string, name: string): readonly string[] {
  return Array.from(valuesOf(url, name), asText)
}

function* valuesOf(url: string, name: string): Generator<string, undefined> {
  const from = url.indexOf('?')
  // Nearly all requests end here.
  if (from < 0 || (!url.includes(name, from) && !url.includes('%', from))) return
  for (const pair of url.slice(from + 1).split('&')) {
    if (pair === '' || pair.includes(';')) continue
    const equals = pair.indexOf('=')
    if (unescaped(equals < 0 ? pair : pair.slice(0, equals)) !== name) continue
    const value = equals < 0 ? '' : unescaped(pair.slice(equals + 1))
    if (value !== undefined) yield value
  }
}

/** Undefined for an escape that is none. */
function unescaped(text: string): string | undefined {
  if (/%(?![\da-f]{2})/i.test(text)) return undefined
  return text.replaceAll('+', ' ').replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

const asText = (bytes: string): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)))
