import { ALL_AUTHENTICATED, ALL_UNAUTHENTICATED, ANONYMOUS } from '../authentication/anonymous.ts'
import type { UserInfo } from '../authentication/user.ts'
import type { AuthorizationAttributes, Decision } from '../authorization/authorizer.ts'
import { goQuote } from '../engine.ts'
import { ASSOCIATED_NODE, type ImpersonationMode, MODES } from './modes.ts'
import { groupsOf, isSubdomain, nodeOf, serviceAccountOf } from './user-names.ts'
import type { WantedUser } from './wanted-user.ts'

/** Who a request acts as from now on. */
export interface Impersonated {
  readonly user: UserInfo
  /** The verb that allowed it; undefined for the older way. */
  readonly constraint: string | undefined
}

/** What was not allowed, and why. */
export class ImpersonationForbidden extends Error {
  readonly attributes: AuthorizationAttributes
  readonly reason: string

  constructor(attributes: AuthorizationAttributes, reason: string) {
    super(reason)
    this.attributes = attributes
    this.reason = reason
  }
}

type Ask = (attributes: AuthorizationAttributes) => Decision | Promise<Decision>

/**
 * The number of questions of one kind from which on they are first asked as one, with `*` for the
 * name.
 */
const MANY = 4
const MASTERS = 'system:masters'
const NODES = 'system:nodes'
const AUTHENTICATION = { apiGroup: 'authentication.k8s.io', apiVersion: 'v1' }
const CORE = { apiGroup: '', apiVersion: 'v1' }

/**
 * Whether a user may act as another one for what it asks for: by the first mode that allows it.
 * @param asked everything that the request may be read as
 * @throws ImpersonationForbidden as the first of them does that did not
 * @see kubernetes/apiserver pkg/endpoints/filters/impersonation/mode.go
 */
export async function impersonate(
  wanted: WantedUser,
  requestor: UserInfo,
  asked: readonly AuthorizationAttributes[],
  ask: Ask,
): Promise<Impersonated> {
  let first: unknown
  for (const mode of MODES) {
    if (!mode.isFor(wanted, requestor)) continue
    try {
      return await new Attempt(mode, wanted, requestor, ask).check(asked)
    } catch (refused) {
      first ??= refused
    }
  }
  throw first
}

/** One mode, tried for one request. */
class Attempt {
  readonly #mode: ImpersonationMode
  readonly #wanted: WantedUser
  readonly #requestor: UserInfo
  readonly #ask: Ask
  readonly #isConstrained: boolean

  constructor(mode: ImpersonationMode, wanted: WantedUser, requestor: UserInfo, ask: Ask) {
    this.#mode = mode
    this.#wanted = wanted
    this.#ask = ask
    this.#isConstrained = mode.name !== undefined
    this.#requestor = mode.name === ASSOCIATED_NODE ? withKeysAlone(requestor) : requestor
  }

  async check(asked: readonly AuthorizationAttributes[]): Promise<Impersonated> {
    if (this.#isConstrained)
      for (const each of asked)
        await this.#allow({ ...each, user: this.#requestor, verb: `impersonate-on:${this.#mode.name}:${each.verb}` })
    const groups = await this.#checkName()
    const { name, uid, extra } = this.#wanted
    if (uid !== '') await this.#allow(this.#about('uids', uid, AUTHENTICATION))
    await this.#checkGroups()
    await this.#checkExtra()
    const user = { name, ...(uid !== '' && { uid }), groups: withKnown(name, groups), extra }
    return { user, constraint: this.#isConstrained ? this.#verb : undefined }
  }

  get #verb(): string {
    return this.#isConstrained ? `impersonate:${this.#mode.name}` : 'impersonate'
  }

  /** The groups that it has: those that are asked for, or those that follow from its name. */
  async #checkName(): Promise<readonly string[]> {
    const { name, groups } = this.#wanted
    const node = this.#isConstrained ? nodeOf(name) : undefined
    const account = serviceAccountOf(name)
    if (node !== undefined) {
      // The rule is one for all nodes, each for those that run on it.
      await this.#allow(this.#about('nodes', this.#mode.name === ASSOCIATED_NODE ? '*' : node))
      return [NODES]
    }
    if (account === undefined) {
      await this.#allow(this.#about('users', name))
      return groups
    }
    await this.#allow({ ...this.#about('serviceaccounts', account.name), namespace: account.namespace })
    return groups.length > 0 ? groups : groupsOf(account)
  }

