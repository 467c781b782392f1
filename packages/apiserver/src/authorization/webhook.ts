import { checkArguments, toError } from '../engine.ts'
import { Asking } from '../webhook/asking.ts'
import { type Poster, RemoteClient } from '../webhook/client.ts'
import { remoteOf } from '../webhook/options.ts'
import type { AuthorizationAttributes, AuthorizationContext, Authorizer, AuthorizerWorld, Decision } from './authorizer.ts'
import { decisionOf, reviewOf, reviewSpec } from './subject-access-review.ts'
import { TtlCache } from './ttl-cache.ts'
import { type AuthorizationWebhookOptions, type ResolvedAuthorizationWebhook, resolveWebhook } from './webhook-options.ts'

/** @see kubernetes/apiserver plugin/pkg/authorizer/webhook/webhook.go newWithBackoff */
const ENTRIES_MAX = 8192
/**
 * The most characters of a question of what clients choose themselves. Longer questions are not
 * kept, so that none fills the memory.
 * @see kubernetes/apiserver plugin/pkg/authorizer/webhook/webhook.go shouldCache
 */
const CHARACTERS_MAX = 10_000

/**
 * Asks another server, which is posted a SubjectAccessReview. What it has said is kept for a time:
 * 5 minutes for what it has allowed, 30 seconds for all else. A server that is overloaded, or
 * resets the connection, is asked up to five times.
 * @throws QuiesceError ERR_OPTION_INVALID; one with files that cannot be used is a failed start
 * @see kubernetes/apiserver plugin/pkg/authorizer/webhook/webhook.go
 * @example
 * webhookAuthorizer({ kubeconfig: '/etc/authz/kubeconfig.yaml', failurePolicy: 'Deny' })
 */
export function webhookAuthorizer(options: AuthorizationWebhookOptions): Authorizer {
  checkArguments('webhookAuthorizer(options)', [options, 'an object of options'])
  return webhookFrom(resolveWebhook(options))
}

/** The same for options that are complete. */
export function webhookFrom(settings: ResolvedAuthorizationWebhook): Authorizer {
  const complete = settingsOf(settings)
  const path = settings.apiServer === undefined ? '' : REVIEWS
  return new WebhookAuthorizer(complete, new RemoteClient(remoteOf(settings), complete.timeoutMs, path))
}

const REVIEWS = '/apis/authorization.k8s.io/v1/subjectaccessreviews'

interface Settings extends Pick<ResolvedAuthorizationWebhook, 'initialBackoffMs' | 'failurePolicy'> {
  readonly authorizedTtlMs: number
  readonly unauthorizedTtlMs: number
  readonly timeoutMs: number
}

/**
 * A kube-apiserver is asked more often, and not waited for as long.
 * @see kubernetes/apiserver pkg/server/options/authorization.go NewDelegatingAuthorizationOptions
 */
export function settingsOf(given: ResolvedAuthorizationWebhook): Settings {
  const [authorized, unauthorized, timeout] = given.apiServer === undefined ? [300_000, 30_000, 30_000] : [10_000, 10_000, 10_000]
  const { authorizedTtlMs = authorized, unauthorizedTtlMs = unauthorized, timeoutMs = timeout } = given
  return { ...given, authorizedTtlMs, unauthorizedTtlMs, timeoutMs }
}

/** What it is posted by is given for tests. */
export class WebhookAuthorizer implements Authorizer {
  readonly name = 'kubernetes.io/webhook'
  readonly #settings: Settings
  readonly #asking: Asking
  #cache: TtlCache<Decision> | undefined

  constructor(settings: Settings, client: Poster) {
    this.#settings = settings
    this.#asking = new Asking(client, settings)
  }

  async open(world: AuthorizerWorld): Promise<void> {
    await this.#asking.open(world)
    this.#cache = new TtlCache(world.clock, ENTRIES_MAX)
  }

  close(): void {
    this.#asking.close()
  }

  authorize(asked: AuthorizationAttributes, { signal }: AuthorizationContext): Decision | Promise<Decision> {
    if (this.#cache === undefined) throw new Error('the webhook cannot be asked before the server has started')
    const spec = reviewSpec(asked)
    return this.#cache.get(spec) ?? this.#ask(this.#cache, spec, isKept(asked), signal)
  }

  async #ask(cache: TtlCache<Decision>, spec: string, isKept: boolean, signal: AbortSignal): Promise<Decision> {
    try {
      const decision = decisionOf(await this.#asking.ask(reviewOf(spec), signal))
      const { authorizedTtlMs, unauthorizedTtlMs } = this.#settings
      if (isKept) cache.set(spec, decision, decision.decision === 'allow' ? authorizedTtlMs : unauthorizedTtlMs)
      return decision
    } catch (thrown) {
      return { decision: this.#settings.failurePolicy === 'Deny' ? 'deny' : 'no-opinion', error: toError(thrown) }
    }
  }
}

/** Selectors are chosen as well, and stand in a question at many times their length. */
const isKept = ({ user: _, ...chosen }: AuthorizationAttributes): boolean => JSON.stringify(chosen).length < CHARACTERS_MAX
