import { checkArguments, isThenable, withFields } from '../engine.ts'
import {
  type AuthorizationAttributes,
  type AuthorizationContext,
  type Authorizer,
  type AuthorizerWorld,
  askAuthorizer,
  type Decision,
  rulesOf,
} from './authorizer.ts'

const AN_AUTHORIZER = withFields('an object with authorize(attributes, context)', 'authorize')

/**
 * Several authorizers as one, asked in order: the first that allows or denies has decided, also
 * when it reports an error. When none has an opinion, the union has none; its reason and its error
 * are those of all, a reason behind the name of its authorizer, where that has one.
 * @see kubernetes/apiserver pkg/authorization/union/union.go
 * @example
 * unionAuthorizer(privilegedGroups('system:masters'), rbacFile('rbac.yaml'))
 */
export function unionAuthorizer(...authorizers: readonly Authorizer[]): Authorizer {
  checkArguments('unionAuthorizer(...authorizers)', [authorizers, AN_AUTHORIZER])
  const [only, ...others] = authorizers
  if (only !== undefined && others.length === 0) return only

  const ask = (
    attributes: AuthorizationAttributes,
    context: AuthorizationContext,
    from: number,
    before: readonly Decision[],
  ): Decision | Promise<Decision> => {
    let soFar = before
    for (let at = from; at < authorizers.length; at++) {
      const authorizer = authorizers[at] as Authorizer
      const decision = askAuthorizer(authorizer, attributes, context)
      if (isThenable(decision)) {
        const asked = soFar
        return decision.then((one) => (hasDecided(one) ? one : ask(attributes, context, at + 1, noted(asked, one, authorizer))))
      }
      if (hasDecided(decision)) return decision
      soFar = noted(soFar, decision, authorizer)
    }
    return noneOf(soFar)
  }
  return {
    authorize: (attributes, context) => ask(attributes, context, 0, NONE),
    rulesFor: (user, namespace) => {
      const all = authorizers.map((each) => rulesOf(each, user, namespace))
      return {
        resourceRules: all.flatMap(({ resourceRules }) => resourceRules),
        nonResourceRules: all.flatMap(({ nonResourceRules }) => nonResourceRules),
        incomplete: all.flatMap(({ incomplete }) => incomplete),
      }
    },
    open: (world) => openAll(authorizers, world),
    close: () => {
      for (const authorizer of authorizers) authorizer.close?.()
    },
  }
}

const NONE: readonly Decision[] = []

const hasDecided = ({ decision }: Decision): boolean => decision !== 'no-opinion'

/** Few say anything: no list is made for those that do not. */
function noted(before: readonly Decision[], decision: Decision, { name }: Authorizer): readonly Decision[] {
  const { reason = '', error } = decision
  if (reason === '' && error === undefined) return before
  return [...before, name && reason ? { ...decision, reason: `${name}: ${reason}` } : decision]
}

function noneOf(before: readonly Decision[]): Decision {
  const reasons = before.map(({ reason = '' }) => reason).filter((reason) => reason !== '')
  const errors = before.flatMap(({ error = [] }) => error)
  return {
    decision: 'no-opinion',
    ...(reasons.length > 0 && { reason: reasons.join('\n') }),
    ...(errors.length > 0 && { error: aggregate(errors) }),
  }
}

/** @see kubernetes/apimachinery pkg/util/errors/errors.go aggregate.Error */
function aggregate(errors: readonly Error[]): Error {
  const [first, ...others] = new Set(errors.map(({ message }) => message))
  return new AggregateError(errors, others.length === 0 ? first : `[${[first, ...others].join(', ')}]`)
}

/** Opens all; when one fails, the others are closed. */
async function openAll(authorizers: readonly Authorizer[], world: AuthorizerWorld): Promise<void> {
  const opened: Authorizer[] = []
  try {
    for (const authorizer of authorizers) {
      await authorizer.open?.(world)
      opened.push(authorizer)
    }
  } catch (thrown) {
    for (const authorizer of opened) authorizer.close?.()
    throw thrown
  }
}
