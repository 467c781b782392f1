import type { UserInfo } from '../../authentication/user.ts'
import {
  ALL_RULES,
  type AuthorizationAttributes,
  askAuthorizer,
  type Decision,
  rulesOf,
  type SelectorRequirement,
} from '../../authorization/authorizer.ts'
import { parseFieldSelector, parseLabelSelector } from '../../authorization/selectors.ts'
import { badRequest } from '../../status-errors.ts'
import { type ApiGroup, apiGroup } from '../api-group.ts'
import type { ApiObject } from '../api-object.ts'
import { fieldErrors } from '../field-errors.ts'
import type { MessageShape } from '../protobuf/read-message.ts'
import { defineResource, type Resource, type ResourceDefinition } from '../resource/define-resource.ts'
import type { JsonSchema } from '../resource/schema.ts'
import type { ReviewContext, Storage } from '../storage/storage.ts'

/**
 * The groups by which clients ask what they may do, and who they are, for `installApiGroups` of the
 * server that is run: `kubectl auth can-i`, `kubectl auth whoami`. They are decided by the
 * authorizer that decides about requests, for the user of the request. That users may ask is for
 * the authorizer to allow: `create` of these resources.
 * @example
 * server.installApiGroups(...selfReviews())
 */
export const selfReviews = (): readonly ApiGroup[] => [
  apiGroup({
    group: 'authentication.k8s.io',
    versions: { v1: [{ resource: SELF, storage: { review: reviewSelf } }] },
  }),
  apiGroup({
    group: 'authorization.k8s.io',
    versions: {
      v1: [
        { resource: ACCESS, storage: { review: reviewAccess } },
        { resource: RULES, storage: { review: reviewRules } },
      ],
    },
  }),
]

const text = (description: string): JsonSchema => ({ type: 'string', description })

function review(group: string, kind: string, description: string, spec: Readonly<Record<string, JsonSchema>>, protobuf: MessageShape) {
  return (strategy: ResourceDefinition['strategy'] = {}): Resource =>
    defineResource({
      group,
      kind,
      plural: `${kind.toLowerCase()}s`,
      scope: 'Cluster',
      versions: {
        v1: {
          schema: {
            type: 'object',
            description,
            properties: {
              ...(Object.keys(spec).length > 0 && { spec: { type: 'object', properties: spec, description: 'The question.' } }),
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, description: 'The answer.' },
            },
          },
          protobuf: Object.keys(spec).length > 0 ? { 2: ['spec', protobuf] } : {},
        },
      },
      strategy,
    })
}

const AUTHORIZATION = 'authorization.k8s.io'

const selector = (of: string): JsonSchema => ({
  type: 'object',
  description: `The ${of} that a request for several objects selects.`,
  properties: {
    rawSelector: text('Selector as in the query of a request.'),
    requirements: {
      type: 'array',
      description: 'Requirements of the selector.',
      items: {
        type: 'object',
        properties: { key: { type: 'string' }, operator: { type: 'string' }, values: { type: 'array', items: { type: 'string' } } },
      },
    },
  },
})

const SELECTOR: MessageShape = {
  1: ['rawSelector', 'text'],
  2: ['requirements', [{ 1: ['key', 'text'], 2: ['operator', 'text'], 3: ['values', 'texts'] }]],
}

const ACCESS = review(
  AUTHORIZATION,
  'SelfSubjectAccessReview',
  'A question whether the sender may do something.',
  {
    resourceAttributes: {
      type: 'object',
      description: 'A request about a resource.',
      properties: {
        namespace: text('Namespace of the object. Empty for all namespaces, and for resources of the cluster.'),
        verb: text('Verb of the request. * means all.'),
        group: text('Group of the resource. * means all.'),
        version: text('Version of the resource. * means all.'),
        resource: text('Name of the resource. * means all.'),
        subresource: text('Name of the subresource.'),
        name: text('Name of the object. Empty for all.'),
        fieldSelector: selector('fields'),
        labelSelector: selector('labels'),
      },
    },
    nonResourceAttributes: {
      type: 'object',
      description: 'A request for a path.',
      properties: { path: text('Path of the request.'), verb: text('Method of the request in lower case.') },
    },
  },
  {
    1: [
      'resourceAttributes',
      {
        1: ['namespace', 'text'],
        2: ['verb', 'text'],
        3: ['group', 'text'],
        4: ['version', 'text'],
        5: ['resource', 'text'],
        6: ['subresource', 'text'],
        7: ['name', 'text'],
        8: ['fieldSelector', SELECTOR],
        9: ['labelSelector', SELECTOR],
      },
    ],
    2: ['nonResourceAttributes', { 1: ['path', 'text'], 2: ['verb', 'text'] }],
  },
)({
  validate: ({ spec }) => {
    const { resourceAttributes, nonResourceAttributes } = (spec ?? {}) as AccessSpec
    if (resourceAttributes !== undefined && nonResourceAttributes !== undefined)
      return [
        fieldErrors.invalid(
          'spec.nonResourceAttributes',
          nonResourceAttributes,
          'cannot be specified in combination with resourceAttributes',
        ),
      ]
    return resourceAttributes === undefined && nonResourceAttributes === undefined
      ? [
          fieldErrors.invalid(
            'spec.resourceAttributes',
            null,
            'exactly one of nonResourceAttributes or resourceAttributes must be specified',
          ),
        ]
      : []
  },
})

