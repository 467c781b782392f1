import type { ApiExchange } from '../api-exchange.ts'
import { AUDIT } from '../audit/request-audit.ts'
import type { Authenticator } from '../authentication/authenticator.ts'
import { attributesOf } from '../authorization/attributes.ts'
import { type Authorizer, askAuthorizer, type Decision } from '../authorization/authorizer.ts'
import { sendForbidden } from '../authorization/forbidden.ts'
import { type Clock, type EventLog, isThenable, toError } from '../engine.ts'
import { ImpersonationForbidden, impersonate } from '../impersonation/impersonate.ts'
import { IMPERSONATOR } from '../impersonation/impersonator.ts'
import { type WantedUser, wantedUser } from '../impersonation/wanted-user.ts'
import { sendInternalError } from '../internal-error.ts'
import { sendStatus } from '../status.ts'
import { AUTHORIZER_FAILED, authorizerFailures } from './authorizer-failures.ts'
import type { ChainFilter, MadeFilter } from './filter.ts'
import { refuseGivenUp } from './given-up.ts'
import { TIME_IS_OVER } from './timeout.ts'

/**
 * The authorizer without authorization: none is allowed to act as another, which is not left to
 * chance.
 */
const NONE_DECIDES: Authorizer = { authorize: () => ({ decision: 'no-opinion', reason: 'nothing is configured that could allow it' }) }

/**
 * Lets a request act as the user that its headers name, when its own user may do that: 403 when
 * not, 400 for headers that name none.
 * @see kubernetes/apiserver pkg/endpoints/filters/impersonation WithConstrainedImpersonation
 */
export const impersonation = {
  name: 'impersonation',
  part: 'inner',
  upstream: 'WithImpersonation',
  why: 'limits and permissions are those of the user acted as',
  ends: [400, 403, 500, 503],
  isTimed: true,
  make: (needs: ImpersonationNeeds) => (needs.authenticator || needs.authorizer ? filterOf(needs) : undefined),
} as const satisfies ChainFilter<never>

export interface ImpersonationNeeds {
  readonly authenticator: Authenticator | undefined
  readonly authorizer: Authorizer | undefined
  readonly log: Pick<EventLog, 'writes' | 'debug' | 'error'>
  readonly clock: Clock
}

function filterOf({ authorizer = NONE_DECIDES, log, clock }: ImpersonationNeeds): MadeFilter {
  const sayFailed = authorizerFailures(clock, log)
  /** A refusal says that something went wrong, and not what. */
  const withoutError = (exchange: ApiExchange, decision: Decision): Decision => {
    const { error, reason = '' } = decision
    if (error === undefined || decision.decision === 'allow') return decision
    sayFailed(exchange, error)
    return { decision: decision.decision, reason: [AUTHORIZER_FAILED, reason].filter((text) => text !== '').join(': ') }
  }
  const actAs = async (exchange: ApiExchange, wanted: WantedUser): Promise<boolean> => {
    const { user: requestor, request } = exchange
    if (requestor === undefined) {
      sendInternalError(exchange, 'no User found in the context')
      return false
    }
    try {
      const { user, constraint } = await impersonate(wanted, requestor, attributesOf(exchange), (attributes) => {
        const decision = askAuthorizer(authorizer, attributes, exchange.waiting)
        return isThenable(decision) ? decision.then((one) => withoutError(exchange, one)) : withoutError(exchange, decision)
      })
      IMPERSONATOR.set(exchange, requestor)
      exchange.user = user
      const audit = AUDIT.of(exchange)
      if (audit) audit.impersonationConstraint = constraint
      return true
    } catch (thrown) {
      if (!(thrown instanceof ImpersonationForbidden)) throw thrown
      // It has been answered, and recorded, meanwhile.
      if (TIME_IS_OVER.of(exchange) || refuseGivenUp(exchange)) return false
      if (log.writes('debug')) log.debug({ URI: request.url, why: thrown.reason }, 'Forbidden')
      sendForbidden(exchange, thrown.attributes, thrown.reason)
      return false
    }
  }
  return {
    admit: (exchange) => {
      let wanted: WantedUser | undefined
      try {
        wanted = wantedUser(exchange.request)
      } catch (thrown) {
        exchange.response.setHeader('X-Content-Type-Options', 'nosniff')
        sendStatus(exchange, { message: toError(thrown).message, reason: 'BadRequest', code: 400 })
        return false
      }
      return wanted === undefined || actAs(exchange, wanted)
    },
  }
}
