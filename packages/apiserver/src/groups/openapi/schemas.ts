import { type Fields, isFields } from '../api-object.ts'
import type { JsonSchema } from '../resource/schema.ts'

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'

/** The beginning of a reference to a schema. */
export const REFS = '#/components/schemas/'

export const refTo = (name: string): object => ({ $ref: `${REFS}${name}` })

const text = (description: string): object => ({ type: 'string', description })
const time = (description: string): object => ({ type: 'string', format: 'date-time', description })
const texts = (description: string): object => ({ type: 'object', additionalProperties: { type: 'string' }, description })

export const OBJECT_META = `${META}.ObjectMeta`
export const LIST_META = `${META}.ListMeta`

/** The schemas of every object, by their names. */
export const COMMON_SCHEMAS: object = {
  [OBJECT_META]: {
    type: 'object',
    description: 'Metadata that every object has.',
    properties: {
      name: text('Name of the object, unique in its namespace. It cannot be changed.'),
      generateName: text('Beginning of the name that the server makes up when the object has none.'),
      namespace: text('Namespace of the object.'),
      uid: text('Identifier that the server makes up. A later object of the same name has another one.'),
      resourceVersion: text('Version of the last change. A client sends it back to change exactly this version.'),
      generation: { type: 'integer', format: 'int64', description: 'Number of changes of the spec.' },
      creationTimestamp: time('Time when the object was created.'),
      deletionTimestamp: time('Time when the deletion was requested. The object exists until its finalizers are removed.'),
      deletionGracePeriodSeconds: { type: 'integer', format: 'int64', description: 'Seconds that the deletion may take.' },
      labels: texts('Labels that selectors match.'),
      annotations: texts('Data that programs store with the object.'),
      ownerReferences: {
        type: 'array',
        items: refTo(`${META}.OwnerReference`),
        description: 'Objects that own this object.',
      },
      finalizers: {
        type: 'array',
        items: { type: 'string' },
        description: 'Names of the programs that have to finish their work before the object is removed.',
      },
    },
  },
  [LIST_META]: {
    type: 'object',
    description: 'Metadata that every list has.',
    properties: {
      resourceVersion: text('Version that the list shows.'),
      continue: text('Token that requests the next page.'),
      remainingItemCount: { type: 'integer', format: 'int64', description: 'Number of objects on further pages.' },
    },
  },
  [`${META}.OwnerReference`]: {
    type: 'object',
    required: ['apiVersion', 'kind', 'name', 'uid'],
    description: 'Reference to an owner in the same namespace or in the cluster.',
    properties: {
      apiVersion: text('Group and version of the owner.'),
      kind: text('Its kind.'),
      name: text('Its name.'),
      uid: text('Its uid.'),
      controller: { type: 'boolean', description: 'Whether this owner manages the object.' },
      blockOwnerDeletion: { type: 'boolean', description: 'Whether a foreground deletion of the owner waits for this object.' },
    },
  },
}

/** Keywords that OpenAPI 3.0 has as JSON Schema has them. */
const SAME = new Set([
  'required',
  'enum',
  'default',
  'nullable',
  'minimum',
  'maximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'format',
  'title',
  'description',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
])

/** A schema as OpenAPI 3.0 says it. */
export function openApiSchema(schema: JsonSchema): Fields {
  const said: Fields = {}
  for (const [keyword, value] of Object.entries(schema) as [string, unknown][]) if (SAME.has(keyword)) said[keyword] = value
  const types = [schema.type ?? []].flat()
  const [type] = types.filter((each) => each !== 'null')
  if (type !== undefined) said['type'] = type
  if (types.includes('null')) said['nullable'] = true
  if (schema.const !== undefined) said['enum'] = [schema.const]
  for (const [keyword, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    const value = schema[keyword]
    if (typeof value === 'number') Object.assign(said, { [bound]: value, [keyword]: true })
    else if (value !== undefined) said[keyword] = value
  }
  if (schema.properties !== undefined)
    said['properties'] = Object.fromEntries(Object.entries(schema.properties).map(([name, each]) => [name, openApiSchema(each)]))
  if (schema.items !== undefined) said['items'] = openApiSchema(schema.items)
  const { additionalProperties } = schema
  if (isFields(additionalProperties)) said['additionalProperties'] = openApiSchema(additionalProperties as JsonSchema)
  else if (additionalProperties === true) said['x-kubernetes-preserve-unknown-fields'] = true
  for (const keyword of ['anyOf', 'oneOf'] as const) if (schema[keyword] !== undefined) said[keyword] = schema[keyword].map(openApiSchema)
  return said
}
