import type { IncomingMessage } from 'node:http'

/**
 * Of several headers of a name the first, which is all that Go looks at; node joins them. Empty
 * when there is none.
 * @param name in lower case, as the key of `headers`
 */
export function firstHeader({ headers, rawHeaders }: IncomingMessage, name: 'accept' | 'content-type'): string {
  const joined = headers[name] ?? ''
  if (!joined.includes(', ')) return joined
  const at = rawHeaders.findIndex((given, index) => index % 2 === 0 && given.toLowerCase() === name)
  return at < 0 ? joined : (rawHeaders[at + 1] as string)
}
