import { pathAsSent } from '../engine.ts'

/** What needs nothing done: no scheme, and nothing in the path that Go would escape. */
const AS_IT_IS = /^(?:\*|\/[\w.~!$&'()*+,;=:@%[\]/-]*)(?:\?|$)/
/** A path that Go leaves as it was sent. */
const VALID_PATH = /^[\w.~!$&'()*+,;=:@%[\]/-]*$/
/** What it does not escape where it has to escape any of it. */
const KEPT = /[^\w.~$&+,/:;=@-]/g

/**
 * The target of a request as upstream audits it: without scheme and host, and with a path that has
 * a character which no path may have escaped anew, all of it.
 * @see Go's net/url URL.RequestURI
 */
export function requestUriOf(url: string): string {
  if (AS_IT_IS.test(url)) return url
  const path = pathAsSent(url)
  const query = url.indexOf('?')
  return `${path === '' ? '/' : escaped(path)}${query < 0 ? '' : url.slice(query)}`
}

function escaped(path: string): string {
  if (VALID_PATH.test(path)) return path
  const bytes = path.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return bytes.replace(KEPT, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)
}
