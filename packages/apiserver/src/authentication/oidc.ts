import { readFile } from 'node:fs/promises'
import type { CompactVerifyGetKey, CompactVerifyResult, JSONWebKeySet, RemoteJWKSet } from 'jose'
import { type Clock, isRecord, QuiesceError, toError } from '../engine.ts'
import type { Authenticated, AuthenticationResult, AuthenticatorWorld, TokenAuthenticator } from './authenticator.ts'
import { checkClaims, claimsIn, type OidcClaims, userIn } from './oidc-claims.ts'
import { fetchTrusting, isHttps, type TrustedFetch } from './trusted-fetch.ts'

export interface OidcSettings extends OidcClaims {
  readonly signingAlgs: readonly string[]
  readonly caFile: string | undefined
  readonly jwksFile: string | undefined
}

type Jose = typeof import('jose')

/** The time in milliseconds for which the issuer is left alone after a failure. */
const AFTER_FAILURE_MS = 5_000
/**
 * The age in milliseconds from which the keys are asked for again, beside the requests that go on
 * with the old ones.
 */
const KEYS_MAX_AGE_MS = 600_000
/** Three parts in base64url. Go's reader takes no padding; that of `jose` does. */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]*$/
/**
 * The shortest time in milliseconds between two requests for keys because of a token with a key
 * that is not known.
 */
const UNKNOWN_KEY_MS = 10_000

/**
 * Tokens of an OpenID Connect issuer: signed with one of its keys, for our client id, valid now,
 * with every claim that is required. The keys come from a file, or from where the issuer's own
 * configuration says, which is asked for when the first token comes: an issuer that is not there is
 * no reason not to start. Tokens of other issuers are none of ours.
 * @see kubernetes/apiserver plugin/pkg/authenticator/token/oidc/oidc.go
 */
export class OidcTokens implements TokenAuthenticator {
  readonly #settings: OidcSettings
  #jose: Jose | undefined
  #clock: Clock | undefined
  #fetch: TrustedFetch | undefined
  #keys: CompactVerifyGetKey | undefined
  #remote: RemoteJWKSet | undefined
  #askedAt = 0
  #discovering: Promise<CompactVerifyGetKey> | undefined
  #failure: { readonly error: Error; readonly at: number } | undefined

  constructor(settings: OidcSettings) {
    this.#settings = settings
  }

  /** @throws QuiesceError ERR_OPTION_INVALID for a file that cannot be used */
  async open({ clock }: AuthenticatorWorld): Promise<void> {
    const { caFile, jwksFile } = this.#settings
    this.#clock = clock
    this.#jose = await import('jose')
    this.#fetch = fetchTrusting(caFile === undefined ? undefined : await textOf('caFile', caFile), clock)
    if (jwksFile !== undefined) this.#keys = this.#jose.createLocalJWKSet(keysIn(jwksFile, await textOf('jwksFile', jwksFile)))
  }

  authenticateToken(token: string): AuthenticationResult | Promise<AuthenticationResult> {
    return this.#issuerOf(token) === this.#settings.issuerUrl ? this.#verified(token) : undefined
  }

