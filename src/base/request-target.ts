/**
 * What the target of a request names, by RFC 9112 section 3.2: `/a?b`, or `http://host/a?b`, the
 * form that proxies send. Code that decides by a path, and lets another read it afterwards, has to
 * know whether both read the same.
 */

/**
 * Scheme and host of a target in absolute form. The host ends where the URL standard ends it, not
 * at the first slash of the query.
 */
const AUTHORITY = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\\]*/i

/** The path as it was sent, without the query: `/a` of `/a?b`, empty of `http://host`. */
export function pathAsSent(target: string): string {
  const start = target.startsWith('/') ? 0 : (AUTHORITY.exec(target)?.[0].length ?? 0)
  const query = target.indexOf('?', start)
  return query < 0 ? target.slice(start) : target.slice(start, query)
}

/** A name or an address, with or without a port. */
const HOST = String.raw`(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?`
const PLAIN_HOST = new RegExp(`^${HOST}$`)
/** No escape, no backslash, no fragment, no segment that begins with a dot. */
const PLAIN = new RegExp(String.raw`^(?:https?://${HOST})?(?:/(?:(?!\.)[\w.~!$&'()*+,;=:@-]+)?)+(?:\?|$)`)

/**
 * The path of a target that cannot be read in two ways, else undefined. Some applications resolve
 * `..`, decode `%2e`, take `\` for `/`, or put the target behind the Host header and read the
 * whole; others do nothing of that.
 */
export function plainPathOf(target: string, host = 'localhost'): string | undefined {
  return PLAIN.test(target) && PLAIN_HOST.test(host) ? pathAsSent(target) : undefined
}
