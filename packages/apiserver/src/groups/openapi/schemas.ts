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
    description: 'What every object has, whatever its kind.',
    properties: {
      name: text('The name, once in a namespace. It cannot be changed.'),
      generateName: text('How a name begins that the server makes up, when there is no name.'),
      namespace: text('Within it names are unique.'),
      uid: text('Made up by the server: another object of this name is another one.'),
      resourceVersion: text('Of the last change; a client compares it and gives it back.'),
      generation: { type: 'integer', format: 'int64', description: 'How often what is asked for was changed.' },
      creationTimestamp: time('When it was created.'),
      deletionTimestamp: time('When its deletion was asked for; it is there until its finalizers are gone.'),
      deletionGracePeriodSeconds: { type: 'integer', format: 'int64', description: 'How long its end may take.' },
      labels: texts('By which objects are selected.'),
      annotations: texts('What programs keep with the object.'),
      ownerReferences: {
        type: 'array',
        items: refTo(`${META}.OwnerReference`),
        description: 'The objects that it belongs to.',
      },
      finalizers: { type: 'array', items: { type: 'string' }, description: 'Who has to do something before it is gone.' },
    },
  },
  [LIST_META]: {
    type: 'object',
    description: 'What every list has.',
    properties: {
      resourceVersion: text('At which the list was made.'),
      continue: text('With which the next page is asked for.'),
      remainingItemCount: { type: 'integer', format: 'int64', description: 'How many are on further pages.' },
    },
  },
  [`${META}.OwnerReference`]: {
    type: 'object',
    required: ['apiVersion', 'kind', 'name', 'uid'],
    description: 'An object of the same namespace, or of the cluster, that another one belongs to.',
    properties: {
      apiVersion: text('Its group and version.'),
      kind: text('Its kind.'),
      name: text('Its name.'),
      uid: text('Its uid.'),
      controller: { type: 'boolean', description: 'Whether it is the one that manages the object.' },
      blockOwnerDeletion: { type: 'boolean', description: 'Whether it waits for the object when it is deleted.' },
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
