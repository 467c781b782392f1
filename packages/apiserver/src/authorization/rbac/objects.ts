import { at, fieldPath, isRecord, unknownField, type Wrong } from '../../engine.ts'

export const RBAC_GROUP = 'rbac.authorization.k8s.io'
export const RBAC_VERSION = `${RBAC_GROUP}/v1`

/**
 * What may be done: verbs on resources, or on paths.
 * @see kubernetes/api rbac/v1/types.go PolicyRule
 */
export interface RbacRule {
  /** `*` is all. */
  readonly verbs: readonly string[]
  /** Empty text for the legacy group, `*` for all. */
  readonly apiGroups?: readonly string[]
  /** `pods`, `pods/log`, `*\/scale`; `*` is all, subresources included. */
  readonly resources?: readonly string[]
  /**
   * The names of the objects; none is all. A request that names no object, such as a list, is about
   * none of them.
   */
  readonly resourceNames?: readonly string[]
  /** Paths, in cluster roles only; `*` may stand at the end. */
  readonly nonResourceURLs?: readonly string[]
}

interface Metadata {
  readonly name: string
  readonly [more: string]: unknown
}

interface NamespacedMetadata extends Metadata {
  readonly namespace: string
}

interface Versioned {
  readonly apiVersion: typeof RBAC_VERSION
}

export interface Role extends Versioned {
  readonly kind: 'Role'
  readonly metadata: NamespacedMetadata
  readonly rules?: readonly RbacRule[] | null
}

export interface ClusterRole extends Versioned {
  readonly kind: 'ClusterRole'
  readonly metadata: Metadata
  readonly rules?: readonly RbacRule[] | null
}

/** Who is given a role. */
export interface RbacSubject {
  readonly kind: 'User' | 'Group' | 'ServiceAccount'
  readonly apiGroup?: string
  readonly name: string
  /** The namespace of a service account; default: that of its role binding. */
  readonly namespace?: string
}

export interface RoleRef {
  readonly apiGroup?: typeof RBAC_GROUP
  readonly kind: 'Role' | 'ClusterRole'
  readonly name: string
}

/** Gives the rules of a role, or of a cluster role, for one namespace. */
export interface RoleBinding extends Versioned {
  readonly kind: 'RoleBinding'
  readonly metadata: NamespacedMetadata
  readonly subjects?: readonly RbacSubject[] | null
  readonly roleRef: RoleRef
}

/** Gives the rules of a cluster role for all namespaces, the cluster itself, and paths. */
export interface ClusterRoleBinding extends Versioned {
  readonly kind: 'ClusterRoleBinding'
  readonly metadata: Metadata
  readonly subjects?: readonly RbacSubject[] | null
  readonly roleRef: RoleRef
}

/** Objects as `kubectl` users write them. */
export type RbacObject = Role | ClusterRole | RoleBinding | ClusterRoleBinding

type Check = (given: unknown) => readonly Wrong[]

const refused = (given: unknown, allowed: string): readonly Wrong[] => [{ path: '', given, allowed }]

const is =
  (...only: readonly string[]): Check =>
  (given) =>
    only.includes(given as string) ? [] : refused(given, only.map((each) => each || '""').join(', '))

const text: Check = (given) => (typeof given === 'string' && given !== '' ? [] : refused(given, 'a text that is not empty'))

const list =
  (allowed: string, item: Check, atLeast = 0): Check =>
  (given) => {
    if (!Array.isArray(given) || given.length < atLeast) return refused(given, allowed)
    return given.flatMap((each, index) => item(each).map((wrong) => at(`[${index}]`, wrong)))
  }

/**
 * A checked object. A field that is left out, or null as YAML has it, is fine unless it is needed.
 */
const object =
  (allowed: string, checks: Readonly<Record<string, Check>>, needed: readonly string[]): Check =>
  (given) => {
    if (!isRecord(given)) return refused(given, allowed)
    const isGiven = (name: string): boolean => (given[name] ?? undefined) !== undefined
    const missing = needed.filter((name) => !isGiven(name))
    return [
      ...Object.entries(given).flatMap(([name, value]) => {
        const check = Object.hasOwn(checks, name) ? checks[name] : undefined
        if (check === undefined) return [unknownField(name, value, Object.keys(checks))]
        return isGiven(name) ? check(value).map((wrong) => at(fieldPath(name), wrong)) : []
      }),
      ...missing.flatMap((name) => (checks[name] as Check)(undefined).map((wrong) => at(fieldPath(name), wrong))),
    ]
  }

const verbs = list('a list of at least one verb', text, 1)

/** Nothing that a request could ask for is matched by a star in another place. */
const resource: Check = (given) =>
  typeof given === 'string' && /^(\*|\*\/[^*/]+|[^*/]+(\/[^*]+)?)$/.test(given)
    ? []
    : refused(given, '*, a resource, RESOURCE/SUBRESOURCE or */SUBRESOURCE')

const url: Check = (given) =>
  typeof given === 'string' && (given === '*' || /^\/[^*]*\*?$/.test(given))
    ? []
    : refused(given, '*, or a path that begins with /; * may stand at its end')

