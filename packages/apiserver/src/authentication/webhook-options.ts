import { choice, defineOptions, duration, fields, type Needs, onOff, option, type ResolvedOf, type UserOptions } from '../engine.ts'
import { API_SERVER_OR_REMOTE_ALLOWED, apiServerOption, remoteOptions, wrongRemote } from '../webhook/options.ts'
import { TOKEN_REVIEW_VERSIONS } from './token-review.ts'

const ofLookup: Needs = { anyOf: ['apiServer'], otherwise: 'without effect', because: 'they are looked up with apiServer only' }

export const TOKEN_WEBHOOK_OPTIONS = defineOptions({
  ...remoteOptions('authentication-token-webhook-config-file', 'tokens'),
  /**
   * The API server that answers, in place of `kubeconfig`. `in-cluster` is the API server of the
   * pod. How it knows its clients, and proxies in front, is read there, too, where this server is
   * not told so.
   */
  apiServer: apiServerOption('authentication-kubeconfig', 'whose a token is'),
  /** The version of the TokenReviews that are posted; of a kube-apiserver `v1`. */
  version: option(choice(...TOKEN_REVIEW_VERSIONS), {
    flag: 'authentication-token-webhook-version',
    default: 'v1',
    turnsOn: false,
    meaning: 'Version of the TokenReviews that are posted',
    upstream: '--authentication-token-webhook-version',
  }),
  /** Time for which a token is not looked up again; 0 is always. */
  cacheTtl: option(duration(), {
    flag: 'authentication-token-webhook-cache-ttl',
    defaultWords: '2m, and 10s of a kube-apiserver',
    meaning: 'Time that an answer about a token is kept',
    turnsOn: false,
    upstream: '--authentication-token-webhook-cache-ttl',
  }),
  /** Time of one attempt. `authenticationTimeout` bounds all of them. */
  timeout: option(duration('1ms'), {
    defaultWords: '30s, and 10s of a kube-apiserver',
    meaning: 'Time for one attempt to look up a token',
  }),
  /** Time before the second of five attempts; it grows with each. */
  initialBackoff: option(duration('1ms'), { default: '500ms', meaning: 'Time before a failed request to the server is repeated' }),
  /** Whether a kube-apiserver is not asked for its client CA and its front proxy. */
  skipLookup: option(onOff(), {
    flag: 'authentication-skip-lookup',
    default: false,
    turnsOn: false,
    meaning: 'Do not look up the client CA and the front proxy of the kube-apiserver',
    upstream: '--authentication-skip-lookup',
    needs: ofLookup,
  }),
  /** Whether the start goes on when that fails; it is tried again about once a minute. */
  tolerateLookupFailure: option(onOff(), {
    flag: 'authentication-tolerate-lookup-failure',
    default: false,
    turnsOn: false,
    meaning: 'Whether the server starts when these cannot be looked up',
    upstream: '--authentication-tolerate-lookup-failure',
    needs: ofLookup,
  }),
})

/** A server that knows whose a token is. */
export interface AuthenticationWebhookOptions extends UserOptions<typeof TOKEN_WEBHOOK_OPTIONS> {}
export type ResolvedTokenWebhook = ResolvedOf<typeof TOKEN_WEBHOOK_OPTIONS>

export const AUTHENTICATION_WEBHOOK = fields(TOKEN_WEBHOOK_OPTIONS, { allowed: API_SERVER_OR_REMOTE_ALLOWED, together: wrongRemote })
