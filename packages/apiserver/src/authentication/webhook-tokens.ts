import { Asking } from '../webhook/asking.ts'
import { type Poster, RemoteClient } from '../webhook/client.ts'
import { remoteOf } from '../webhook/options.ts'
import type { AuthenticationContext, AuthenticationResult, AuthenticatorWorld, TokenAuthenticator } from './authenticator.ts'
import { CachedTokens } from './cached-tokens.ts'
import { type TokenReviewVersion, tokenReview, userOfReview } from './token-review.ts'
import type { ResolvedTokenWebhook } from './webhook-options.ts'

const REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews'

export interface TokenWebhookSettings extends Pick<ResolvedTokenWebhook, 'initialBackoffMs'> {
  readonly version: TokenReviewVersion
  readonly cacheTtlMs: number
  readonly timeoutMs: number
}

/**
 * A kube-apiserver is asked more often, in the version that all of them have, and not waited for as
 * long.
 * @see kubernetes/apiserver pkg/server/options/authentication.go NewDelegatingAuthenticationOptions
 */
export function tokenWebhookSettings(given: ResolvedTokenWebhook): TokenWebhookSettings {
  const [ttl, timeout] = given.apiServer === undefined ? [120_000, 30_000] : [10_000, 10_000]
  const { cacheTtlMs = ttl, timeoutMs = timeout, version, initialBackoffMs } = given
  return { initialBackoffMs, cacheTtlMs, timeoutMs, version: given.apiServer === undefined ? version : 'v1' }
}

/**
 * Tokens that another server knows, which is posted a TokenReview for each, and remembers for a
 * time.
 * @param audiences who the server is
 */
export function webhookTokensFrom(given: ResolvedTokenWebhook, audiences: readonly string[]): TokenAuthenticator {
  const settings = tokenWebhookSettings(given)
  const client = new RemoteClient(remoteOf(given), settings.timeoutMs, given.apiServer === undefined ? '' : REVIEWS)
  return new CachedTokens(new WebhookTokens(settings, audiences, client), settings.cacheTtlMs)
}

/** What it is posted by is given for tests. */
export class WebhookTokens implements TokenAuthenticator {
  readonly #version: TokenReviewVersion
  readonly #audiences: readonly string[]
  readonly #asking: Asking

  constructor(settings: TokenWebhookSettings, audiences: readonly string[], client: Poster) {
    this.#version = settings.version
    this.#audiences = audiences
    this.#asking = new Asking(client, settings)
  }

  open({ clock, random }: AuthenticatorWorld): Promise<void> {
    return this.#asking.open({ clock, random })
  }

  close(): void {
    this.#asking.close()
  }

  async authenticateToken(token: string, { signal }: AuthenticationContext): Promise<AuthenticationResult> {
    const answer = await this.#asking.ask(tokenReview(this.#version, token, this.#audiences), signal, token)
    return userOfReview(answer, this.#version, token, this.#audiences)
  }
}
