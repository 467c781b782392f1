import type { ApiExchange } from '../api-exchange.ts'
import type { RecordFailure } from '../audit/auditing.ts'
import { recordFailedAuthentication } from '../audit/failed-authentication.ts'
import { ALL_UNAUTHENTICATED, ANONYMOUS } from '../authentication/anonymous.ts'
import type { AuthenticationContext, AuthenticationResult, Authenticator } from '../authentication/authenticator.ts'
import { occurrences, takeCredentials } from '../authentication/credential-headers.ts'
import { type FrontProxyHeaders, isOfFrontProxy } from '../authentication/front-proxy.ts'
import type { UserInfo } from '../authentication/user.ts'
import { type Clock, type EventLog, formatDuration, isThenable, lineASecond, toError } from '../engine.ts'
import type { RequestInfo } from '../request/request-info.ts'
import type { RequestMetrics } from '../request-metrics.ts'
import { sendStatus } from '../status.ts'
import type { ChainFilter, MadeFilter } from './filter.ts'
import { refuseGivenUp } from './given-up.ts'
import { TIME_IS_OVER } from './timeout.ts'

/**
 * Finds out who sends a request: 401 when that is not known. Undefined without an authenticator:
 * nothing is asked.
 * @see kubernetes/apiserver pkg/endpoints/filters/authentication.go WithAuthentication
 */
export const authentication = {
  name: 'authentication',
  part: 'inner',
  upstream: 'WithAuthentication, WithFailedAuthenticationAudit',
  why: 'what is recorded and decided needs a user',
  ends: [401, 503],
  isTimed: true,
  make: (needs: AuthenticationNeeds) => (needs.authenticator === undefined ? undefined : filterOf(needs.authenticator, needs)),
} as const satisfies ChainFilter<never>

export interface AuthenticationNeeds {
  /** Undefined: it is not asked who sends a request. */
  readonly authenticator: Authenticator | undefined
  readonly clock: Clock
  readonly log: Pick<EventLog, 'error'>
  /** Undefined: nothing is audited. */
  readonly auditing: { readonly recordFailure: RecordFailure } | undefined
  /** What a proxy in front may have said, in headers of its own; undefined: none does. */
  readonly clientCas: { readonly frontProxy: { readonly headers: () => FrontProxyHeaders } | undefined }
  readonly metrics: Pick<RequestMetrics, 'authenticated'>
  readonly config: {
    readonly authenticationTimeoutMs: number
    /** Who the server is; empty: credentials for any are taken. */
    readonly apiAudiences: readonly string[]
  }
}

function filterOf(authenticator: Authenticator, { clock, log, auditing, clientCas, metrics, config }: AuthenticationNeeds): MadeFilter {
  const { authenticationTimeoutMs, apiAudiences: audiences } = config
  const recordFailure = auditing?.recordFailure
  const frontProxyHeaders = clientCas.frontProxy?.headers
  const sayFailed = lineASecond(clock, (error: Error, times) =>
    log.error({ err: { message: error.message }, ...(times > 1 && { times }) }, 'Unable to authenticate the request'),
  )

  const refuse = (exchange: ApiExchange, startedAt: number, error?: Error): false => {
    metrics.authenticated(error === undefined ? 'failure' : 'error', clock.now() - startedAt)
    // It has been answered, and recorded, meanwhile.
    if (TIME_IS_OVER.of(exchange) || refuseGivenUp(exchange)) return false
    if (error !== undefined) sayFailed(error)
    if (isHttp2(exchange)) exchange.response.setHeader('Connection', 'close')
    if (recordFailure) recordFailedAuthentication(exchange, UNAUTHORIZED, recordFailure)
    sendStatus(exchange, UNAUTHORIZED)
    return false
  }
  const settle = (exchange: ApiExchange, startedAt: number, result: AuthenticationResult): boolean => {
    if (result === undefined) return refuse(exchange, startedAt)
    const { user, audiences: meant = [] } = result
    if (audiences.length > 0 && meant.length > 0 && !meant.some((each) => audiences.includes(each)))
      return refuse(exchange, startedAt, new Error(`unable to match the audience: ${meant.join(', ')}, accepted: ${audiences.join(', ')}`))
    takeCredentials(exchange.request, frontProxyHeaders && isOfFrontProxy(frontProxyHeaders()))
    // One connection of HTTP/2 is many requests: who is not known is told to come anew.
    if (isHttp2(exchange) && isAnonymous(user)) exchange.response.setHeader('Connection', 'close')
    exchange.user = user
    metrics.authenticated('success', clock.now() - startedAt, user.name)
    return true
  }
  return {
    admit: (exchange) => {
      const startedAt = clock.now()
      // Another program may have looked at the other one (V41).
      if (exchange.request.headers.authorization !== undefined && occurrences(exchange.request, 'authorization') > 1)
        return refuse(exchange, startedAt, new Error('more than one Authorization header'))
      const attempt = new Attempt(exchange)
      let result: AuthenticationResult | PromiseLike<AuthenticationResult>
      try {
        result = authenticator.authenticate(exchange.request, attempt)
      } catch (thrown) {
        return refuse(exchange, startedAt, toError(thrown))
      }
      if (!isThenable(result)) return settle(exchange, startedAt, result)
      return attempt.within(result, authenticationTimeoutMs, clock).then(
        (known) => settle(exchange, startedAt, known),
        (thrown: unknown) => refuse(exchange, startedAt, toError(thrown)),
      )
    },
  }
}

const UNAUTHORIZED = { message: 'Unauthorized', reason: 'Unauthorized', code: 401 }

/** @see kubernetes/apiserver pkg/endpoints/filters/authentication.go isAnonymousUser */
const isAnonymous = ({ name, groups }: UserInfo): boolean => name === ANONYMOUS || groups.includes(ALL_UNAUTHENTICATED)

const isHttp2 = ({ request }: ApiExchange): boolean => request.httpVersionMajor === 2

/** One request, while it is asked who sends it. A signal is made for those that want one. */
class Attempt implements AuthenticationContext {
  readonly #exchange: ApiExchange
  #controller: AbortController | undefined
  #signal: AbortSignal | undefined

  constructor(exchange: ApiExchange) {
    this.#exchange = exchange
  }

  get info(): RequestInfo {
    return this.#exchange.info
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    this.#signal ??= AbortSignal.any([this.#exchange.waiting.signal, this.#controller.signal])
    return this.#signal
  }

  /** Rejects when it takes longer, or the request is not waited for any more. */
  within(result: PromiseLike<AuthenticationResult>, ms: number, clock: Clock): Promise<AuthenticationResult> {
    return new Promise<AuthenticationResult>((resolve, reject) => {
      const timer = clock.setTimeout(() => {
        const error = new Error(`authentication timed out after ${formatDuration(ms)}`)
        reject(error)
        this.#controller?.abort(error)
      }, ms)
      Promise.resolve(result)
        .finally(() => clock.clearTimeout(timer))
        .then(resolve, reject)
    })
  }
}
