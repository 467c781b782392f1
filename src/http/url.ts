import { pathAsSent } from '../base/request-target.ts'

/** The part of a node request that our rules read; HTTP/1 and HTTP/2 requests both fit. */
export interface RequestLike {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

/** What a request target asks for behind its path; the target itself may be no URL. */
export function queryOf(url: string): URLSearchParams {
  const query = url.indexOf('?')
  return new URLSearchParams(query < 0 ? '' : url.slice(query))
}

/**
 * The path of a request target, percent-decoded: of `/a?b`, of `http://host/a` as proxies send it,
 * or of `*`.
 */
export function pathOf(url: string): string {
  const path = pathAsSent(url)
  if (path === '' && url !== '') return '/'
  if (!path.includes('%')) return path
  try {
    return decodeURIComponent(path)
  } catch {
    // Malformed escapes are the application's to judge; for us they are just not a known path.
    return path
  }
}
