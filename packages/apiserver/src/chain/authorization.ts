import type { ApiExchange } from '../api-exchange.ts'
import { AUDIT, addAuditAnnotation } from '../audit/request-audit.ts'
import { attributesOf } from '../authorization/attributes.ts'
import { AUTHORIZER, type AuthorizationAttributes, type Authorizer, askAuthorizer, type Decision } from '../authorization/authorizer.ts'
import { sendForbidden } from '../authorization/forbidden.ts'
import { type Clock, type EventLog, isThenable } from '../engine.ts'
import { sendInternalError } from '../internal-error.ts'
import type { RequestMetrics } from '../request-metrics.ts'
import { AUTHORIZER_FAILED, authorizerFailures } from './authorizer-failures.ts'
import type { ChainFilter, MadeFilter } from './filter.ts'
import { refuseGivenUp } from './given-up.ts'
import { TIME_IS_OVER } from './timeout.ts'

const DECISION = 'authorization.k8s.io/decision'
const REASON = 'authorization.k8s.io/reason'

/**
 * Lets pass what an authorizer allows, and nothing else: 403 for what it does not, 500 where it has
 * failed. Undefined without one: everything is allowed.
 * @see kubernetes/apiserver pkg/endpoints/filters/authorization.go WithAuthorization
 */
export const authorization = {
  name: 'authorization',
  part: 'inner',
  upstream: 'WithAuthorization',
  why: 'last, so that no filter behind it decides again',
  ends: [403, 500, 503],
  isTimed: true,
  make: (needs: AuthorizationNeeds) => needs.authorizer && filterOf(needs.authorizer, needs),
} as const satisfies ChainFilter<never>

export interface AuthorizationNeeds {
  /** Undefined: everything is allowed. */
  readonly authorizer: Authorizer | undefined
  readonly log: Pick<EventLog, 'writes' | 'debug' | 'error'>
  readonly metrics: RequestMetrics
  readonly clock: Clock
}

function filterOf(authorizer: Authorizer, { log, metrics, clock }: AuthorizationNeeds): MadeFilter {
  const sayFailed = authorizerFailures(clock, log)

  /** Decides about all of them, of which there is at least one: all have to be allowed. */
  const decide = (exchange: ApiExchange, all: readonly AuthorizationAttributes[], at = 0): boolean | Promise<boolean> => {
    const from = clock.now()
    const decision = askAuthorizer(authorizer, all[at] as AuthorizationAttributes, exchange.waiting)
    return isThenable(decision) ? decision.then((one) => goOn(exchange, all, at, from, one)) : goOn(exchange, all, at, from, decision)
  }
  const goOn = (
    exchange: ApiExchange,
    all: readonly AuthorizationAttributes[],
    at: number,
    from: number,
    decision: Decision,
  ): boolean | Promise<boolean> => {
    metrics.authorized(resultOf(decision), clock.now() - from)
    if (decision.decision !== 'allow') {
      if (decision.error && !TIME_IS_OVER.of(exchange)) sayFailed(exchange, decision.error)
      return refuse(exchange, all[at] as AuthorizationAttributes, decision, log)
    }
    if (at + 1 < all.length) return decide(exchange, all, at + 1)
    annotate(exchange, 'allow', decision.reason)
    return true
  }
  return {
    admit: (exchange) => {
      AUTHORIZER.set(exchange, authorizer)
      return decide(exchange, attributesOf(exchange))
    },
  }
}

/** @see kubernetes/apiserver pkg/endpoints/filters/metrics.go recordAuthorizationMetrics */
function resultOf({ decision, error }: Decision): Parameters<RequestMetrics['authorized']>[0] {
  if (decision === 'allow') return 'allowed'
  if (error !== undefined) return 'error'
  return decision === 'deny' ? 'denied' : decision
}

function refuse(
  exchange: ApiExchange,
  attributes: AuthorizationAttributes,
  { reason = '', error }: Decision,
  log: Pick<EventLog, 'writes' | 'debug'>,
): false {
  // It has been answered, and recorded, meanwhile.
  if (TIME_IS_OVER.of(exchange) || refuseGivenUp(exchange)) return false
  const { request } = exchange
  if (error !== undefined) {
    if (AUDIT.of(exchange)) addAuditAnnotation(request, REASON, 'internal error')
    sendInternalError(exchange, AUTHORIZER_FAILED)
    return false
  }
  if (log.writes('debug')) log.debug({ URI: request.url, why: reason }, 'Forbidden')
  annotate(exchange, 'forbid', reason)
  sendForbidden(exchange, attributes, reason)
  return false
}

/** Adds the decision to the audit event; without auditing there is none. */
function annotate(exchange: ApiExchange, decision: 'allow' | 'forbid', reason = ''): void {
  if (AUDIT.of(exchange) === undefined) return
  addAuditAnnotation(exchange.request, DECISION, decision)
  addAuditAnnotation(exchange.request, REASON, reason)
}
