import type { IncomingMessage } from 'node:http'
import { valuesOf } from './authentication/credential-headers.ts'

/**
 * Of several headers of a name the first, which is all that Go looks at; node joins them. Empty
 * when there is none. What the first filters see of HTTP/2 has no raw headers: there they stay
 * joined.
 * @param name in lower case, as the key of `headers`
 */
export function firstHeader(request: IncomingMessage, name: string): string {
  const joined = (request.headers[name] as string | undefined) ?? ''
  const isRaw = Array.isArray(request.rawHeaders as unknown)
  return isRaw && joined.includes(',') ? (valuesOf(request, name)[0] ?? joined) : joined
}
