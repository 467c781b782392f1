import { choice, defineOptions, duration, fields, option, Problems, type ResolvedOf, resolveOptions, type UserOptions } from '../engine.ts'
import { API_SERVER_OR_REMOTE_ALLOWED, apiServerOption, remoteOptions, wrongRemote } from '../webhook/options.ts'

/** What is said when the server cannot be asked. */
export const FAILURE_POLICIES = ['NoOpinion', 'Deny'] as const

export const AUTHORIZATION_WEBHOOK_OPTIONS = defineOptions({
  ...remoteOptions('authorization-webhook-config-file', 'questions'),
  /**
   * The API server that answers, in place of `kubeconfig`. `in-cluster` is the API server of the
   * pod.
   */
  apiServer: apiServerOption('authorization-kubeconfig', 'what its users may do'),
  /** Time for which what was allowed is not asked again; 0 is always. */
  authorizedTtl: option(duration(), {
    flag: 'authorization-webhook-cache-authorized-ttl',
    defaultWords: '5m, and 10s of a kube-apiserver',
    meaning: 'Time that the answer "allowed" is kept',
    turnsOn: false,
    upstream: '--authorization-webhook-cache-authorized-ttl',
  }),
  /** The same for what was not. */
  unauthorizedTtl: option(duration(), {
    flag: 'authorization-webhook-cache-unauthorized-ttl',
    defaultWords: '30s, and 10s of a kube-apiserver',
    meaning: 'Time that any other answer is kept',
    turnsOn: false,
    upstream: '--authorization-webhook-cache-unauthorized-ttl',
  }),
  /** Time of one attempt. The request's own deadline bounds all of them. */
  timeout: option(duration('1ms'), { defaultWords: '30s, and 10s of a kube-apiserver', meaning: 'Time for one attempt to ask the server' }),
  /** Time before the second of five attempts; it grows with each. */
  initialBackoff: option(duration('1ms'), { default: '500ms', meaning: 'Time before a failed request to the server is repeated' }),
  /**
   * What it means when the server cannot be asked: `NoOpinion` has the next authorizer asked, and
   * is answered 500 behind the last; `Deny` is answered 500 at once.
   */
  failurePolicy: option(choice(...FAILURE_POLICIES), { default: 'NoOpinion', meaning: 'What happens when the server cannot be asked' }),
})

/** A server that is asked with SubjectAccessReviews. */
export interface AuthorizationWebhookOptions extends UserOptions<typeof AUTHORIZATION_WEBHOOK_OPTIONS> {}
export type ResolvedAuthorizationWebhook = ResolvedOf<typeof AUTHORIZATION_WEBHOOK_OPTIONS>

export const AUTHORIZATION_WEBHOOK = fields(AUTHORIZATION_WEBHOOK_OPTIONS, { allowed: API_SERVER_OR_REMOTE_ALLOWED, together: wrongRemote })

const TABLE = { webhookAuthorizer: option(AUTHORIZATION_WEBHOOK, { defaultWords: 'none', meaning: 'A server that is asked' }) }

/** @throws QuiesceError ERR_OPTION_INVALID */
export function resolveWebhook(given: AuthorizationWebhookOptions): ResolvedAuthorizationWebhook {
  const problems = new Problems(TABLE)
  problems.checkEach({ webhookAuthorizer: given })
  problems.throwIfAny()
  return resolveOptions(AUTHORIZATION_WEBHOOK_OPTIONS, given)
}