  /**
   * The issuer that a token names, of which nothing is proved yet; undefined for what is no JWT.
   */
  #issuerOf(token: string): unknown {
    if (!COMPACT.test(token)) return undefined
    try {
      return this.#jose?.decodeJwt(token).iss
    } catch {
      // A token of another kind.
      return undefined
    }
  }

  async #verified(token: string): Promise<Authenticated> {
    try {
      const algorithms = [...this.#settings.signingAlgs]
      const { payload } = await verify(this.#jose as Jose, token, await this.#currentKeys(), algorithms)
      const claims = claimsIn(payload)
      checkClaims(claims, this.#settings, (this.#clock as Clock).wall())
      return { user: userIn(claims, this.#settings) }
    } catch (thrown) {
      throw new Error(`oidc: ${toError(thrown).message}`, { cause: thrown })
    }
  }

  #currentKeys(): CompactVerifyGetKey | Promise<CompactVerifyGetKey> {
    const { now } = this.#clock as Clock
    if (this.#keys) {
      if (this.#remote && !this.#remote.reloading && now() - this.#askedAt > KEYS_MAX_AGE_MS) {
        this.#askedAt = now()
        // The old ones stay: that the issuer is away must not lock everyone out.
        this.#remote.reload().catch(() => {})
      }
      return this.#keys
    }
    if (this.#failure && now() - this.#failure.at < AFTER_FAILURE_MS) throw this.#failure.error
    this.#discovering ??= this.#discover().finally(() => {
      this.#discovering = undefined
    })
    return this.#discovering
  }

  async #discover(): Promise<CompactVerifyGetKey> {
    const { issuerUrl } = this.#settings
    const { now } = this.#clock as Clock
    const { createRemoteJWKSet, customFetch } = this.#jose as Jose
    const url = `${issuerUrl.replace(/\/$/, '')}/.well-known/openid-configuration`
    try {
      const answer = await this.#get(url)
      const { issuer, jwks_uri: jwksUri } = (await answer.json()) as { readonly issuer?: unknown; readonly jwks_uri?: unknown }
      if (issuer !== issuerUrl) throw new Error(`is the configuration of another issuer, ${JSON.stringify(issuer)}`)
      if (!isHttps(jwksUri)) throw new Error('has no https URL of keys (jwks_uri)')
      const options = { cacheMaxAge: Number.POSITIVE_INFINITY, cooldownDuration: UNKNOWN_KEY_MS, [customFetch]: this.#getSparingly }
      this.#remote = createRemoteJWKSet(new URL(jwksUri), options)
      this.#askedAt = now()
      this.#failure = undefined
      this.#keys = this.#remote
      return this.#keys
    } catch (thrown) {
      throw this.#failed(url, thrown)
    }
  }

  /** The fetch for the keys: each token of a key that is not known may ask for them. */
  readonly #getSparingly: TrustedFetch = async (url, init) => {
    if (this.#failure && (this.#clock as Clock).now() - this.#failure.at < AFTER_FAILURE_MS) throw this.#failure.error
    try {
      return await this.#get(url, init)
    } catch (thrown) {
      throw this.#failed(url, thrown)
    }
  }

  readonly #get: TrustedFetch = async (url, init) => {
    const answer = await (this.#fetch as TrustedFetch)(url, init)
    if (answer.status !== 200) throw new Error(`answered ${answer.status}`)
    return answer
  }

  #failed(url: string, thrown: unknown): Error {
    const error = new Error(`${url}: ${toError(thrown).message}`, { cause: thrown })
    this.#failure = { error, at: (this.#clock as Clock).now() }
    return error
  }
}

/** A token that does not name its key may be signed with any of those that are of its kind. */
async function verify(
  { compactVerify, errors: { JWKSMultipleMatchingKeys, JWSSignatureVerificationFailed } }: Jose,
  token: string,
  keys: CompactVerifyGetKey,
  algorithms: string[],
): Promise<CompactVerifyResult> {
  try {
    return await compactVerify(token, keys, { algorithms })
  } catch (several) {
    if (!(several instanceof JWKSMultipleMatchingKeys)) throw several
    for await (const key of several) {
      try {
        return await compactVerify(token, key, { algorithms })
      } catch (thrown) {
        if (!(thrown instanceof JWSSignatureVerificationFailed)) throw thrown
      }
    }
    throw new JWSSignatureVerificationFailed()
  }
}

const invalid = (field: string, file: string, reason: string, cause?: unknown): QuiesceError =>
  new QuiesceError('ERR_OPTION_INVALID', `oidc.${field}: ${file}: ${reason}`, { field: `oidc.${field}`, given: file }, cause)

async function textOf(field: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (thrown) {
    throw invalid(field, file, `cannot be read (${toError(thrown).message})`, thrown)
  }
}

function keysIn(file: string, text: string): JSONWebKeySet {
  try {
    const given: unknown = JSON.parse(text)
    if (isRecord(given) && Array.isArray(given['keys']) && given['keys'].length > 0) return given as unknown as JSONWebKeySet
  } catch (thrown) {
    throw invalid('jwksFile', file, `is not JSON (${toError(thrown).message})`, thrown)
  }
  throw invalid('jwksFile', file, 'is not a key set: { "keys": [...] } with at least one key')
}