const RULES = review(
  AUTHORIZATION,
  'SelfSubjectRulesReview',
  'A question what the sender may do in a namespace. Some authorizers cannot list everything.',
  { namespace: text('Namespace whose rules are listed, together with those of the cluster.') },
  { 1: ['namespace', 'text'] },
)()

const SELF = review('authentication.k8s.io', 'SelfSubjectReview', 'A question who the sender is.', {}, {})()

interface GivenSelector {
  readonly rawSelector?: string
  readonly requirements?: readonly SelectorRequirement[]
}

interface AccessSpec {
  readonly resourceAttributes?: Partial<
    Record<'namespace' | 'verb' | 'group' | 'version' | 'resource' | 'subresource' | 'name', string>
  > & {
    readonly fieldSelector?: GivenSelector
    readonly labelSelector?: GivenSelector
  }
  readonly nonResourceAttributes?: Partial<Record<'path' | 'verb', string>>
}

type Review = NonNullable<Storage['review']>

const reviewAccess: Review = async ({ spec }, { user, authorizer, signal }) => {
  const asked = attributesOf(user, (spec ?? {}) as AccessSpec)
  return { status: statusOf(authorizer === undefined ? { decision: 'allow' } : await askAuthorizer(authorizer, asked, { signal })) }
}

/** @see kubernetes/kubernetes pkg/registry/authorization/util/helpers.go ResourceAttributesFrom */
function attributesOf(user: UserInfo | undefined, { resourceAttributes, nonResourceAttributes }: AccessSpec): AuthorizationAttributes {
  const { namespace = '', group = '', version = '', resource = '', subresource = '', name = '' } = resourceAttributes ?? {}
  const of = { apiGroup: group, apiVersion: version, namespace, resource, subresource, name }
  const { path = '', verb = resourceAttributes?.verb ?? '' } = nonResourceAttributes ?? {}
  const { fieldSelector, labelSelector } = resourceAttributes ?? {}
  return {
    user,
    verb,
    isResourceRequest: resourceAttributes !== undefined,
    path,
    ...of,
    ...(fieldSelector && { fieldSelector: requirementsOf(fieldSelector, parseFieldSelector) }),
    ...(labelSelector && { labelSelector: requirementsOf(labelSelector, parseLabelSelector) }),
  }
}

const requirementsOf = (
  { rawSelector = '', requirements }: GivenSelector,
  parse: (given: string) => readonly SelectorRequirement[] | undefined,
): readonly SelectorRequirement[] | undefined => requirements?.map((each) => ({ ...each, values: each.values ?? [] })) ?? parse(rawSelector)

/** @see kubernetes/kubernetes pkg/registry/authorization/selfsubjectaccessreview/rest.go Create */
const statusOf = ({ decision, reason, error }: Decision): object => ({
  allowed: decision === 'allow',
  ...(decision === 'deny' && { denied: true }),
  ...(reason !== undefined && reason !== '' && { reason }),
  ...(error !== undefined && { evaluationError: error.message }),
})

const reviewRules: Review = ({ spec }, context) => {
  const { namespace = '' } = (spec ?? {}) as { readonly namespace?: string }
  if (namespace === '') throw badRequest('no namespace on request')
  const { authorizer } = context
  const { resourceRules, nonResourceRules, incomplete } =
    authorizer === undefined ? ALL_RULES : rulesOf(authorizer, knownUser(context), namespace)
  const evaluationError = incomplete.join(', ')
  return {
    status: { resourceRules, nonResourceRules, incomplete: incomplete.length > 0, ...(evaluationError !== '' && { evaluationError }) },
  }
}

/** @see kubernetes/kubernetes pkg/registry/authentication/selfsubjectreview/rest.go Create */
const reviewSelf: Review = (_object: ApiObject, context) => {
  const { name, uid, groups, extra } = knownUser(context)
  return {
    status: {
      userInfo: {
        username: name,
        ...(uid !== undefined && uid !== '' && { uid }),
        ...(groups.length > 0 && { groups }),
        ...(Object.keys(extra).length > 0 && { extra }),
      },
    },
  }
}

/** @throws StatusError 400 on a server that does not authenticate */
function knownUser({ user }: ReviewContext): UserInfo {
  if (user === undefined) throw badRequest('no user present on request')
  return user
}
