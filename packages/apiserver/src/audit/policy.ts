import type { UserInfo } from '../authentication/user.ts'
import { readDocument } from '../encoding/read-yaml.ts'
import { at, checkArguments, fieldPath, isRecord, QuiesceError, unknownField, type Wrong, wordsOf, wrongItem } from '../engine.ts'
import type { RequestInfo } from '../request/request-info.ts'
import { AUDIT_VERSION, type AuditLevel, type AuditStage, LEVELS, STAGES } from './event.ts'

export interface GroupResources {
  /** Empty for the legacy group, `*` for all. */
  readonly group?: string
  /** `pods`, `pods/log`, `pods/*`, `*\/log`, `*`; none for all of the group. */
  readonly resources?: readonly string[]
  /** The names of the objects; an empty list is all. */
  readonly resourceNames?: readonly string[]
}

/** Which requests a rule is for, and what is recorded of them. A field that is empty is for all. */
export interface PolicyRule {
  readonly level: AuditLevel
  readonly users?: readonly string[]
  readonly userGroups?: readonly string[]
  readonly verbs?: readonly string[]
  readonly resources?: readonly GroupResources[]
  /** An empty text stands for what is in no namespace. */
  readonly namespaces?: readonly string[]
  /** Paths; `*` may stand at the end. */
  readonly nonResourceURLs?: readonly string[]
  /** The stages to omit beside those that the policy omits. */
  readonly omitStages?: readonly AuditStage[]
  /** Default: as the policy says. */
  readonly omitManagedFields?: boolean
}

/**
 * What is recorded of which requests: the first rule that matches decides; without one, nothing is.
 * @see kubernetes/apiserver pkg/apis/audit/v1/types.go Policy
 */
export interface AuditPolicy {
  readonly kind?: 'Policy'
  readonly apiVersion?: typeof AUDIT_VERSION
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly rules: readonly PolicyRule[]
  readonly omitStages?: readonly AuditStage[]
  readonly omitManagedFields?: boolean
}

/** What a policy says of one request. */
export interface RequestAuditConfig {
  readonly level: AuditLevel
  readonly omits: ReadonlySet<AuditStage>
  readonly omitManagedFields: boolean
}

/** Who asks, and for what. */
export interface Attributes {
  readonly user: UserInfo | undefined
  readonly info: RequestInfo
}

/**
 * A policy as a function of requests; the same request always has the same answer.
 * @see kubernetes/apiserver pkg/audit/policy/checker.go
 */
export function policyEvaluator(policy: AuditPolicy): (attributes: Attributes) => RequestAuditConfig {
  const rules = policy.rules.map((rule) => ({
    rule,
    config: {
      level: rule.level,
      omits: new Set([...(policy.omitStages ?? []), ...(rule.omitStages ?? [])]),
      omitManagedFields: rule.omitManagedFields ?? policy.omitManagedFields ?? false,
    },
  }))
  const otherwise: RequestAuditConfig = {
    level: 'None',
    omits: new Set(policy.omitStages),
    omitManagedFields: policy.omitManagedFields ?? false,
  }
  return (attributes) => {
    for (const { rule, config } of rules) if (matches(rule, attributes)) return config
    return otherwise
  }
}

/**
 * What several say of one request (V40): the highest level of any, and only what all that record
 * anything leave out is left out.
 */
export function strictestOf(configs: readonly [RequestAuditConfig, ...RequestAuditConfig[]]): RequestAuditConfig {
  const recording = configs.filter(({ level }) => level !== 'None')
  const [first = configs[0], ...others] = recording
  return {
    level: recording.map(({ level }) => level).reduce(higher, first.level),
    omits: new Set([...first.omits].filter((stage) => others.every(({ omits }) => omits.has(stage)))),
    omitManagedFields: recording.every(({ omitManagedFields }) => omitManagedFields),
  }
}

const higher = (a: AuditLevel, b: AuditLevel): AuditLevel => (LEVELS.indexOf(a) > LEVELS.indexOf(b) ? a : b)

function matches(rule: PolicyRule, { user, info }: Attributes): boolean {
  const { users, userGroups, verbs, namespaces, resources, nonResourceURLs } = rule
  if (isGiven(users) && (user === undefined || !users.includes(user.name))) return false
  if (isGiven(userGroups) && !user?.groups.some((group) => userGroups.includes(group))) return false
  if (isGiven(verbs) && !verbs.includes(info.verb)) return false
  if (isGiven(namespaces) || isGiven(resources)) return matchesResource(rule, info)
  if (isGiven(nonResourceURLs)) return !info.isResourceRequest && nonResourceURLs.some((spec) => matchesPath(info.path, spec))
  return true
}

/** YAML has null for a field without a value. */
const isGiven = <T>(list: readonly T[] | undefined | null): list is readonly T[] => (list?.length ?? 0) > 0

function matchesResource({ namespaces, resources }: PolicyRule, info: RequestInfo): boolean {
  if (!info.isResourceRequest) return false
  if (isGiven(namespaces) && !namespaces.includes(info.namespace)) return false
  if (!isGiven(resources)) return true
  const { resource, subresource, name } = info
  const combined = subresource === '' ? resource : `${resource}/${subresource}`
  return resources.some(({ group, resources: names, resourceNames }) => {
    if (group !== '*' && (group ?? '') !== info.apiGroup) return false
    if (!isGiven(names)) return true
    if (isGiven(resourceNames) && !resourceNames.includes(name)) return false
    return names.some(
      (each) => each === '*' || each === combined || each === `${resource}/*` || (subresource !== '' && each === `*/${subresource}`),
    )
  })
}

