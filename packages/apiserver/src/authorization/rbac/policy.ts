import type { UserInfo } from '../../authentication/user.ts'
import { goQuote, isRecord, QuiesceError, show, type Wrong, wordsOf } from '../../engine.ts'
import { type AuthorizationAttributes, type Decision, NO_OPINION, type UserRules } from '../authorizer.ts'
import type { ClusterRole, ClusterRoleBinding, RbacObject, RbacRule, RbacSubject, Role, RoleBinding } from './objects.ts'
import { wrongInObject } from './objects.ts'
import { type Matcher, matcherOf } from './rules.ts'

/** What a policy says. */
export interface RbacPolicy {
  /** The decision about a request. */
  readonly decide: (asked: AuthorizationAttributes) => Decision
  /** The rules of a user, in the whole cluster and in one namespace. */
  readonly rulesFor: (user: UserInfo, namespace: string) => UserRules
}

interface RoleRule {
  readonly allows: Matcher
  readonly rule: RbacRule
}

/** What one binding gives to one of its subjects. */
interface Grant {
  readonly rules: readonly RoleRule[]
  readonly allow: Decision
}

/** The grants of one scope: the cluster, or a namespace. */
interface Grants {
  readonly ofUser: Map<string, Grant[]>
  readonly ofGroup: Map<string, Grant[]>
}

const noGrants = (): Grants => ({ ofUser: new Map(), ofGroup: new Map() })

/**
 * Roles and their bindings as a function of requests: allowed is what some rule allows, and of
 * nothing else it has an opinion.
 * @param objects those of kind List stand for their items
 * @param nameOf how messages call one of them
 * @throws QuiesceError ERR_OPTION_INVALID with a line for everything that is wrong: in objects by
 * themselves, names that are taken, and bindings of roles that are not there
 * @see kubernetes/kubernetes plugin/pkg/auth/authorizer/rbac/rbac.go
 */
export function rbacPolicy(objects: readonly unknown[], nameOf = (index: number): string => `rbac[${index}]`): RbacPolicy {
  const named = objects.flatMap((given, index) => itemsOf(given, nameOf(index)))
  const problems = named.flatMap(({ given, name }) => wrongInObject(given).map((wrong) => problem(name, given, wrong)))
  const sound = named.filter(({ given }) => wrongInObject(given).length === 0) as readonly Named<RbacObject>[]
  const roles = new Map<string, readonly RoleRule[]>()
  for (const { given, name } of sound) {
    const key = keyOf(given)
    if (roles.has(key))
      problems.push(problem(name, given, { path: '.metadata.name', given: given.metadata.name, allowed: `one ${key} only` }))
    roles.set(key, 'roleRef' in given ? [] : (given.rules ?? []).map((rule) => ({ allows: matcherOf(rule), rule })))
  }
  const cluster = noGrants()
  const namespaces = new Map<string, Grants>()
  for (const { given, name } of sound) {
    if (!('roleRef' in given)) continue
    const namespace = given.kind === 'RoleBinding' ? given.metadata.namespace : ''
    const { kind, name: role } = given.roleRef
    const rules = roles.get(keyOfRole(kind, role, namespace))
    if (rules === undefined) {
      const allowed = `the name of a ${kind} that is there${kind === 'Role' ? `, in the namespace ${show(namespace)}` : ''}`
      problems.push(problem(name, given, { path: '.roleRef.name', given: role, allowed }))
      continue
    }
    const grants = namespace === '' ? cluster : (namespaces.get(namespace) ?? noGrants())
    if (namespace !== '') namespaces.set(namespace, grants)
    for (const subject of given.subjects ?? []) addGrant(grants, subject, namespace, { rules, allow: allowBy(given, subject, namespace) })
  }
  if (problems.length > 0) throw invalid(problems)
  return {
    decide: (asked) => {
      const allowed = askGrants(cluster, asked)
      if (allowed || asked.namespace === '') return allowed ?? NO_OPINION
      const grants = namespaces.get(asked.namespace)
      return (grants && askGrants(grants, asked)) ?? NO_OPINION
    },
    rulesFor: (user, namespace) => {
      const grants = [cluster, namespaces.get(namespace) ?? noGrants()]
      return listed(grants.flatMap((each) => grantsOf(each, user)).flatMap(({ rules }) => rules.map(({ rule }) => rule)))
    },
  }
}

/** Whether any subject is bound to a role in them. Without one the policy allows nothing. */
export const bindsSubjects = (objects: readonly unknown[]): boolean =>
  objects
    .flatMap((given) => itemsOf(given, ''))
    .some(({ given }) => isRecord(given) && Array.isArray(given['subjects']) && given['subjects'].length > 0)

