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

/**
 * A name or an address, with or without a port: what each reader of a URL takes for a host and
 * nothing else. One that has a slash in it, a question mark, user information or an escape becomes
 * a part of the path with some of them, and so does the path with a host that is empty.
 */
const NAME = String.raw`[\w.~!$&()*+,=-]+`
const HOST = String.raw`(?:${NAME}|\[[\da-fA-F:.]+\])(?::\d{0,5})?`
const HOST_ALONE = new RegExp(`^${HOST}$`)
export const PORT_MAX = 65_535

/** Nearly all requests to a server name the same one. */
let lastHost = ''

/** Whether a Host header, or the authority of a target, is a host. */
export function isHost(text: string): boolean {
  if (text === lastHost) return text !== ''
  if (!HOST_ALONE.test(text)) return false
  const isAddress = text.startsWith('[')
  // With brackets the URL standard knows addresses only.
  if (isAddress ? !URL.canParse(`http://${text}`) : Number(text.slice(text.indexOf(':') + 1 || text.length)) > PORT_MAX) return false
  lastHost = text
  return true
}

const ABSOLUTE = /^https?:\/\/([^/?]*)/i

/** The host of a target in absolute form; undefined for a target that has another form. */
export function hostOfTarget(target: string): string | undefined {
  return ABSOLUTE.exec(target)?.[1]
}

/** No escape, no backslash, no fragment, no segment that begins with a dot. */
const PLAIN = new RegExp(String.raw`^(?:https?://${HOST})?(?:/(?:(?!\.)[\w.~!$&'()*+,;=:@-]+)?)+(?:\?|$)`)

/**
 * The path of a target that cannot be read in two ways, else undefined. Some applications resolve
 * `..`, decode `%2e`, take `\` for `/`, or put the target behind the Host header and read the
 * whole; others do nothing of that.
 */
export function plainPathOf(target: string, host = 'localhost'): string | undefined {
  return PLAIN.test(target) && isHost(host) ? pathAsSent(target) : undefined
}

/**
 * What a path has that even readers who all decode it do not agree about: not a path alone, a
 * segment that is `.` or `..`, a backslash, a fragment, an escape that may stand for one of these,
 * for a slash, or for another escape, or one for what some take out of a path: control characters,
 * and a space at its end.
 */
const DOUBTFUL = /^(?!\/(?!\/))|\/\.{1,2}(?:\/|$)|[\\#]|%(?:[01][\da-f]|2[ef35]|3f|5c|20$)/i

/** Whether the path of a target has something that readers who decode it take in two ways. */
export const isDoubtful = (path: string): boolean => DOUBTFUL.test(path)
