import type { IncomingMessage } from 'node:http'
import { headerValues } from './authentication/credential-headers.ts'

/**
 * The first of several headers of a name, which is all that Go looks at; node joins them. Empty
 * when there is none.
 * @param name in lower case, as the key of `headers`
 */
export function firstHeader(request: IncomingMessage, name: string): string {
  const joined = (request.headers[name] as string | undefined) ?? ''
  if (!joined.includes(',')) return joined
  // A stream of HTTP/2 that node has not handed over itself may come without them.
  const { rawHeaders } = request as { readonly rawHeaders: IncomingMessage['rawHeaders'] | undefined }
  return (rawHeaders && headerValues(request, name)[0]) ?? joined
}

/** Node reads the bytes of a header as Latin-1; they are taken for UTF-8. */
export const headerText = (value: string): string => (/[\x80-\xff]/.test(value) ? Buffer.from(value, 'latin1').toString() : value)
