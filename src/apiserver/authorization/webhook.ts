import type { Clock } from '../../base/clock.ts'
import { toError } from '../../base/errors.ts'
import { ATTEMPTS, backoffMs } from '../webhook/backoff.ts'
import { BYTES_MAX, isTaken, type Poster, RemoteClient } from '../webhook/client.ts'
import { remoteOf } from '../webhook/options.ts'
import type { AuthorizationAttributes, AuthorizationContext, Authorizer, AuthorizerWorld, Decision } from './authorizer.ts'
import { decisionOf, reviewOf, reviewSpec } from './subject-access-review.ts'
import { TtlCache } from './ttl-cache.ts'
import { type AuthorizationWebhookOptions, type ResolvedAuthorizationWebhook, resolveWebhook } from './webhook-options.ts'

/** @see kubernetes/apiserver plugin/pkg/authorizer/webhook/webhook.go newWithBackoff */
const ENTRIES_MAX = 8192
/**
 * Of what clients choose themselves. Longer questions are not kept, so that none fills the memory.
 * @see kubernetes/apiserver plugin/pkg/authorizer/webhook/webhook.go shouldCache
 */
const CHARACTERS_MAX = 10_000

/**
 * Asks another server, which is posted a SubjectAccessReview. What it has said is kept for a time:
 * 5 minutes for what it has allowed, 30 seconds for all else. A server that is overloaded, or
 * breaks off, is asked up to five times.
 * @throws QuiesceError ERR_OPTION_INVALID; one with files that cannot be used is a failed start
 * @see kubernetes/apiserver plugin/pkg/authorizer/webhook/webhook.go
 * @example
 * webhookAuthorizer({ kubeconfig: '/etc/authz/kubeconfig.yaml', failurePolicy: 'Deny' })
 */
export const webhookAuthorizer = (options: AuthorizationWebhookOptions): Authorizer => webhookFrom(resolveWebhook(options))

/** The same for options that are complete. */
export const webhookFrom = (settings: ResolvedAuthorizationWebhook): Authorizer =>
  new WebhookAuthorizer(settings, new RemoteClient(remoteOf(settings), settings.timeoutMs))

type Settings = Pick<
  ResolvedAuthorizationWebhook,
  'authorizedTtlMs' | 'unauthorizedTtlMs' | 'timeoutMs' | 'initialBackoffMs' | 'failurePolicy'
>

interface Opened {
  readonly world: AuthorizerWorld
  readonly cache: TtlCache<Decision>
}

/** What it is posted by is given for tests. */
export class WebhookAuthorizer implements Authorizer {
  readonly #settings: Settings
  readonly #client: Poster
  #opened: Opened | undefined

  constructor(settings: Settings, client: Poster) {
    this.#settings = settings
    this.#client = client
  }

  async open(world: AuthorizerWorld): Promise<void> {
    await this.#client.open(world.clock)
    this.#opened = { world, cache: new TtlCache(world.clock, ENTRIES_MAX) }
  }

  close(): void {
    this.#client.close()
  }

  authorize(asked: AuthorizationAttributes, { signal }: AuthorizationContext): Decision | Promise<Decision> {
    if (this.#opened === undefined) throw new Error('the webhook has not been opened')
    const spec = reviewSpec(asked)
    return this.#opened.cache.get(spec) ?? this.#ask(this.#opened, spec, isKept(asked), signal)
  }

  async #ask({ world, cache }: Opened, spec: string, isKept: boolean, signal: AbortSignal): Promise<Decision> {
    try {
      const decision = decisionOf(await this.#post(world, reviewOf(spec), signal))
      const { authorizedTtlMs, unauthorizedTtlMs } = this.#settings
      if (isKept) cache.set(spec, decision, decision.decision === 'allow' ? authorizedTtlMs : unauthorizedTtlMs)
      return decision
    } catch (thrown) {
      return { decision: this.#settings.failurePolicy === 'Deny' ? 'deny' : 'no-opinion', error: toError(thrown) }
    }
  }

  async #post({ clock, random }: AuthorizerWorld, body: string, signal: AbortSignal): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      const failure = await this.#attempt(clock, body, signal)
      if (typeof failure === 'string') return failure
      if (!failure.isTransient || attempt === ATTEMPTS) throw failure.error
      await sleep(clock, backoffMs(this.#settings.initialBackoffMs, attempt, random), signal)
    }
  }

  /** The answer's body, or why there is none. */
  async #attempt(clock: Clock, body: string, signal: AbortSignal): Promise<string | WebhookFailure> {
    const { timeoutMs } = this.#settings
    const timeout = new AbortController()
    const timer = clock.setTimeout(() => timeout.abort(new Error(`the webhook did not answer within ${timeoutMs / 1_000}s`)), timeoutMs)
    try {
      const { status, retryAfter, body: answer } = await this.#client.post(body, AbortSignal.any([timeout.signal, signal]))
      if (isTaken(status)) return answer ?? { error: new Error(`the answer is longer than ${BYTES_MAX} bytes`), isTransient: false }
      return { error: new Error(`the webhook answered ${status}`), isTransient: retryAfter !== undefined || TRANSIENT.has(status) }
    } catch (thrown) {
      const error = toError(thrown)
      return { error, isTransient: (error as NodeJS.ErrnoException).code === 'ECONNRESET' }
    } finally {
      clock.clearTimeout(timer)
    }
  }
}

interface WebhookFailure {
  readonly error: Error
  /** The next attempt may succeed. */
  readonly isTransient: boolean
}

/** @see kubernetes/apiserver pkg/util/webhook/webhook.go DefaultShouldRetry */
const TRANSIENT: ReadonlySet<number> = new Set([429, 500, 504])

/** Selectors are chosen as well, and stand in a question at many times their length. */
const isKept = ({ user: _, ...chosen }: AuthorizationAttributes): boolean => JSON.stringify(chosen).length < CHARACTERS_MAX

/** Rejects with the reason of the signal. */
function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => {
      clock.clearTimeout(timer)
      reject(toError(signal.reason))
    }
    const timer = clock.setTimeout(() => {
      signal.removeEventListener('abort', aborted)
      resolve()
    }, ms)
    if (signal.aborted) aborted()
    else signal.addEventListener('abort', aborted, { once: true })
  })
}
