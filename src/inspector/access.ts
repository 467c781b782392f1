import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/**
 * Who may use the inspector. Without a token (on a loopback address): requests by an address or as
 * localhost, because a site that had its own name point here would ask by that name. With a token:
 * requests that bring it, in the URL of the first visit, in the cookie that this visit is answered
 * with, or as `Authorization: Bearer`.
 *
 * What acts, and whatever another site's page could use, is for the inspector's own pages only.
 */
export class Access {
  readonly #token: Buffer | undefined

  constructor(token: string | undefined) {
    this.#token = token === undefined ? undefined : digest(token)
  }

  /** What keeps a request out, or undefined. */
  refusal(request: IncomingMessage): Problem | undefined {
    if (this.#token) {
      if (!this.#bringsToken(request))
        return { status: 401, text: 'the inspector needs its token: open the URL that the log names, or add ?token=TOKEN' }
    } else if (!isAddressedDirectly(request.headers.host)) {
      return { status: 421, text: `the inspector is not ${shown(request.headers.host)}: ask for it by address or as localhost` }
    }
    return undefined
  }

  /** The same for what is not a page to be opened: streams, sockets, data. Links from elsewhere may lead to the page, and to nothing else. */
  foreignRefusal({ headers }: IncomingMessage): Problem | undefined {
    const site = headers['sec-fetch-site']
    const isForeign = (site !== undefined && site !== 'same-origin' && site !== 'none') || !isOwnOrigin(headers.origin, headers.host)
    return isForeign ? { status: 403, text: 'only for the pages of the inspector itself' } : undefined
  }

  /** The same for what acts: a form of another site can send a POST, but no JSON. */
  actionRefusal(request: IncomingMessage): Problem | undefined {
    const isJson = /^application\/json\b/i.test(request.headers['content-type'] ?? '')
    if (!isJson) return { status: 415, text: 'Content-Type: application/json is needed' }
    return this.foreignRefusal(request)
  }

  /** The cookie that stands for the token of a first visit. Its name has the port: cookies do not know of ports by themselves. */
  welcome(request: IncomingMessage): string | undefined {
    const token = this.#token && tokenOfUrl(request)
    if (token === undefined) return undefined
    return `${cookieName(request)}=${token}; Path=/; HttpOnly; SameSite=Strict`
  }

  #bringsToken(request: IncomingMessage): boolean {
    const [, bearer] = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '') ?? []
    return [tokenOfUrl(request), bearer, cookieOf(request)].some((given) => given !== undefined && this.#isToken(given))
  }

  /** Digests have the same length, and say nothing about how much of a guess was right. */
  #isToken(given: string): boolean {
    return this.#token !== undefined && timingSafeEqual(digest(given), this.#token)
  }
}

export interface Problem {
  readonly status: number
  readonly text: string
}

export const newToken = (): string => randomBytes(24).toString('base64url')

/** Whether only this machine reaches an address. */
export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/i.test(host)

export const queryOf = ({ url = '/' }: Pick<IncomingMessage, 'url'>): URLSearchParams => {
  const start = url.indexOf('?')
  return new URLSearchParams(start < 0 ? '' : url.slice(start))
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
/**
 * A `+` is a space in a query, and no token has spaces: one that was pasted without escaping means
 * the plus.
 */
const tokenOfUrl = (request: IncomingMessage): string | undefined => queryOf(request).get('token')?.replaceAll(' ', '+')
const cookieName = ({ socket }: IncomingMessage): string => `quiesce-inspector-${socket.localPort}`

function cookieOf(request: IncomingMessage): string | undefined {
  const beginning = `${cookieName(request)}=`
  const cookies = (request.headers.cookie ?? '').split(';').map((cookie) => cookie.trim())
  return cookies.find((cookie) => cookie.startsWith(beginning))?.slice(beginning.length)
}

/** A client without an origin is no page. */
const isOwnOrigin = (origin: string | undefined, host: string | undefined): boolean =>
  origin === undefined || /^https?:\/\/(.*)$/i.exec(origin)?.[1] === host

function isAddressedDirectly(host: string | undefined): boolean {
  // HTTP/1.0 has none, and no browser.
  if (host === undefined) return true
  const name = host
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase()
  return isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost')
}

const shown = (host: string | undefined): string => JSON.stringify((host ?? '').slice(0, 100))
