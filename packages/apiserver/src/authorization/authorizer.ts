import type { UserInfo } from '../authentication/user.ts'
import { type Clock, isRecord, isThenable, show, toError } from '../engine.ts'
import { Slot } from '../request/slots.ts'

/** One condition of a selector. A field has `In` and `NotIn` only. */
export interface SelectorRequirement {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  /** Empty for `Exists` and `DoesNotExist`. */
  readonly values: readonly string[]
}

/** Who decides about a request; undefined: everything is allowed. */
export const AUTHORIZER = new Slot<Authorizer | undefined>(undefined)

/**
 * Who wants to do what. Of a request for no resource only user, verb and path count, and what is
 * about the resource is empty.
 * @see kubernetes/apiserver pkg/authorization/authorizer/interfaces.go Attributes
 */
export interface AuthorizationAttributes {
  /** Undefined without authentication. */
  readonly user: UserInfo | undefined
  /** `get`, `list`, `watch`, …; for no resource the method in lower case. */
  readonly verb: string
  readonly isResourceRequest: boolean
  /** Percent-decoded. */
  readonly path: string
  /** Empty for the legacy group. */
  readonly apiGroup: string
  readonly apiVersion: string
  /** Empty at the scope of the cluster. */
  readonly namespace: string
  readonly resource: string
  readonly subresource: string
  /** Empty for all, and for what has none yet. */
  readonly name: string
  /**
   * The selector to which a request for several objects is narrowed, as far as it can be read; what
   * cannot is left out. Undefined when there is none.
   */
  readonly fieldSelector?: readonly SelectorRequirement[] | undefined
  readonly labelSelector?: readonly SelectorRequirement[] | undefined
}

/**
 * What an authorizer says. `allow` and `deny` are the end of it; with `no-opinion` the next
 * authorizer is asked, and behind the last one it is a refusal.
 */
export interface Decision {
  readonly decision: 'allow' | 'deny' | 'no-opinion'
  /** The reason for people: the client of a refused request is told, and the audit of any. */
  readonly reason?: string | undefined
  /**
   * What went wrong on the way. What is allowed all the same is allowed; what is not is answered
   * 500, because it is not known whether it had been.
   */
  readonly error?: Error | undefined
}

/** The context of the request that is decided about. */
export interface AuthorizationContext {
  /** Aborted when its answer is not awaited any more. */
  readonly signal: AbortSignal
}

/** What an authorizer that goes on by itself is given. */
export interface AuthorizerWorld {
  readonly clock: Clock
  /** A random number from 0 up to 1. */
  readonly random: () => number
  /** Reports what went wrong beside requests, such as a file that cannot be read again. */
  readonly failed: (error: Error) => void
  /** Warns of what is not as it should be, and does not keep the server from starting. */
  readonly warn: (message: string) => void
}

/** Verbs on resources, as {@link UserRules} lists them. */
export interface ResourceRule {
  readonly verbs: readonly string[]
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  /** The names of the objects; an empty list is all. */
  readonly resourceNames?: readonly string[]
}

/** Verbs on paths. */
export interface NonResourceRule {
  readonly verbs: readonly string[]
  readonly nonResourceURLs: readonly string[]
}

/**
 * What a user may do in a namespace, as far as it can be listed.
 * @see kubernetes/apiserver pkg/authorization/authorizer/interfaces.go RuleResolver
 */
export interface UserRules {
  readonly resourceRules: readonly ResourceRule[]
  readonly nonResourceRules: readonly NonResourceRule[]
  /** Why there may be more; empty when this is all. */
  readonly incomplete: readonly string[]
}

/**
 * Decides whether a request may do what it asks for. It is asked once for each request behind all
 * other filters, and by the filter of impersonation, possibly many at a time.
 *
 * It may take time, and is then waited for until the request's deadline; of requests that last
 * there is none. One that throws, rejects or returns anything else has decided nothing: the request
 * is answered 500.
 * @see kubernetes/apiserver pkg/authorization/authorizer/interfaces.go Authorizer
 */
export interface Authorizer {
  /** Stands in front of its reasons where it is one of several, and none of them has decided. */
  readonly name?: string
  authorize(attributes: AuthorizationAttributes, context: AuthorizationContext): Decision | PromiseLike<Decision>
  /** What a user may do, for `kubectl auth can-i --list`; left out where it cannot be listed. */
  rulesFor?(user: UserInfo, namespace: string): UserRules
  /** Opens the authorizer, once, before the server listens; a rejection is a failed start. */
  open?(world: AuthorizerWorld): void | PromiseLike<void>
  /** The server has ended; called once. */
  close?(): void
}

/** The rules of a user who may do nothing, and that is all. */
export const NO_RULES: UserRules = { resourceRules: [], nonResourceRules: [], incomplete: [] }

const ALL = ['*']

/** Everything. */
export const ALL_RULES: UserRules = {
  resourceRules: [{ verbs: ALL, apiGroups: ALL, resources: ALL }],
  nonResourceRules: [{ verbs: ALL, nonResourceURLs: ALL }],
  incomplete: [],
}

/** What an authorizer lists of a user, and that it is not all where it lists nothing. */
export const rulesOf = (authorizer: Authorizer, user: UserInfo, namespace: string): UserRules =>
  authorizer.rulesFor?.(user, namespace) ?? {
    ...NO_RULES,
    incomplete: [`${authorizer.name ?? 'an authorizer'} does not support user rule resolution`],
  }

export const NO_OPINION: Decision = { decision: 'no-opinion' }

const isDecision = (given: unknown): given is Decision['decision'] => given === 'allow' || given === 'deny' || given === 'no-opinion'

/**
 * Asks an authorizer, whatever it does: never throws, never rejects, and waits no longer than the
 * request is waited for. What is no decision is an error without an opinion.
 */
export function askAuthorizer(
  authorizer: Authorizer,
  attributes: AuthorizationAttributes,
  context: AuthorizationContext,
): Decision | Promise<Decision> {
  try {
    const answer: unknown = authorizer.authorize(attributes, context)
    return isThenable(answer) ? unlessAborted(Promise.resolve(answer).then(checkedDecision), context.signal) : checkedDecision(answer)
  } catch (thrown) {
    return failed(thrown)
  }
}

const failed = (thrown: unknown): Decision => ({ decision: 'no-opinion', error: toError(thrown) })

function unlessAborted(decision: Promise<Decision>, signal: AbortSignal): Promise<Decision> {
  return new Promise((resolve) => {
    const aborted = (): void => resolve(failed(signal.reason))
    const settled = (settledAs: Decision): void => {
      signal.removeEventListener('abort', aborted)
      resolve(settledAs)
    }
    signal.addEventListener('abort', aborted, { once: true })
    if (signal.aborted) aborted()
    decision.then(settled, (thrown: unknown) => settled(failed(thrown)))
  })
}

/** @throws Error for what is no decision */
export function checkedDecision(answer: unknown): Decision {
  // Each field is read once: what is checked is what counts.
  const { decision, reason, error }: Readonly<Record<string, unknown>> = isRecord(answer) ? answer : {}
  const hasReason = reason === undefined || typeof reason === 'string'
  if (isDecision(decision) && hasReason && (error === undefined || error instanceof Error))
    return { decision, ...(reason !== undefined && { reason }), ...(error !== undefined && { error }) }
  throw new Error(`the authorizer returned ${show(answer)}, allowed: { decision: 'allow' | 'deny' | 'no-opinion', reason?, error? }`)
}
