/** The longest list of a client's wishes: several times what is sent in good faith. */
const WISHES = 4_096
/** What one header may have with most servers, such as nginx and Apache. */
const LINE = 8_192
/** Tokens are as long as the groups of their user are many; no header of HTTP/2 is longer. */
const TOKEN = 65_536
/** A host name has 253 characters. */
const NAME = 1_024

/**
 * The headers of requests that quiesce itself reads, and how many characters one of them may have
 * on a server that it creates: a request with more is answered 431 before anything reads it. What
 * an application reads is the application's to bound, below the limit of a whole head.
 */
export const HEADER_BOUNDS: ReadonlyMap<string, number> = new Map([
  [':authority', NAME],
  ['accept', WISHES],
  ['accept-encoding', WISHES],
  ['audit-id', LINE],
  ['authorization', TOKEN],
  ['connection', WISHES],
  ['content-length', NAME],
  ['content-type', LINE],
  ['host', NAME],
  ['if-none-match', LINE],
  ['impersonate-group', LINE],
  ['impersonate-uid', LINE],
  ['impersonate-user', LINE],
  ['last-event-id', NAME],
  // Expressions of the user's are held against it.
  ['origin', NAME],
  ['sec-fetch-site', NAME],
  // A browser's token stands in it.
  ['sec-websocket-protocol', TOKEN],
  ['traceparent', NAME],
  ['tracestate', LINE],
  ['transfer-encoding', NAME],
  ['upgrade', WISHES],
  ['user-agent', LINE],
  ['x-forwarded-for', LINE],
  ['x-quiesce-loopback', NAME],
  ['x-real-ip', NAME],
  ['x-remote-group', LINE],
  ['x-remote-uid', LINE],
  ['x-remote-user', LINE],
])

/** The bounds of headers whose names have a key in them, by what they begin with. */
const PREFIX_BOUNDS: readonly (readonly [prefix: string, bound: number])[] = [
  ['impersonate-extra-', LINE],
  ['x-remote-extra-', LINE],
]

const SMALLEST = Math.min(...HEADER_BOUNDS.values(), ...PREFIX_BOUNDS.map(([, bound]) => bound))

/** Whether a header is longer than what quiesce reads of it. */
export const isTooLong = (rawName: string, value: string): boolean =>
  value.length + rawName.length > SMALLEST && value.length + rawName.length > boundOf(rawName.toLowerCase())

function boundOf(name: string): number {
  const [, byPrefix] = PREFIX_BOUNDS.find(([prefix]) => name.startsWith(prefix)) ?? []
  return HEADER_BOUNDS.get(name) ?? byPrefix ?? Number.POSITIVE_INFINITY
}