const anyText: Check = (given) => (typeof given === 'string' ? [] : refused(given, 'text'))

const RULE_FIELDS = {
  verbs,
  apiGroups: list('a list of groups', anyText),
  resources: list('a list of resources', resource),
  resourceNames: list('a list of names', anyText),
  nonResourceURLs: list('a list of paths', url),
}

const count = (given: unknown): number => (Array.isArray(given) ? given.length : 0)

/** @see kubernetes/kubernetes pkg/apis/rbac/validation/validation.go ValidatePolicyRule */
const rule =
  (isNamespaced: boolean): Check =>
  (given) => {
    const wrong = object('an object with verbs', RULE_FIELDS, ['verbs'])(given)
    if (wrong.length > 0) return wrong
    const { apiGroups, resources, resourceNames, nonResourceURLs } = given as Partial<RbacRule>
    if (count(nonResourceURLs) === 0) {
      return [
        ...(count(apiGroups) === 0 ? [{ path: '.apiGroups', given: apiGroups, allowed: 'at least one group beside resources' }] : []),
        ...(count(resources) === 0 ? [{ path: '.resources', given: resources, allowed: 'at least one resource, or nonResourceURLs' }] : []),
      ]
    }
    if (isNamespaced)
      return [{ path: '.nonResourceURLs', given: nonResourceURLs, allowed: 'none in a Role, because paths are in no namespace' }]
    return count(apiGroups) + count(resources) + count(resourceNames) === 0
      ? []
      : [{ path: '.nonResourceURLs', given: nonResourceURLs, allowed: 'none beside resources' }]
  }

const RULES = 'a list of rules'

/** Labels, annotations and what a cluster adds are passed over. */
const metadata =
  (...needed: readonly string[]): Check =>
  (given) => {
    if (!isRecord(given)) return refused(given, `an object with ${needed.join(' and ')}`)
    return needed.flatMap((name) => text(given[name]).map((wrong) => at(fieldPath(name), wrong)))
  }

const SUBJECT_FIELDS = {
  kind: is('User', 'Group', 'ServiceAccount'),
  apiGroup: is(RBAC_GROUP, ''),
  name: text,
  namespace: text,
}

/** @see kubernetes/kubernetes pkg/apis/rbac/validation/validation.go ValidateRoleBindingSubject */
const subject =
  (isNamespaced: boolean): Check =>
  (given) => {
    const wrong = object('an object with kind and name', SUBJECT_FIELDS, ['kind', 'name'])(given)
    if (wrong.length > 0) return wrong
    const { kind, apiGroup, namespace } = given as RbacSubject
    if (kind !== 'ServiceAccount') return namespace ? [{ path: '.namespace', given: namespace, allowed: `none of a ${kind}` }] : []
    return [
      ...(apiGroup ? [{ path: '.apiGroup', given: apiGroup, allowed: 'none of a ServiceAccount' }] : []),
      ...(namespace || isNamespaced ? [] : [{ path: '.namespace', given: namespace, allowed: 'that of the ServiceAccount' }]),
    ]
  }

const roleRef = (...kinds: readonly string[]): Check =>
  object('an object with kind and name', { apiGroup: is(RBAC_GROUP), kind: is(...kinds), name: text }, ['kind', 'name'])

const SUBJECTS = 'a list of subjects'
const apiVersion = is(RBAC_VERSION)

const KINDS: Readonly<Record<RbacObject['kind'], Check>> = {
  Role: object('an object', { kind: anyText, apiVersion, metadata: metadata('name', 'namespace'), rules: list(RULES, rule(true)) }, [
    'apiVersion',
    'metadata',
  ]),
  ClusterRole: object('an object', { kind: anyText, apiVersion, metadata: metadata('name'), rules: list(RULES, rule(false)) }, [
    'apiVersion',
    'metadata',
  ]),
  RoleBinding: object(
    'an object',
    {
      kind: anyText,
      apiVersion,
      metadata: metadata('name', 'namespace'),
      subjects: list(SUBJECTS, subject(true)),
      roleRef: roleRef('Role', 'ClusterRole'),
    },
    ['apiVersion', 'metadata', 'roleRef'],
  ),
  ClusterRoleBinding: object(
    'an object',
    { kind: anyText, apiVersion, metadata: metadata('name'), subjects: list(SUBJECTS, subject(false)), roleRef: roleRef('ClusterRole') },
    ['apiVersion', 'metadata', 'roleRef'],
  ),
}

/**
 * Everything that is wrong with one object, by itself.
 * @see kubernetes/kubernetes pkg/apis/rbac/validation/validation.go
 */
export function wrongInObject(given: unknown): readonly Wrong[] {
  const allowed = `an object of kind ${Object.keys(KINDS).join(', ')}`
  if (!isRecord(given)) return refused(given, allowed)
  const { kind } = given
  if (typeof kind !== 'string' || !Object.hasOwn(KINDS, kind))
    return [{ path: '.kind', given: kind, allowed: Object.keys(KINDS).join(', ') }]
  return KINDS[kind as RbacObject['kind']](given)
}