  async #checkGroups(): Promise<void> {
    const { groups } = this.#wanted
    if (this.#isConstrained) {
      if (groups.includes(''))
        throw new ImpersonationForbidden(this.#about('groups', ''), 'impersonating the empty string group is not allowed')
      if (groups.includes(MASTERS))
        throw new ImpersonationForbidden(this.#about('groups', MASTERS), 'impersonating the system:masters group is not allowed')
      if (groups.length >= MANY && (await this.#isAllowed(this.#about('groups', '*')))) return
    }
    for (const group of groups) await this.#allow(this.#about('groups', group))
  }

  async #checkExtra(): Promise<void> {
    const about = (subresource: string, name: string) => ({ ...this.#about('userextras', name, AUTHENTICATION), subresource })
    const all = Object.entries(this.#wanted.extra).flatMap(([key, values]) => values.map((value) => [key, value] as const))
    if (this.#isConstrained) {
      const wrong = all.map(([key, value]) => wrongExtra(key, value)).find((why) => why !== undefined)
      if (wrong !== undefined) throw new ImpersonationForbidden(about('', ''), wrong)
      if (all.length >= MANY && (await this.#isAllowed(about('*', '*')))) return
    }
    for (const [key, value] of all) await this.#allow(about(key, value))
  }

  /** A question about a user, or a part of one. */
  #about(resource: string, name: string, group = this.#isConstrained ? AUTHENTICATION : CORE): AuthorizationAttributes {
    const about = { user: this.#requestor, verb: this.#verb, isResourceRequest: true, path: '', ...group }
    return { ...about, namespace: '', resource, subresource: '', name }
  }

  async #isAllowed(attributes: AuthorizationAttributes): Promise<boolean> {
    return (await this.#ask(attributes)).decision === 'allow'
  }

  async #allow(attributes: AuthorizationAttributes): Promise<void> {
    const { decision, reason = '' } = await this.#ask(attributes)
    if (decision !== 'allow') throw new ImpersonationForbidden(attributes, reason)
  }
}

/** One rule is for a service account on all of its nodes: where it runs now is not asked about. */
const withKeysAlone = (user: UserInfo): UserInfo => ({
  ...user,
  extra: { 'authentication.kubernetes.io/associated-node-keys': Object.keys(user.extra).sort() },
})

function withKnown(name: string, groups: readonly string[]): readonly string[] {
  const group = name === ANONYMOUS ? ALL_UNAUTHENTICATED : ALL_AUTHENTICATED
  return groups.includes(group) || groups.includes(ALL_UNAUTHENTICATED) ? groups : [...groups, group]
}

/** @see kubernetes/apiserver pkg/endpoints/filters/impersonation/mode.go validateExtra */
function wrongExtra(key: string, value: string): string | undefined {
  if (key === '') return 'impersonating the empty string key in extra is not allowed'
  const [host = '', ...path] = key.split('/')
  if (!isSubdomain(host) || !/^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(path.join('/')))
    return `impersonating an invalid key in extra is not allowed: extra.key: Invalid value: ${goQuote(key)}: must be a domain-prefixed path (such as "acme.io/foo")`
  if (key !== key.toLowerCase()) return `impersonating a non-lowercase key in extra is not allowed: ${goQuote(key)}`
  return value === '' ? 'impersonating the empty string value in extra is not allowed' : undefined
}
