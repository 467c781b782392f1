import { randomBytes, timingSafeEqual } from 'node:crypto'
import { plainPathOf } from '../../base/request-target.ts'
import type { ExchangeView } from '../chain.ts'

/** Watched by probes and scrapers until the very end. */
export const EXEMPT_SEGMENTS: readonly string[] = ['/healthz', '/livez', '/readyz', '/metrics']

const TOKEN_HEADER = 'x-quiesce-loopback'
const TOKEN = randomBytes(32).toString('base64url')

/**
 * Whether a request passes although new ones are refused: a health or metrics path, or the server's
 * own client. One rule for every refusal, otherwise a drain could wait for a request that it let in
 * itself.
 *
 * Upstream compares prefixes of the path and of the User-Agent, so that `/readyzanything` and any
 * client with the right name pass (V4). Nor does a target pass that the application could read as
 * another path: `/readyz/../orders`.
 * @see kubernetes/apiserver pkg/server/filters/with_retry_after.go isRequestExemptFromRetryAfter
 * @param more paths of the user's that pass as well
 */
export function isExempt({ url = '/', headers }: Pick<ExchangeView['request'], 'url' | 'headers'>, more: readonly string[] = []): boolean {
  const path = plainPathOf(url, headers.host)
  const authority = headers[':authority']
  // Of HTTP/2: an application may read either.
  if (typeof authority === 'string' && plainPathOf(url, authority) === undefined) return isOwnToken(headers[TOKEN_HEADER])
  return isBelow(path, EXEMPT_SEGMENTS) || isBelow(path, more) || isOwnToken(headers[TOKEN_HEADER])
}

/**
 * Headers that identify this process's own client to its own servers, for hooks that call the API
 * while it refuses others. The token is new in every process and never written anywhere: send it to
 * no other server.
 * @example
 * life.addPreShutdownHook('drain shard', async () => {
 *   await fetch('http://127.0.0.1:8080/shard', { method: 'DELETE', headers: loopbackHeaders() })
 * })
 */
export function loopbackHeaders(): Record<string, string> {
  return { [TOKEN_HEADER]: TOKEN }
}

function isBelow(path: string | undefined, segments: readonly string[]): boolean {
  if (path === undefined) return false
  for (const segment of segments) {
    if (path.startsWith(segment) && (path.length === segment.length || path[segment.length] === '/')) return true
  }
  return false
}

function isOwnToken(given: string | string[] | undefined): boolean {
  if (typeof given !== 'string' || given.length !== TOKEN.length) return false
  const bytes = Buffer.from(given)
  // Same number of characters, but not necessarily of bytes, which timingSafeEqual would throw
  // about.
  return bytes.length === TOKEN.length && timingSafeEqual(bytes, Buffer.from(TOKEN))
}
