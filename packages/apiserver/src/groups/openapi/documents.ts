import { type ApiGroup, type ApiVersion, type ResourceStorage, verbsOfResource } from '../api-group.ts'
import type { Fields } from '../api-object.ts'
import type { Resource } from '../resource/define-resource.ts'
import { scaleKind } from '../resource/scale.ts'
import { COMMON_SCHEMAS, LIST_META, OBJECT_META, openApiSchema, refTo } from './schemas.ts'

/** `apis/demo.example/v1`: by which the document of a version is asked for. */
export const documentKey = (group: string, version: string): string => (group === '' ? `api/${version}` : `apis/${group}/${version}`)

/** `example.demo.v1.Widget` */
const schemaName = ({ group, version }: Resource, kind: string): string =>
  [...(group === '' ? ['core'] : group.split('.').reverse()), version, kind].join('.')

/**
 * What one version of a group can do, for people, code generators and `kubectl`.
 * @see kubernetes/kube-openapi pkg/builder3
 */
export function openApiDocument({ group }: ApiGroup, { version, resources }: ApiVersion, info: object): object {
  const base = `/${documentKey(group, version)}`
  return {
    openapi: '3.0.0',
    info,
    paths: Object.assign({}, ...resources.map((served) => pathsOf(base, served))) as object,
    components: { schemas: Object.assign({ ...COMMON_SCHEMAS }, ...resources.flatMap(({ resource }) => allSchemasOf(resource))) as object },
  }
}

const allSchemasOf = (resource: Resource): readonly object[] =>
  resource.scale === undefined ? [schemasOf(resource)] : [schemasOf(resource), schemasOf(scaleKind(resource))]

function schemasOf(resource: Resource): object {
  const { group, version, kind, listKind, schema } = resource
  const own = openApiSchema(schema)
  const type = {
    apiVersion: { type: 'string', description: 'The group and version of this form of the object.' },
    kind: { type: 'string', description: 'The kind of the object.' },
  }
  return {
    [schemaName(resource, kind)]: {
      ...own,
      type: 'object',
      properties: { ...type, metadata: { ...refTo(OBJECT_META) }, ...(own['properties'] as Fields | undefined) },
      'x-kubernetes-group-version-kind': [{ group, version, kind }],
    },
    [schemaName(resource, listKind)]: {
      type: 'object',
      description: `A list of objects of the kind ${kind}.`,
      required: ['items'],
      properties: { ...type, metadata: { ...refTo(LIST_META) }, items: { type: 'array', items: refTo(schemaName(resource, kind)) } },
      'x-kubernetes-group-version-kind': [{ group, version, kind: listKind }],
    },
  }
}

const SCALE = { group: 'autoscaling', version: 'v1', kind: 'Scale' }

const inPath = (name: string) => ({ name, in: 'path', required: true, schema: { type: 'string' } })
const inQuery = (name: string, type = 'string') => ({ name, in: 'query', schema: { type } })

const WRITES = [inQuery('dryRun'), inQuery('fieldManager'), inQuery('fieldValidation')]
const DELETES = [
  inQuery('dryRun'),
  inQuery('gracePeriodSeconds', 'integer'),
  inQuery('orphanDependents', 'boolean'),
  inQuery('propagationPolicy'),
]
const LISTS = [
  ...['labelSelector', 'fieldSelector', 'continue', 'resourceVersion', 'resourceVersionMatch'].map((name) => inQuery(name)),
  ...['limit', 'timeoutSeconds'].map((name) => inQuery(name, 'integer')),
  ...['watch', 'allowWatchBookmarks', 'sendInitialEvents'].map((name) => inQuery(name, 'boolean')),
]

/** The operations of a resource, for what its storage can do. */
function pathsOf(base: string, served: ResourceStorage): object {
  const { resource } = served
  const { group, version, kind, listKind, plural, isNamespaced, hasStatus } = resource
  const verbs = new Set(verbsOfResource(served))
  const one = schemaName(resource, kind)
  const list = schemaName(resource, listKind)
  const scale = schemaName(scaleKind(resource), SCALE.kind)
  const body = (types: readonly string[], schema: object) => ({
    requestBody: { required: true, content: Object.fromEntries(types.map((type) => [type, { schema }])) },
  })
  const operation = (verb: string, action: string, id: string, parameters: readonly object[], answer: string, code = '200', more = {}) =>
    verbs.has(verb)
      ? {
          operationId: id,
          'x-kubernetes-action': action,
          'x-kubernetes-group-version-kind': answer === scale ? SCALE : { group, version, kind },
          parameters,
          ...more,
          responses: { [code]: { description: 'OK', content: { 'application/json': { schema: refTo(answer) } } } },
        }
      : undefined
  const id = (action: string, of = ''): string =>
    `${action}${pascal(group)}${pascal(version)}${isNamespaced ? 'Namespaced' : ''}${kind}${of}`
  const whole = (schema: string) => body(['application/json', 'application/yaml'], refTo(schema))
  const patch = body(['application/json-patch+json', 'application/merge-patch+json'], { type: 'object' })
  const item = (of: string, schema = one) => ({
    get: operation('get', 'get', id('read', of), [], schema),
    put: operation('update', 'put', id('replace', of), WRITES, schema, '200', whole(schema)),
    patch: operation('patch', 'patch', id('patch', of), WRITES, schema, '200', patch),
  })
  const parameters = isNamespaced ? [inPath('namespace')] : []
  const inside = isNamespaced ? `${base}/namespaces/{namespace}/${plural}` : `${base}/${plural}`
  const listed = (name: string) => operation('list', 'list', name, LISTS, list)
  return {
    [inside]: {
      parameters,
      get: listed(id('list')),
      post: operation('create', 'post', id('create'), WRITES, one, '201', whole(one)),
      delete: operation('deletecollection', 'deletecollection', id('deleteCollection'), [...LISTS, ...DELETES], list),
    },
    [`${inside}/{name}`]: {
      parameters: [inPath('name'), ...parameters],
      ...item(''),
      delete: operation('delete', 'delete', id('delete'), DELETES, one),
    },
    ...(hasStatus && { [`${inside}/{name}/status`]: { parameters: [inPath('name'), ...parameters], ...item('Status') } }),
    ...(resource.hasFinalize && {
      [`${inside}/{name}/finalize`]: { parameters: [inPath('name'), ...parameters], put: item('Finalize').put },
    }),
    ...(resource.scale !== undefined && {
      [`${inside}/{name}/scale`]: { parameters: [inPath('name'), ...parameters], ...item('Scale', scale) },
    }),
    ...(isNamespaced && {
      [`${base}/${plural}`]: { get: listed(`list${pascal(group)}${pascal(version)}${kind}ForAllNamespaces`) },
    }),
  }
}

/** `demo.example` as a part of a name: `DemoExample`. */
const pascal = (text: string): string =>
  text
    .split(/[.-]/)
    .map((piece) => piece.charAt(0).toUpperCase() + piece.slice(1))
    .join('')
