import { createHmac, randomBytes } from 'node:crypto'
import { TtlCache } from '../authorization/ttl-cache.ts'
import type { AuthenticationContext, AuthenticationResult, AuthenticatorWorld, TokenAuthenticator } from './authenticator.ts'
import { knownUser } from './group-adder.ts'
import { fixed } from './user.ts'

/** @see kubernetes/apiserver pkg/authentication/token/cache/cached_token_authenticator.go */
const ENTRIES_MAX = 32_768
const LOOKUP_MS = 30_000
/** Tokens that are looked up at a time: who sends them has not been found out yet. */
const LOOKUPS_MAX = 400

/**
 * Remembers for a time whose a token is, or that it is that of none. The same token is looked up
 * once at a time, for all requests that bring it; failures are not remembered. Tokens are not kept:
 * what they are found by is a keyed hash.
 */
export class CachedTokens implements TokenAuthenticator {
  readonly #tokens: TokenAuthenticator
  readonly #ttlMs: number
  readonly #key = randomBytes(32)
  readonly #lookups = new Map<string, Promise<AuthenticationResult>>()
  #world: AuthenticatorWorld | undefined
  #cache: TtlCache<{ readonly result: AuthenticationResult }> | undefined

  /** @param ttlMs 0: nothing is remembered */
  constructor(tokens: TokenAuthenticator, ttlMs: number) {
    this.#tokens = tokens
    this.#ttlMs = ttlMs
  }

  async open(world: AuthenticatorWorld): Promise<void> {
    await this.#tokens.open?.(world)
    this.#world = world
    this.#cache = new TtlCache(world.clock, ENTRIES_MAX)
  }

  close(): void {
    this.#tokens.close?.()
  }

  authenticateToken(token: string, context: AuthenticationContext): AuthenticationResult | Promise<AuthenticationResult> {
    const key = createHmac('sha256', this.#key).update(token).digest('base64')
    const cached = this.#cache?.get(key)
    if (cached) return cached.result
    const underWay = this.#lookups.get(key)
    if (underWay) return unlessGone(underWay, context.signal)
    if (this.#lookups.size >= LOOKUPS_MAX)
      throw new Error(`${LOOKUPS_MAX} tokens are being looked up already, and no more are allowed at a time`)
    const lookup = this.#lookUp(key, token, context).finally(() => this.#lookups.delete(key))
    this.#lookups.set(key, lookup)
    return unlessGone(lookup, context.signal)
  }

  /**
   * Looks a token up, and goes on without the request that it was begun for: others may wait for
   * it.
   */
  async #lookUp(key: string, token: string, { info }: AuthenticationContext): Promise<AuthenticationResult> {
    if (this.#world === undefined) throw new Error('the webhook cannot be asked before the server has started')
    const { clock } = this.#world
    const late = new AbortController()
    const timer = clock.setTimeout(() => late.abort(new Error(`a token was not looked up within ${LOOKUP_MS / 1_000}s`)), LOOKUP_MS)
    try {
      const found = await this.#tokens.authenticateToken(token, { info, signal: late.signal })
      const result = found && { ...found, user: fixed(knownUser(found.user)) }
      this.#cache?.set(key, { result }, this.#ttlMs)
      return result
    } finally {
      clock.clearTimeout(timer)
    }
  }
}

function unlessGone(lookup: Promise<AuthenticationResult>, signal: AbortSignal): Promise<AuthenticationResult> {
  return new Promise((resolve, reject) => {
    const gone = (): void => reject(signal.reason as Error)
    signal.addEventListener('abort', gone, { once: true })
    if (signal.aborted) gone()
    lookup.finally(() => signal.removeEventListener('abort', gone)).then(resolve, reject)
  })
}
