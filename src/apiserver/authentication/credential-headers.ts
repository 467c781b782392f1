import type { IncomingMessage } from 'node:http'

/** How often a header stands in a request, which node may have joined, or left out, since. */
export function occurrences({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const each = rawHeaders[at] as string
    if (each.length === name.length && each.toLowerCase() === name) count++
  }
  return count
}

/** All values of a header, in their order. */
export const valuesOf = ({ rawHeaders }: IncomingMessage, name: string): readonly string[] =>
  rawHeaders.filter((_, at) => at % 2 === 1 && (rawHeaders[at - 1] as string).toLowerCase() === name)

/**
 * Takes headers out of a request, so that nothing behind sees them, in whichever form it looks.
 * @param isTaken asked for each name, in small letters
 */
export function takeHeaders(request: IncomingMessage, isTaken: (name: string) => boolean): void {
  const { rawHeaders, headers } = request
  // Made of the raw headers when they are first read, which have to be whole until then.
  const distinct = request.headersDistinct as NodeJS.Dict<string[]> | undefined
  for (let at = rawHeaders.length - 2; at >= 0; at -= 2) {
    const name = (rawHeaders[at] as string).toLowerCase()
    if (!isTaken(name)) continue
    rawHeaders.splice(at, 2)
    delete headers[name]
    if (distinct) delete distinct[name]
  }
}

/** Said by a proxy in front of who its client is; none is believed here. */
const FRONT_PROXY_EXTRA = 'x-remote-extra-'
const FRONT_PROXY = new Set(['x-remote-user', 'x-remote-uid', 'x-remote-group'])

const isCredential = (name: string): boolean =>
  name === 'authorization' || name === 'x-quiesce-loopback' || FRONT_PROXY.has(name) || name.startsWith(FRONT_PROXY_EXTRA)

/**
 * Takes what says who sent a request out of it, once that is known: handlers, and servers that they
 * ask, have no use for it.
 * @see kubernetes/apiserver pkg/endpoints/filters/authentication.go withAuthentication
 */
export function takeCredentials(request: IncomingMessage): void {
  for (const name in request.headers) {
    if (!isCredential(name)) continue
    takeHeaders(request, isCredential)
    return
  }
}