function askGrants({ ofUser, ofGroup }: Grants, asked: AuthorizationAttributes): Decision | undefined {
  const { user } = asked
  if (user === undefined) return undefined
  const own = firstAllowed(ofUser.get(user.name), asked)
  if (own || ofGroup.size === 0) return own
  for (const group of user.groups) {
    const allowed = firstAllowed(ofGroup.get(group), asked)
    if (allowed) return allowed
  }
  return undefined
}

function firstAllowed(grants: readonly Grant[] | undefined, asked: AuthorizationAttributes): Decision | undefined {
  if (grants === undefined) return undefined
  for (const { rules, allow } of grants) if (rules.some(({ allows }) => allows(asked))) return allow
  return undefined
}

const grantsOf = ({ ofUser, ofGroup }: Grants, user: UserInfo): readonly Grant[] => [
  ...(ofUser.get(user.name) ?? []),
  ...user.groups.flatMap((group) => ofGroup.get(group) ?? []),
]

/** @see kubernetes/kubernetes plugin/pkg/auth/authorizer/rbac/rbac.go RulesFor */
const listed = (rules: readonly RbacRule[]): UserRules => ({
  resourceRules: rules.flatMap(({ verbs, apiGroups = [], resources = [], resourceNames = [] }) =>
    resources.length === 0 ? [] : { verbs, apiGroups, resources, ...(resourceNames.length > 0 && { resourceNames }) },
  ),
  nonResourceRules: rules.flatMap(({ verbs, nonResourceURLs = [] }) => (nonResourceURLs.length === 0 ? [] : { verbs, nonResourceURLs })),
  incomplete: [],
})

function addGrant({ ofUser, ofGroup }: Grants, { kind, name, namespace }: RbacSubject, ofBinding: string, grant: Grant): void {
  const table = kind === 'Group' ? ofGroup : ofUser
  const key = kind === 'ServiceAccount' ? `system:serviceaccount:${namespace ?? ofBinding}:${name}` : name
  const grants = table.get(key)
  if (grants) grants.push(grant)
  else table.set(key, [grant])
}

/** @see kubernetes/kubernetes pkg/registry/rbac/validation/rule.go clusterRoleBindingDescriber */
function allowBy({ kind, metadata, roleRef }: RoleBinding | ClusterRoleBinding, subject: RbacSubject, ofBinding: string): Decision {
  const binding = ofBinding === '' ? metadata.name : `${metadata.name}/${ofBinding}`
  const who = subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace ?? ofBinding}` : subject.name
  const reason = `RBAC: allowed by ${kind} ${goQuote(binding)} of ${roleRef.kind} ${goQuote(roleRef.name)} to ${subject.kind} ${goQuote(who)}`
  return { decision: 'allow', reason }
}

const keyOfRole = (kind: string, name: string, namespace: string): string =>
  `${kind} ${kind === 'Role' ? `${show(name)} in ${show(namespace)}` : show(name)}`

const keyOf = (given: RbacObject): string =>
  given.kind === 'RoleBinding' || given.kind === 'Role'
    ? `${given.kind} ${show(given.metadata.name)} in ${show(given.metadata.namespace)}`
    : keyOfRole(given.kind, given.metadata.name, '')

interface Named<T = unknown> {
  readonly given: T
  readonly name: string
}

/** The items as `kubectl get -o yaml` writes several. */
function itemsOf(given: unknown, name: string): readonly Named[] {
  if (!isRecord(given) || given['kind'] !== 'List' || !Array.isArray(given['items'])) return [{ given, name }]
  return given['items'].map((item: unknown, index) => ({ given: item, name: `${name}.items[${index}]` }))
}

interface Problem {
  readonly field: string
  readonly given: unknown
  readonly allowed: string
  readonly message: string
}

function problem(name: string, object: unknown, wrong: Wrong): Problem {
  const { kind, metadata } = (isRecord(object) ? object : {}) as Partial<Role | ClusterRole>
  const called =
    typeof kind === 'string' && isRecord(metadata) && typeof metadata.name === 'string' ? `, ${kind} ${show(metadata.name)}` : ''
  const field = `${name}${called}${wrong.path === '' ? '' : `: ${wrong.path.replace(/^\./, '')}`}`
  return { field, given: wrong.given, allowed: wrong.allowed, message: `${field}${wordsOf(wrong)}` }
}

function invalid(problems: readonly Problem[]): QuiesceError {
  const [first] = problems as readonly [Problem, ...Problem[]]
  const message = problems.map((each) => each.message).join('\n')
  return new QuiesceError('ERR_OPTION_INVALID', message, { field: first.field, given: first.given, allowed: first.allowed, problems })
}