const matchesPath = (path: string, spec: string): boolean =>
  spec === '*' || spec === path || (spec.endsWith('*') && path.startsWith(spec.replace(/\*+$/, '')))

/**
 * Reads a policy from YAML or JSON text, as `kubectl` users write it.
 * @param name stands in front of what is wrong, such as the file's name
 * @throws QuiesceError ERR_OPTION_INVALID with the first field that cannot be used
 * @see kubernetes/apiserver pkg/audit/policy/reader.go LoadPolicyFromBytes
 */
export async function parseAuditPolicy(text: string, name = 'audit policy'): Promise<AuditPolicy> {
  checkArguments('parseAuditPolicy(text, name?)', [text, 'a text'], [name, 'a text'])
  const policy = await readDocument(text, name)
  // In a file they are asked for, so that another kind of file is not taken for a policy.
  const wrong =
    isRecord(policy) && (policy['kind'] === undefined || policy['apiVersion'] === undefined)
      ? { path: '', given: policy, allowed: `kind Policy, apiVersion ${AUDIT_VERSION}` }
      : policyProblem(policy)
  if (wrong === undefined) return policy as AuditPolicy
  const field = `${name}${wrong.path}`
  throw new QuiesceError('ERR_OPTION_INVALID', `${field}${wordsOf(wrong)}`, { field, given: wrong.given, allowed: wrong.allowed })
}

/**
 * What is wrong with a policy, and where in it; undefined when nothing is.
 * @see kubernetes/apiserver pkg/apis/audit/validation/validation.go ValidatePolicy
 */
export function policyProblem(given: unknown): Wrong | undefined {
  return object(
    given,
    'an object with rules',
    {
      kind: is('Policy'),
      apiVersion: is(AUDIT_VERSION),
      metadata: (metadata) => (isRecord(metadata) ? undefined : refused(metadata, 'an object')),
      rules: (rules) => (Array.isArray(rules) && rules.length === 0 ? refused(rules, RULES) : wrongItem(rules, RULES, ruleProblem)),
      omitStages: stages,
      omitManagedFields: flag,
    },
    ['rules'],
  )
}

const RULES = 'a list of at least one rule'

function ruleProblem(given: unknown): Wrong | undefined {
  const wrong = object(
    given,
    'an object with level',
    {
      level: (level) => (LEVELS.includes(level as AuditLevel) ? undefined : refused(level, LEVELS.join(', '))),
      users: texts,
      userGroups: texts,
      verbs: texts,
      resources: (resources) => wrongItem(resources, 'a list of { group, resources, resourceNames }', groupProblem),
      namespaces: texts,
      nonResourceURLs: (urls) => wrongItem(urls, 'a list of paths', urlProblem),
      omitStages: stages,
      omitManagedFields: flag,
    },
    ['level'],
  )
  if (wrong !== undefined || !isRecord(given)) return wrong
  const { resources, namespaces, nonResourceURLs } = given as unknown as PolicyRule
  return isGiven(nonResourceURLs) && (isGiven(resources) || isGiven(namespaces))
    ? { path: '.nonResourceURLs', given: nonResourceURLs, allowed: 'none beside resources and namespaces' }
    : undefined
}

function groupProblem(given: unknown): Wrong | undefined {
  const wrong = object(given, 'an object of group, resources, resourceNames', {
    group: (group) =>
      typeof group === 'string' && !group.includes('/') ? undefined : refused(group, 'a group without its version, as apps'),
    resources: texts,
    resourceNames: texts,
  })
  if (wrong !== undefined || !isRecord(given)) return wrong
  const { resources, resourceNames } = given as GroupResources
  return isGiven(resourceNames) && !isGiven(resources)
    ? { path: '.resources', given: resources, allowed: 'at least one beside resourceNames' }
    : undefined
}

function urlProblem(url: unknown): Wrong | undefined {
  if (url === '*') return undefined
  if (typeof url !== 'string' || !url.startsWith('/')) return refused(url, '*, or a path that begins with /')
  return /\*./.test(url) ? refused(url, '* at the end of a path only') : undefined
}

type Rule = (given: unknown) => Wrong | undefined

/**
 * A checked object. A field that is left out, or null as YAML has it, is fine unless it is needed.
 */
function object(given: unknown, allowed: string, rules: Readonly<Record<string, Rule>>, needed: readonly string[] = []): Wrong | undefined {
  if (!isRecord(given)) return refused(given, allowed)
  for (const [name, value] of Object.entries(given)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
    if (rule === undefined) return unknownField(name, value, Object.keys(rules))
    const wrong = value === undefined || value === null ? undefined : rule(value)
    if (wrong !== undefined) return at(fieldPath(name), wrong)
  }
  const missing = needed.find((name) => (given[name] ?? undefined) === undefined)
  return missing === undefined ? undefined : at(fieldPath(missing), (rules[missing] as Rule)(undefined) as Wrong)
}

const refused = (given: unknown, allowed: string): Wrong => ({ path: '', given, allowed })
const is =
  (only: string): Rule =>
  (given) =>
    given === only ? undefined : refused(given, only)
const flag: Rule = (given) => (typeof given === 'boolean' ? undefined : refused(given, 'true, false'))
const texts: Rule = (given) => wrongItem(given, 'a list of texts', (item) => (typeof item === 'string' ? undefined : refused(item, 'text')))
const stages: Rule = (given) =>
  wrongItem(given, `a list of ${STAGES.join(', ')}`, (item) =>
    STAGES.includes(item as AuditStage) ? undefined : refused(item, STAGES.join(', ')),
  )
