import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'

/** How often a header stands in a request, which node may have joined, or left out, since. */
export function occurrences({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (isNamed(rawHeaders[at] as string, name)) count++
  }
  return count
}

/** All values of a header, in their order. */
export const headerValues = ({ rawHeaders }: IncomingMessage, name: string): readonly string[] =>
  rawHeaders.filter((_, at) => at % 2 === 1 && isNamed(rawHeaders[at - 1] as string, name))

/** Nearly all are of another length. */
const isNamed = (raw: string, name: string): boolean => raw.length === name.length && raw.toLowerCase() === name

/**
 * Takes headers out of a request, so that nothing behind sees them, in whichever form it looks.
 * @param isTaken asked for each name, in small letters
 */
export function takeHeaders(request: IncomingMessage, isTaken: (name: string) => boolean): void {
  let taken: Set<string> | undefined
  for (const name of namesOf(request)) if (isTaken(name)) taken = (taken ?? new Set()).add(name)
  if (taken === undefined) return
  const { headers } = request
  const distinct = distinctOf(request)
  for (const name of taken) {
    delete headers[name]
    if (distinct) delete distinct[name]
  }
  takeRaw(request, taken)
}

/**
 * The names of all its headers, in small letters. Of more than a limit node puts the first into
 * `headers` and leaves the others in `rawHeaders`, where a handler that passes them on finds them.
 */
export function namesOf(request: IncomingMessage): readonly string[] {
  const names = Object.keys(request.headers)
  return isWhole(request) ? names : [...new Set([...names, ...request.rawHeaders.filter((_, at) => at % 2 === 0).map(inSmallLetters)])]
}

/**
 * Whether all headers are there: over HTTP/2 a request with more than there is room for is refused.
 */
function isWhole(request: IncomingMessage): boolean {
  const count = countOf(request)
  return count === undefined ? request.httpVersionMajor === 2 : count >= request.rawHeaders.length
}

const inSmallLetters = (name: string): string => name.toLowerCase()

/**
 * Takes headers out of the raw ones in one pass: each header that is cut out of the middle moves
 * all behind it.
 */
function takeRaw(request: IncomingMessage, taken: ReadonlySet<string>): void {
  const { rawHeaders } = request
  const count = countOf(request) ?? 0
  let kept = 0
  let takenOfCount = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (taken.has(inSmallLetters(rawHeaders[at] as string))) {
      if (at < count) takenOfCount += 2
      continue
    }
    rawHeaders[kept++] = rawHeaders[at] as string
    rawHeaders[kept++] = rawHeaders[at + 1] as string
  }
  rawHeaders.length = kept
  addToCount(request, -takenOfCount)
}

/** Puts a header into a request in the place of those of its name. */
export function replaceHeader(request: IncomingMessage, name: string, value: string): void {
  const own = name.toLowerCase()
  takeHeaders(request, (each) => each === own)
  request.headers[own] = value
  // In front: what node has left out stays out.
  request.rawHeaders.unshift(name, value)
  const distinct = distinctOf(request)
  if (distinct) distinct[own] = [value]
  addToCount(request, 2)
}

type Kept = IncomingMessage & Record<symbol, unknown>

/**
 * `headersDistinct` is made of the raw headers when it is first read, of as many as there were. To
 * have it made costs more than all else here, so it is left unmade where node's names for that are
 * those that are known, and made here where they are not.
 */
function distinctOf(request: IncomingMessage): NodeJS.Dict<string[]> | undefined {
  if (COUNT === undefined || DISTINCT === undefined) return request.headersDistinct
  return (request as Kept)[DISTINCT] as NodeJS.Dict<string[]> | undefined
}

/** How many of `rawHeaders` stand in the other forms; undefined over HTTP/2, where all do. */
function countOf(request: IncomingMessage): number | undefined {
  const count = COUNT === undefined ? undefined : (request as Kept)[COUNT]
  return typeof count === 'number' ? count : undefined
}

function addToCount(request: IncomingMessage, more: number): void {
  const count = countOf(request)
  if (count !== undefined) (request as Kept)[COUNT as symbol] = count + more
}

const [COUNT, DISTINCT] = keptNames()

function keptNames(): readonly (symbol | undefined)[] {
  const probe = new IncomingMessage(new Socket())
  void probe.headersDistinct
  const names = Object.getOwnPropertySymbols(probe)
  return ['kHeadersCount', 'kHeadersDistinct'].map((wanted) => names.find(({ description }) => description === wanted))
}

/**
 * The prefix of headers by which a proxy in front says who its client is, under names that all
 * know.
 */
const FRONT_PROXY_EXTRA = 'x-remote-extra-'
const FRONT_PROXY = new Set(['x-remote-user', 'x-remote-uid', 'x-remote-group'])

const isCredential = (name: string): boolean =>
  name === 'authorization' ||
  (name.startsWith('x-') && (name === 'x-quiesce-loopback' || FRONT_PROXY.has(name) || name.startsWith(FRONT_PROXY_EXTRA)))

/**
 * Takes what says who sent a request out of it, once that is known: handlers, and servers that they
 * ask, have no use for it.
 * @param isFurther of other names, which a proxy in front has for it
 * @see kubernetes/apiserver pkg/endpoints/filters/authentication.go withAuthentication
 */
export function takeCredentials(request: IncomingMessage, isFurther?: (name: string) => boolean): void {
  takeHeaders(request, isFurther ? (name) => isCredential(name) || isFurther(name) : isCredential)
}
