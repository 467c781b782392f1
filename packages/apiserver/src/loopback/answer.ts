import { Readable } from 'node:stream'

/** The statuses that have no body, which a Response must not have either then. */
const WITHOUT_BODY: readonly number[] = [204, 205, 304]

/** What came, as `fetch` would give it. */
export function fetchResponse(method: string, status: number, rawHeaders: readonly string[], body: Readable, statusText = ''): Response {
  const headers = new Headers()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] as string, rawHeaders[at + 1] as string)
  const hasBody = method !== 'HEAD' && !WITHOUT_BODY.includes(status)
  if (!hasBody) body.resume()
  return new Response(hasBody ? (Readable.toWeb(body) as ConstructorParameters<typeof Response>[0]) : null, { status, statusText, headers })
}
