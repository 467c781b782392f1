import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { HttpBindings } from '@hono/node-server'
import type { Context, MiddlewareHandler } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import type { ContentfulStatusCode } from 'hono/utils/http-status'

/** Node's request and response, which stand behind those of Hono. */
export interface OnNode {
  readonly Bindings: HttpBindings
}

/** A refusal: a status and one line of text. */
export const problem = (c: Context, status: ContentfulStatusCode, text: string, headers?: Record<string, string>): Response =>
  c.text(`${text}\n`, status, headers)

/**
 * Lets in who may use the inspector. Without a token (on a loopback address): requests by an
 * address or as localhost, because a site that had its own name point here would ask by that name.
 * With a token: requests that bring it, in the URL of the first visit, in the cookie that this
 * visit is answered with, or as `Authorization: Bearer`.
 */
export const admission =
  (token: string | undefined): MiddlewareHandler<OnNode> =>
  async (c, next) => {
    const host = c.req.header('Host')
    if (token === undefined && !isAddressedDirectly(host))
      return problem(c, 421, `the inspector is not ${shown(host)}: ask for it by address or as localhost`)
    if (token !== undefined && !tokensOf(c).some((given) => given !== undefined && isSame(given, token)))
      return problem(c, 401, 'the inspector needs its token: open the URL that the log names, or add ?token=TOKEN')
    return next()
  }

/**
 * Turns a first visit's token into a cookie: from then on neither the address bar nor the history
 * has it.
 */
export const welcome =
  (token: string | undefined): MiddlewareHandler<OnNode> =>
  async (c, next) => {
    if (token === undefined || tokenOfUrl(c) === undefined) return next()
    setCookie(c, cookieName(c.env.incoming), token, { path: '/', httpOnly: true, sameSite: 'Strict' })
    return c.redirect(`./${c.req.path.slice(c.req.path.lastIndexOf('/') + 1)}`, 303)
  }

/**
 * Keeps out other sites, from everything but the pages themselves: links from elsewhere may lead
 * there.
 */
export const ownPagesOnly: MiddlewareHandler<OnNode> = async (c, next) => {
  const site = c.req.header('Sec-Fetch-Site')
  const isForeign = site !== undefined && site !== 'same-origin' && site !== 'none'
  if (isForeign || !isOwnOrigin(c.req.header('Origin'), c.req.header('Host')))
    return problem(c, 403, 'only for the pages of the inspector itself')
  return next()
}

/** The guard of what acts: a form of another site can send a POST, but no JSON. */
export const jsonOnly: MiddlewareHandler<OnNode> = async (c, next) => {
  const isJson = /^application\/json\b/i.test(c.req.header('Content-Type') ?? '')
  return isJson ? next() : problem(c, 415, 'Content-Type: application/json is needed')
}

export const newToken = (): string => randomBytes(24).toString('base64url')

/** Whether only this machine reaches an address. */
export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/i.test(host)

/** Wherever a request may have it. */
function tokensOf(c: Context<OnNode>): (string | undefined)[] {
  const [, bearer] = /^Bearer (.+)$/i.exec(c.req.header('Authorization') ?? '') ?? []
  return [tokenOfUrl(c), bearer, getCookie(c, cookieName(c.env.incoming))]
}

/**
 * A `+` is a space in a query, and no token has spaces: one that was pasted without escaping means
 * the plus.
 */
const tokenOfUrl = (c: Context): string | undefined => c.req.query('token')?.replaceAll(' ', '+')

/** Has the port: cookies do not know of ports by themselves. */
const cookieName = ({ socket }: IncomingMessage): string => `quiesce-inspector-${socket.localPort}`

/** Digests have the same length, and say nothing about how much of a guess was right. */
const isSame = (given: string, token: string): boolean => timingSafeEqual(digest(given), digest(token))
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

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
